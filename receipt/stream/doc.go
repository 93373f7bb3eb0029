// Package stream verifies any number of receipts, from a file, a pipe, or many files.
//
//	run := stream.Verify(ctx, v, file, stream.Options{})
//	for rep := range run.Reports() { // in the order of the input
//		if rep.Verdict != receipt.Verified {
//			log.Print(rep.Address(), rep.Finding().Code)
//		}
//	}
//	sum, err := run.Summary() // err: not read to its end
//
// # Input formats
//
// An input is one JSON document, one JSON document per line, a JSON array, a page of a protocol
// list, one CBOR item, or a sequence of CBOR items ([Kind]). It may be compressed with gzip or
// zstd. The format is detected from the content. Blank lines, CR LF, and a missing last line end
// are accepted. A truncated last line is undecided (torn_tail); the lines before it still count.
//
// # How receipts are joined
//
// The receipts of a single input are ordered: within each stream, every receipt must name its
// predecessor by the stated hash. [Verify] detects a break as soon as it reads the receipt. The
// receipts of several sources are joined by their links, regardless of the order of the sources.
// [VerifyFiles] therefore reads the sources twice, the first time only to collect the links. In
// both cases:
//
//   - The link of a stream's first receipt is not checked if its predecessor is not in the
//     input. A second such receipt is refuted, unless the input is a selection.
//   - A break, a fork, a second first receipt, or two contents with the same receipt_id refutes the
//     receipt at which it is detected.
//   - Copies with identical content count once for each outcome, because different signatures can
//     lead to different outcomes.
//   - A receipt that does not match its own hash produces one finding: it keeps its place, and its
//     successor gets no finding.
//
// A first receipt that names a receipt in another stream is also refuted, and so is a receipt that
// precedes its predecessor in a file or is separated from it, unless [Options.Unordered] states
// that files are unordered.
//
// If receipts from several sources conflict, for example because they name the same predecessor,
// the receipt that was issued earlier takes precedence. The rules do not depend on the receipts'
// order, so receipt-beam's engine, which joins records with [Records] and [Conclude], gets the same
// results as a single machine.
//
// # Documents of a program
//
// [VerifySeq] verifies documents that a program already has, such as database rows, and returns the
// program's key with each report.
//
// # Parts
//
// [Summary.Merge] combines the summaries of two parts: it joins the links of their receipts in the
// same way as a run over all sources. Summaries of more than 65,536 receipts are joined by the ends
// of their streams. Anything that the ends do not show is undecided.
//
// If a chain was truncated at its end, the remaining chain does not show that. The [Summary]
// therefore lists the heads, with a note that it is unknown whether receipts follow them.
// [Continuity].Expect compares the heads with those of an earlier report.
//
// [Read] returns the same documents in the same order without verifying them, for
// programs that process them further.
//
// # Data flow
//
// A [Source] is opened and decompressed, and a cutter cuts it into pieces. There are cutters for
// lines, arrays, pages of a list, and CBOR. A decoder converts a piece into a document, a fault, or
// another kind of document. [Verify], both passes of [VerifyFiles], [Read], and [Source.Find] use
// the same decoder. A pipeline passes documents as items, in batches, to workers, which write
// reports. It returns the items in input order.
//
// Each item is then placed among the others. For a single source, an order judges links as they are
// read, using an index of the previous receipts. For several sources, a survey stores three records
// for each receipt in the first pass, which a sorter may put on disk. A joiner reads the sorted
// records, applies the rules of package join, and leaves a mark for each receipt. The second pass
// converts marks into checks. At the end, the streams are compared with the demands, which specify
// their required starts and ends. The summary counts receipts and keeps a roster of them, which a
// merger uses to survey the receipts of two parts again.
//
// # Bounds
//
// The memory for a single source does not grow with its length, except for one entry per stream and
// for up to 262,144 receipt IDs. Several sources, or a source that is [Options.Unordered], use one
// byte of memory per receipt and 230 to 460 bytes of sorted records, which are written to
// [Options.TempDir] if they do not fit into memory. If there is no TempDir, the records stay in
// memory. [Summing.Mergeable] adds about 55 bytes of memory per receipt. Results do not depend on
// [Options.Jobs].
package stream
