// Package rows returns the rows of a table of verdicts, one per receipt, for queries in SQL.
//
//	run := stream.Verify(ctx, v, input, stream.Options{Extract: rows.Extract})
//	for rep := range run.Reports() {
//		row := rows.Of(rep)
//		err = table.Write(row.AppendCells(nil)) // such as a csv.Writer
//	}
//
// # Columns
//
// The columns are the fields of [Row], in order. The columns about the position of the receipt
// (its stream, ID, computed hash, stated hash, and stated predecessor) are sufficient to check
// chains by joins, in any order and from any number of files. The columns about the content
// (state, tiers, model, cost, and tokens) contain the statements of the receipt. The verdict in
// the same row reports whether they were verified. If a document does not match the schema, the
// columns about its content are NULL.
//
// # Absent values
//
// An absent value is NULL, and never 0 or "". A number is also NULL if the receipt lists it as
// not recorded by its source ([receipt.ReadUnreported]) or as too large ([receipt.ReadAtMost]).
// It is then a bound, in a separate column (cost_least, cost_most). A number that is in both
// lists is not a bound either, and is in no column.
//
// # Foreign text
//
// A string of more than 256 bytes is cut, and followed by "…" and the SHA-256 of the entire
// string, so that different strings also differ in the table. Bytes that are not UTF-8 are
// escaped.
//
// # Other rows
//
// Information about an input, and not about a receipt in it, has its own rows (kind finding,
// note, or input), in which the columns of receipts are NULL.
//
// The API may still change.
package rows
