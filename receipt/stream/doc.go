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
// list, one CBOR item, or a sequence of CBOR items (see [Kind]). The input may be compressed with
// gzip or zstd. The format is detected from the content. Blank lines, CR LF, and a last line
// without a newline are accepted. A truncated last line is undecided (torn_tail); the preceding
// lines are verified as usual.
//
// # How receipts are joined
//
// The receipts in a single input must be in order: in each stream, every receipt contains the
// stated hash of its predecessor. [Verify] detects a break as soon as it reads the receipt after
// the break. The receipts of several sources are joined by their links, regardless of the order of
// the sources. [VerifyFiles] therefore reads the sources twice. The first pass only collects the
// links. In both cases:
//
//   - If the predecessor of the first receipt in a stream is not in the input, the link of that
//     receipt is not checked. If there is a second receipt of this kind in the stream, it is
//     refuted, unless the input is a selection.
//   - Each of the following refutes the receipt at which it is detected: a break, a fork, a second
//     first receipt, and different content with the same receipt_id.
//   - Copies with the same content are counted once for each outcome. Their outcomes may differ if
//     their signatures do.
//   - If a receipt does not match its stated hash, there is only one finding: the receipt keeps its
//     position, so its successor gets no finding.
//
// The first receipt of a stream is also refuted if it names a receipt in another stream. In a file,
// a receipt is refuted if it comes before its predecessor or is separated from it, unless
// [Options.Unordered] states that files are not in order.
//
// If receipts in several sources conflict, for example because they name the same predecessor, the
// receipt that was issued first takes precedence. These rules do not depend on the order of the
// receipts, so the engine of receipt-beam, which joins records with [Records] and [Conclude], has
// the same results as a single machine.
//
// # Documents of a program
//
// [VerifySeq] verifies documents that a program already has, such as rows of a database, and
// returns the program's own key together with each report.
//
// # Parts
//
// [Summary.Merge] combines the summaries of two parts: it joins the links of their receipts in the
// same way as a run over all of the sources. If a summary has more than 65,536 receipts, only the
// ends of its streams are joined. Everything that the ends do not show is then undecided.
//
// The rest of a chain does not show that receipts at its end were removed. The [Summary] therefore
// lists the heads of the streams, with a note that receipts may follow them. [Continuity].Expect
// compares the heads with those in an earlier report.
//
// [Read] returns the same documents in the same order, without verifying them, for programs that
// process documents in other ways.
//
// # Data flow
//
// A [Source] is opened and decompressed, and a cutter splits it into pieces. There are cutters for
// lines, arrays, pages of a list, and CBOR. A decoder converts each piece into a document or a
// fault. [Verify], both passes of [VerifyFiles], [Read], and [Source.Find] use the same decoder. A
// pipeline passes the documents as items, in batches, to workers, which create reports. The
// pipeline returns the items in input order.
//
// Each item is then placed among the other items. For a single source, an order checks the links
// while the source is read, using an index of the preceding receipts. For several sources, a survey
// stores three records for each receipt in the first pass. A sorter may write these records to
// disk. A joiner reads the sorted records, applies the rules of package join, and sets a mark for
// each receipt. The second pass converts the marks into checks. At the end, the streams are
// compared with the demands, which specify how streams must begin and end. The summary counts the
// receipts and lists them in a roster. A merger uses the rosters of two parts to survey their
// receipts again.
//
// # Bounds
//
// For a single source, memory use does not grow with the length of the source, except for one entry
// per stream and for up to 262,144 receipt IDs. Several sources, or a source with
// [Options.Unordered], use one byte of memory per receipt and 230 to 460 bytes of sorted records,
// which are written to [Options.TempDir] if they do not fit into memory. If TempDir is not set, the
// records stay in memory. [Summing.Mergeable] adds about 55 bytes of memory per receipt. The
// results do not depend on [Options.Jobs].
package stream
