// Package rows returns the rows of a table of verdicts, one per receipt, for questions in SQL.
//
//	run := stream.Verify(ctx, v, input, stream.Options{Glean: rows.Glean})
//	for rep := range run.Reports() {
//		row := rows.Of(rep)
//		err = table.Write(row.AppendCells(nil)) // such as a csv.Writer
//	}
//
// # What a row says
//
// The columns are the fields of [Row], in their order. What a row says of the receipt's
// place (its stream, its id, its hash, the hash that it states, the one that it names) is
// enough to check chains by joins, in any order and from any number of files. What it says
// of the content (state, tiers, model, cost, tokens) is what the receipt states: the verdict
// beside it says whether that is proved. Of a document that does not fit the schema there
// is no content.
//
// # Absent is not zero
//
// What is absent is NULL, and never 0 or "". So is a number that the receipt lists as not
// told by its source ([receipt.ReadUnreported]) or as too large ([receipt.ReadAtMost]):
// what it holds then is a bound, and stands in a column of its own (cost_least, cost_most).
// A number that is both is no bound either, and stands nowhere.
//
// # Foreign text
//
// A text of more than 256 bytes is cut there; dots and the SHA-256 of the whole follow, so
// that two texts that differ differ in the table too. Bytes that are not UTF-8 are escaped.
//
// # Other rows
//
// What is about an input and no receipt of it (kind finding, note, input) has a row too,
// in which the columns of receipts are NULL.
//
// The exported names may still change.
package rows
