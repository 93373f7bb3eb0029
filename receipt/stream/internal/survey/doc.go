// Package survey judges how the receipts of an input are related. It reads no input and
// verifies no receipt: it gets the [Facts] of each receipt, and the outcome of the receipt
// without its link.
//
// An [Order] judges the links of one source as they are read, with an index of the receipts
// before them. For several sources, a [Survey] keeps three records of each receipt, which a
// sorter may put on disk. A joiner reads the sorted records, applies the rules of package join, and
// leaves a mark for each receipt, which the second pass converts into a check. A [Roster]
// holds the receipts of a summary, and [CrowdOf] returns those of several rosters, to be
// surveyed again.
package survey
