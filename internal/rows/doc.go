// Package rows returns the rows of a table of verdicts, with one row per receipt, for SQL queries.
//
//	run := stream.Verify(ctx, v, input, stream.Options{Extract: rows.Extract})
//	for rep := range run.Reports() {
//		row := rows.Of(rep)
//		err = table.Write(row.AppendCells(nil)) // such as a csv.Writer
//	}
//
// # Columns
//
// The columns are the fields of [Row], in order. The columns about the position of a receipt (its
// stream, ID, computed hash, stated hash, and stated predecessor) are sufficient to check chains
// with joins, in any order and across any number of files. The columns about the content (state,
// tiers, model, cost, and tokens) show what the receipt states. The verdict in the same row shows
// whether these statements were verified. If a document does not match the schema, the columns
// about its content are NULL.
//
// # Absent values
//
// An absent value is NULL, and never 0 or "". A number is also NULL if the receipt lists it as not
// recorded by its source ([receipt.ReadUnreported]) or as too large ([receipt.ReadAtMost]). The
// number is then a bound and is in a separate column (cost_least, cost_most). A number in both
// lists is not a bound either, and is not in any column.
//
// # Foreign text
//
// A string of more than 256 bytes is truncated and followed by "…" and the SHA-256 of the entire
// string, so that different strings also differ in the table. Bytes that are not valid UTF-8 are
// escaped.
//
// # Other rows
//
// Information about an input as a whole is in separate rows (kind "finding", "note", or "input"),
// in which the columns about receipts are NULL.
//
// The API may still change.
package rows
