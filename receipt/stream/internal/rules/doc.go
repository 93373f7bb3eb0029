// Package rules has the rules by which receipts join in any order. Nothing here reads, sorts,
// or keeps receipts: package survey does on one machine, and package join for engines.
//
//   - A [Taking] finds copies, and ids with two contents, among receipts sorted by id.
//   - A [Meeting] is the receipts that have or name one digest. It finds breaks, forks, and
//     links into other streams.
//   - A [Beginner] judges the receipts of a stream that have no predecessor, and finds where
//     the stream begins and ends.
//
// Each receipt gets one [Mark]. Of two receipts that cannot both stand, [Earlier] decides
// which one does.
package rules
