// Package bundle writes and reads session bundles: one agent run in one file, for support, for
// sharing, or for a replay (harn_session_bundle, version 1).
//
//	text, err := bundle.Export(record, bundle.Options{Mode: bundle.Sanitized}) // the run record of a harness
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
// A [Mode] specifies what is removed. [Local] removes nothing; such a bundle should stay on its
// machine. [Sanitized] replaces sensitive data: values by the names of their members (see
// redact.Sensitive), paths of the machine, and everything that redact.Marker finds in texts.
// [ReplayOnly] also withholds the values of members that hold prompts, arguments, and results,
// regardless of their content. The entire bundle is searched, including the embedded run record,
// and redaction.entries lists each place. docs/bundles.md has the tables.
//
// A secret in the name of a member removes the object that contains the member. Secrets that are
// encoded within a text, or split across two texts, are not detected.
//
// # What a valid bundle shows
//
// A valid bundle has the form of one and holds no text that looks like a secret. Nothing shows
// its origin, that the recorded events happened, or that the data listed as removed was there:
// bundles are not signed. A receipt can show that a bundle is the one that was sent, because the
// draft of a bundle names the digest of its bytes.
//
// # Format
//
// A bundle is strict JSON (see package canon), without duplicate names or lone surrogates.
// Numbers are written as they were read, members in the byte order of their names, with two
// spaces per level and a line feed at the end. The same record and options give the same bytes,
// because a bundle contains no clock reading and no random number.
//
// A bundle has at most [MaxBytes]. Reading one takes memory for its bytes and an index over
// them; it is refused if these exceed four times the bundle. Writing takes a buffer and memory
// for the removed data.
//
// # Errors
//
// An [Error] has a kind, a path, and a rule. It quotes nothing, because the quoted text could be
// the secret. In a path, a name that looks like a secret is replaced, too.
//
// This package may still change because it is not part of the frozen core. The format of bundles
// is defined elsewhere and cannot be changed here.
package bundle
