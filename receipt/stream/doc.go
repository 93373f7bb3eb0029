// Package stream verifies any number of receipts in one pass and bounded memory:
// from a file, from a pipe, from many files.
//
//	run := stream.Verify(ctx, v, file, stream.Options{})
//	for rep := range run.Reports() { // in the order of the input
//		if rep.Verdict != receipt.Verified {
//			log.Print(rep.Address(), rep.Finding().Code)
//		}
//	}
//	sum, err := run.Summary() // err: not read to its end
//
// # What is read
//
// An input is one JSON document, a JSON document a line, a JSON array, a page of
// the protocol's lists, one CBOR item or a sequence of them ([Kind]), as it is or
// compressed with gzip or zstd. Which of these it is, its bytes say. Blank lines,
// CR LF and a missing last line end are taken as they come. A last line that
// breaks off is left undecided, torn_tail; what came before it counts.
//
// # How receipts stand to each other
//
// The receipts of one input are ordered: in each stream every receipt has to
// name the one before it by its stated hash. [Verify] sees a break when it comes.
// The receipts of several sources join by their links, whatever the order of the
// sources: [VerifyFiles] reads them twice, first for the links alone. In both
//
//   - the first receipt of a stream whose predecessor is not in the input is not
//     checked; a second such receipt refutes, unless the input is a selection,
//   - a break, a fork, a second first receipt and one receipt_id with two contents
//     refute the receipt at which they show,
//   - identical copies count once,
//   - a receipt that does not fit its own hash is one finding: it keeps its place,
//     and its successor is not blamed.
//
// A first receipt that names one of another stream refutes too, and so does one
// that stands in a file before its predecessor, or apart from it.
//
// # Parts
//
// [Summary.Merge] makes one summary of the summaries of parts: it joins the links
// of their receipts as a run over all sources does. Summaries of more than
// 65,536 receipts join by the ends of their streams, and what these do not
// show is undecided.
//
// That a chain was cut off at its end cannot be seen in it. The [Summary] names
// the heads and says so; [Options.Expect] compares them with an earlier report.
//
// # Bounds
//
// Memory does not grow with the length of the input, but for one entry a stream
// and up to 262,144 receipt ids. Results do not depend on Options.Jobs.
package stream
