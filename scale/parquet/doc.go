// Package parquet writes rows about verdicts ([rows.Row]) as Apache Parquet. The core writes such
// rows as CSV. Engines that read many gigabytes of rows can read Parquet faster than CSV.
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
