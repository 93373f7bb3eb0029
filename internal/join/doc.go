// Package join joins receipts in any order: it finds copies, IDs with two contents, breaks,
// forks, second beginnings, and where streams begin and end. The result depends only on the
// receipts, not on their order or on their distribution to inputs and workers.
//
// # Rules
//
// The rules do not read, sort, or keep receipts. Package survey applies them on a single
// machine, and the groupings below for engines that group by keys (Beam, Spark, SQL).
//
//   - A [Taking] finds copies, and IDs with two contents, among receipts sorted by ID.
//   - A [Meeting] compares the receipts that have or name one digest. It finds breaks, forks,
//     and links into other streams.
//   - A [Beginner] judges the receipts of a stream that have no predecessor, and finds where
//     the stream begins and ends.
//
// Each receipt gets one [Mark]. If two receipts conflict, [Earlier] decides which one takes
// precedence.
//
// # Three groupings
//
// A worker that verifies a document keeps a [Record] of it, as bytes: [Record.Append] and
// [Parse]. A document that states no place in a stream has no record, and is counted as a gap.
// Records go through three groupings, and each record is returned once, with its [Mark]:
//
//	by id      [Record.Key]      [IDs]     copies, and IDs with two contents
//	by digest  [Record.Parts]    [Links]   breaks, forks, links into other streams, ends
//	by stream  [StreamKey]       [Begin]   the beginning of each stream; a second beginning
//
// The first two groupings see every receipt and have small groups: the receipts of one ID, and
// those that have or name one hash. The last grouping sees the receipts that have no predecessor
// and those that no receipt names: two per stream, and one for each fault. [Strand.Add] counts
// the receipts of a stream and needs no grouping. If documents could not be read, [Forgive]
// leaves the same number of missing predecessors unchecked.
//
//	for each record r:                    // verified without the others
//		if id, ok := r.Key(); ok: group r by id
//		else: done r, and r to the next
//	for each id:
//		done, on = join.IDs(group)
//	for each record of on, each p of r.Parts(): group p by p.Digest()
//	for each digest:
//		done, open, strands = join.Links(group, terms)
//	for each stream:
//		done, strand = join.Begin(sum of strands, open, terms)
//
// [Counts.Record] counts the records that are done. Strands and counts of any number of workers
// add up, in any order. stream.Conclude returns their summary.
//
// # Checkpoints
//
// What a checkpoint shows about a receipt depends on all receipts, so an engine first reads the
// inputs for their leaves (stream.Leaves). The order of the inputs matters only here:
//
//	for each input, each leaf: extent.Add(leaf)
//	starts = join.Starts(extents)
//	for leaves of an input, in pieces of any size: join.Branches(start, leaves)
//	tree = join.TreeOf(extents, claimed, branches, …)
//
// The later passes (stream.Records) and the summary (stream.Conclude) then need the tree in
// addition to the checkpoint.
//
// # Conflicts
//
// If two receipts name the same predecessor, have the same ID, or both state that they are the
// first, the receipt that was issued earlier takes precedence. If both were issued in the same
// millisecond, the receipt with the smaller hash takes precedence. (Package stream judges the
// receipts of one ordered input as it reads them.)
//
// Copies are receipts whose contents have the same hash. They count once for each outcome that they
// would have alone, for example because of different signatures, and every time if that outcome is
// refuted. Findings about their link apply to all copies that count.
//
// # Limitations
//
// Package join does not know the order of receipts in a file. Package stream also checks that
// order, unless stream.Options.Unordered is set. If a chain was truncated at its end, the remaining
// chain does not show that; use [Terms.Head].
//
// Do not use chain.Segment.Merge here: it is associative but not commutative, because it is for
// parts that follow each other.
//
// The API may still change.
package join
