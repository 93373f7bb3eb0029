// Package survey judges the relation between the receipts of an input. It reads no input and
// verifies no receipt. It receives the [Facts] about each receipt, and the receipt's outcome
// without its link.
//
// An [Order] judges a source's links as they are read, using an index of the previous receipts. For
// several sources, a [Survey] stores three records for each receipt, which a sorter may put on
// disk. A joiner reads the sorted records, applies the rules of package join, and leaves a mark for
// each receipt, which the second pass converts into a check. A [Roster] contains a summary's
// receipts, and [CrowdOf] returns the receipts from several rosters for another survey.
package survey
