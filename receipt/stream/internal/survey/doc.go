// Package survey judges the relation between the receipts of an input. It reads no input and
// verifies no receipt. It receives the [Facts] of each receipt, and the outcome of the receipt
// without its link.
//
// An [Order] judges the links of one source as they are read, with an index of the previous
// receipts. For several sources, a [Survey] stores three records for each receipt, which a sorter
// may put on disk. A joiner reads the sorted records, applies the rules of package join, and leaves
// a mark for each receipt, which the second pass converts into a check. A [Roster] contains the
// receipts of a summary, and [CrowdOf] returns those of several rosters for another survey.
package survey
