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
//   - identical copies count once, for each outcome that they have under other signatures,
//   - a receipt that does not fit its own hash is one finding: it keeps its place,
//     and its successor is not blamed.
//
// A first receipt that names one of another stream refutes too, and so does one
// that stands in a file before its predecessor, or apart from it, unless
// [Options.Unordered] says that files are in no order.
//
// Of receipts of several sources that cannot both stand, such as two that name one
// predecessor, the one that was issued earlier does. The rules hold in any
// order, so that an engine that joins records, by [Records], package join, and [Conclude],
// finds what one machine does.
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
// [Read] returns the same documents in the same order and judges nothing, for whoever
// makes something else of them.
//
// # The way of the bytes
//
// A [Source] is opened and decompressed, and a cutter cuts it into pieces: one for
// lines, one for arrays, one for pages of a list, one for CBOR. A decoder turns a
// piece into a document, or a fault, or a document of another kind; [Verify], both
// readings of [VerifyFiles], [Read] and [Source.Find] all ask it. A pipeline carries
// documents as items, in batches, to workers, which write reports, and hands them out
// in the order of the input.
//
// There each item is placed among the others. An order judges the links of one
// source as they come, with an index of what was seen. For several sources a survey
// of the first reading keeps three records of each receipt, which a sorter may put on
// disk; a joiner walks along the sorted records, asks package rules, and leaves a mark for
// each receipt, and the second reading turns marks into checks. What streams were to continue and
// to end in, the demands, is compared at the end. The summary counts, and keeps a
// roster of receipts, with which a merger surveys the receipts of two parts again.
//
// # Bounds
//
// Memory does not grow with the length of the input, but for one entry a stream
// and up to 262,144 receipt ids. Results do not depend on Options.Jobs.
package stream
