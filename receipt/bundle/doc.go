// Package bundle writes and reads session bundles, which contain one agent run in one file, for
// support, sharing, or replay (harn_session_bundle, version 1).
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
// # Modes
//
// A [Mode] specifies which data is removed. [Local] removes nothing; such a bundle should stay on
// its machine. [Sanitized] replaces sensitive data: values with sensitive member names (see
// redact.Sensitive), local paths, and everything that redact.Marker finds in texts. [ReplayOnly]
// also withholds the values of members for prompts, arguments, and results, regardless of their
// content. The entire bundle is searched, including the embedded run record, and redaction.entries
// lists each location. The tables are in docs/bundles.md.
//
// If the name of a member contains a secret, the object that contains the member is removed.
// Secrets that are encoded within a text, or split across two texts, are not detected.
//
// # What a valid bundle shows
//
// A valid bundle has the required structure and contains no text that looks like a secret. Bundles
// are not signed, so nothing shows who created a bundle, that the recorded events happened, or that
// the data listed as removed existed. A receipt can show that a bundle is the bundle that was sent,
// because a draft from a bundle contains the digest of its bytes.
//
// # Format
//
// A bundle is strict JSON (see package canon), without duplicate names or lone surrogates. Numbers
// are written as they were read, and members in the byte order of their names. Each level is
// indented by two spaces, and the file ends with a line feed. The same record and options produce
// the same bytes, because a bundle contains no clock reading and no random number.
//
// A bundle is at most [MaxBytes] long. Parsing takes memory for the bytes of the bundle and an
// index over them. A bundle is refused if the index would exceed both 32 MiB and three times the
// size of the bundle. Writing takes a buffer and memory for the removed data.
//
// # Errors
//
// An [Error] has a kind, a path, and a rule. It never quotes text, because that text could be the
// secret. In a path, a name that looks like a secret is also replaced.
//
// This package may still change because it is not part of the frozen core. The format of bundles
// is defined elsewhere and cannot be changed here.
package bundle
