// Package rules defines how receipts are joined, regardless of their order. It does not read,
// sort, or keep receipts: package survey does so on a single machine, and package join for
// engines.
//
//   - A [Taking] finds copies, and IDs with two contents, among receipts sorted by ID.
//   - A [Meeting] compares the receipts that have or name one digest. It finds breaks, forks,
//     and links into other streams.
//   - A [Beginner] judges the receipts of a stream that have no predecessor, and finds where
//     the stream begins and ends.
//
// Each receipt gets one [Mark]. If two receipts conflict, [Earlier] decides which one stands.
package rules
