// Package survey checks the relationships between the receipts of an input. It does not read inputs
// or verify receipts. Its input consists of the [Facts] about each receipt, and the outcome of the
// receipt without its link.
//
// An [Order] checks the links of a single source while the source is read, using an index of the
// preceding receipts. For several sources, a [Survey] stores three records for each receipt. A
// sorter may write these records to disk. A joiner reads the sorted records, applies the rules of
// package join, and sets a mark for each receipt. The second pass converts the mark into a check. A
// [Roster] contains the receipts of a summary. [CrowdOf] combines the receipts of several rosters
// for another survey.
package survey
