// Package bundle writes and reads session bundles (harn_session_bundle, version 1), which contain
// one agent run in a single file, for support, sharing, or replay.
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
// A [Mode] specifies which data is removed. [Local] removes nothing, so a local bundle should stay
// on the machine where it was created. [Sanitized] replaces sensitive data: the values of members
// with sensitive names (see redact.Sensitive), local paths, and everything that redact.Marker finds
// in strings. [ReplayOnly] also withholds the values of members that contain prompts, arguments, or
// results, regardless of the content. The entire bundle is searched, including the embedded run
// record, and redaction.entries lists each location. The tables are in docs/bundles.md.
//
// If the name of a member contains a secret, the entire object that contains the member is removed.
// Secrets that are encoded within a string, or split across two strings, are not detected.
//
// # What a valid bundle shows
//
// A valid bundle has the required structure and contains no string that looks like a secret.
// Bundles are not signed, so nothing shows who created a bundle, whether the recorded events
// happened, or whether the data listed as removed existed. A draft from a bundle contains the
// digest of the bundle's bytes, so the receipt can show whether a bundle is the one that was sent.
//
// # Format
//
// A bundle is strict JSON (see package canon), without duplicate names or lone surrogates. Numbers
// are written as they were read, and members are sorted by the bytes of their names. Each level is
// indented by two spaces, and the file ends with a line feed. The same record and options produce
// the same bytes, because a bundle contains no current time and no random number.
//
// A bundle is at most [MaxBytes] bytes long. Parsing takes memory for the bytes of the bundle and
// an index over them. Parse rejects a bundle if the index would exceed both 32 MiB and three times
// the size of the bundle. Writing takes memory for a buffer and for the removed data.
//
// # Errors
//
// An [Error] has a kind, a path, and a rule. It never quotes a string from the bundle, because that
// string could be the secret. A name that looks like a secret is also replaced in a path.
//
// This package may still change because it is not part of the frozen core. The bundle format is
// defined elsewhere and cannot be changed here.
package bundle
