// Package join joins receipts in any order: it finds copies, IDs with conflicting content, breaks,
// forks, second beginnings, and the beginnings and ends of streams. The result depends only on the
// receipts, not on their order or on how they are divided among inputs and workers.
//
// # Rules
//
// The functions do not read, sort, or store receipts. Package survey applies the rules on a single
// machine, and the groupings below apply them in engines that group by keys (Beam, Spark, SQL).
//
//   - A [Taking] finds copies, and IDs with conflicting content, among receipts that are sorted by
//     ID.
//   - A [Meeting] compares two groups of receipts for one digest: receipts whose hash is the
//     digest, and receipts that name the digest as the hash of their predecessor. It finds breaks,
//     forks, and links into other streams.
//   - A [Beginner] evaluates the receipts of a stream that have no predecessor, and finds where the
//     stream begins and ends.
//
// Each receipt gets one [Mark]. If two receipts conflict, [Earlier] decides which one takes
// precedence.
//
// # Three groupings
//
// A worker that verifies a document stores a [Record] of the document in encoded form, with
// [Record.Append] and [Parse]. A document that states no place in a stream has no record, and is
// counted as a gap. Records go through three groupings, and each record is returned once, with its
// [Mark]:
//
//	by id      [Record.Key]      [IDs]     copies, and IDs with two contents
//	by digest  [Record.Parts]    [Links]   breaks, forks, links into other streams, ends
//	by stream  [StreamKey]       [Begin]   the beginning of each stream; a second beginning
//
// The first two groupings process every receipt, and their groups are small: the receipts with one
// ID, and the receipts that have or name one hash. The last grouping processes only the receipts
// that have no predecessor and the receipts that no other receipt names. There are two such
// receipts per stream, and one more for each fault. [Strand.Add] counts the receipts of a stream
// without grouping. If some documents could not be read, [Forgive] changes the same number of
// missing predecessors to unchecked links.
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
// [Counts.Record] counts the completed records. The strands and counts of any number of workers can
// be added in any order. stream.Conclude returns a summary of them.
//
// # Checkpoints
//
// The evidence that a checkpoint provides about a receipt depends on all receipts, so an engine
// first reads the leaves of all inputs (stream.Leaves). This is the only step in which the order of
// the inputs matters:
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
// millisecond, the receipt with the smaller hash takes precedence. (Package stream evaluates the
// receipts of one ordered input as it reads them.)
//
// Copies are receipts whose contents have the same hash. If copies have different outcomes, for
// example because of different signatures, each outcome is counted once. A refuted copy is always
// counted. A finding about the link applies to all copies that are counted.
//
// # Limitations
//
// Package join does not check the order of receipts in a file. Package stream checks that order,
// unless stream.Options.Unordered is set. A chain that was truncated at its end does not show that
// receipts are missing; use [Terms.Head] to require the last receipt.
//
// Do not use chain.Segment.Merge with strands: it is associative but not commutative, because it
// joins segments that follow each other.
//
// The API may still change.
package join
