// Package statement writes and evaluates stream statements. An issuer uses a stream statement to
// state the number of receipts in a stream at a given time: at regular intervals, as a heartbeat,
// and at the end of the stream.
//
// A chain shows that nothing in it was changed or removed, except at its end. A statement fixes the
// end, because it contradicts a shorter copy of the stream. A missing heartbeat reveals a period in
// which receipts may have been deleted, or in which the recorder did not run. A final statement
// ends the stream.
//
// # Format
//
// A statement is a JSON object in its canonical form (RFC 8785):
//
//	at        time of the issuer's clock, RFC 3339, UTC with Z, whole seconds
//	count     number of receipts in the stream so far
//	final     whether the stream has ended
//	head      receipt_hash of receipt number count; null if count is 0
//	previous  "sha256:" and the SHA-256 of the preceding statement; null for the first
//	schema    "stream-state-2026-11"
//	stream    issuer_id, workspace_ref, and tenant_id if the receipts have it
//	within    optional: the next statement follows within this number of seconds
//
// The statement is signed in a DSSE envelope with the payload type
// application/vnd.receiptkit.stream-state+json, by a key that may speak for the issuer. A file of
// statements contains one envelope per line.
//
// # Limits
//
// The times come from the issuer's own clock, and the issuer can sign a false history. The absence
// of receipts does not show the absence of actions. A stream that nobody announced is not detected.
package statement
