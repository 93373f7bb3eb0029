// Package parquet writes the rows of verdicts ([rows.Row]) as Apache Parquet. The core writes them
// as CSV. Engines that read many gigabytes of rows can read Parquet faster.
//
//	out := parquet.NewWriter(file)
//	run := stream.Verify(ctx, v, input, stream.Options{Extract: rows.Extract})
//	for rep := range run.Reports() {
//		out.Write(rows.Of(rep))
//	}
//	err := out.Close()
//
// The API may still change.
package parquet
