// Package bundle makes and reads session bundles: one run of an agent in one file, for
// support, for sharing or for a replay (harn_session_bundle, version 1).
//
//	run, err := bundle.ParseRun(record)              // what a harness kept of the run
//	text, err := bundle.Export(run, bundle.Options{Mode: bundle.Sanitized})
//	n, err := text.WriteTo(file)                     // the bundle
//
//	b, err := bundle.Parse(data)
//	info, err := bundle.Check(b, bundle.RefuseMarkers)
//	text, err = bundle.Sanitize(b, bundle.ReplayOnly, false)
//	text, err = bundle.Import(b, bundle.RefuseMarkers) // the run record again
//	draft, err := bundle.Draft(b, bundle.DraftOptions{Issuer: receipt.Issuer{ID: "my_harness"}})
//
// # What leaves
//
// A [Mode] says what is taken out. [Local] takes out nothing, and is for who has the
// machine anyway. [Sanitized] replaces what is sensitive: values by the names of their
// members, see redact.Sensitive; paths of the machine; and in texts what redact.Marker
// finds. [ReplayOnly] then withholds the values of members that hold prompts, arguments
// and results, whatever they are. The whole bundle is walked, the embedded run record
// included; redaction.entries lists each place. docs/bundles.md has the tables.
//
// A secret in the name of a member takes out the object whose member it is. What is
// encoded in a text, or split over two, is not found.
//
// # A bundle that validates
//
// has the form of one, and holds no text that looks like a secret. Nothing shows who
// made it, that what it tells happened, or that what it says it took out was there:
// nobody signs a bundle. What shows that one is the one that was sent is a receipt: the
// draft of a bundle names the digest of its bytes.
//
// # What is read and written
//
// A bundle is strict JSON, see package canon: no name twice, no lone surrogates. Numbers
// are written as they were read, members in the order of the bytes of their names, two
// spaces a level, a line feed at the end. The same record and options give the same
// bytes: there is no clock and no random number in them.
//
// A bundle has at most [MaxBytes]. Reading one takes its bytes and an index over them,
// which are refused when they are more than four times the bundle; writing takes a
// buffer, and what was taken out.
//
// # Errors
//
// An [Error] says what is wrong by a kind, a path and a rule, and quotes nothing: what it
// would quote may be the secret. In a path, too, a name that looks like a secret is
// replaced.
//
// This package may still change: it is not of the frozen core. The format of bundles is
// not ours to change.
package bundle
