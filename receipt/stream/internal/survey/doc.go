// Package survey judges how the receipts of an input stand to each other. It reads nothing and
// verifies no receipt: of each it gets [Facts], and what it is counted as on its own.
//
// An [Order] judges the links of one source as they come, with an index of what was seen. For
// several sources a [Survey] keeps three records of each receipt, which a sorter may put on
// disk; a joiner walks along the sorted records, asks package rules, and leaves a mark for each
// receipt, which a second reading turns into checks. A [Roster] remembers the receipts of a
// summary, and a [Crowd] surveys those of several rosters again.
package survey
