// Package join finds how receipts stand to each other in any order: copies, ids with two
// contents, breaks, forks, second beginnings, and where streams begin and end. It is what
// package stream does on one machine, in the form of an engine that groups by keys (Beam,
// Spark, SQL): the result depends on the receipts alone, not on their order, nor on how
// they were dealt out to inputs and workers.
//
// # Three groupings
//
// Whoever verifies a document keeps a [Record] of it, as bytes: [Record.Append] and
// [Parse]. What states no place in a stream has none, and is counted as a gap. Records go
// through three groupings, and each of them is handed out once, with its [Mark]:
//
//	by id      [Record.Key]      [IDs]     copies, and ids with two contents
//	by digest  [Record.Parts]    [Links]   breaks, forks, links into other streams, ends
//	by stream  [Part.Key]        [Begin]   what begins each stream; a second beginning
//
// The first two see every receipt and have small groups: those of one id, and those that
// have or name one hash. The last sees what has no predecessor, and what nothing names:
// two of each stream, and one for each fault. How many receipts a stream has is counted by
// [Strand.Add] and needs no grouping. Where documents could not be read, [Forgive] leaves
// as many missing predecessors open as there were such documents.
//
//	for each record r:                    // verified on its own
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
// What is done is counted by [Counts.Record]; strands and counts of any number of workers
// add up, in any order. stream.Conclude makes a summary of them.
//
// # A checkpoint
//
// What a checkpoint shows of a receipt depends on all of them, so an engine reads the inputs
// for their leaves first (stream.Leaves). Only here their order counts:
//
//	for each input, each leaf: extent.Add(leaf)
//	starts = join.Starts(extents)
//	for leaves of an input, in pieces of any size: join.Branches(start, leaves)
//	tree = join.TreeOf(extents, claimed, branches, …)
//
// Every later reading (stream.Records) and the summary (stream.Conclude) then get the tree
// next to the checkpoint.
//
// # Who is blamed
//
// Of two receipts that name one predecessor, state one id or both state to be the first,
// the one that was issued earlier stands, and where both were issued in one millisecond
// the one of the lesser hash. Every engine has these. (The receipts of one input that is
// in order are judged as they come, by package stream.)
//
// Copies are receipts whose contents have one hash. They count once for each outcome that
// they have on their own, such as under another signature, and each time when that is
// refuted; all that count bear what is found of their link.
//
// # What it does not see
//
// Nothing here knows in which order receipts stand in a file: package stream looks at that
// too, unless stream.Options.Unordered says that there is none. That a stream was cut off
// at its end shows in no chain: give [Terms.Head].
//
// Nothing here may use chain.Segment.Merge, which is associative but not commutative: it
// is for parts that follow each other.
//
// The exported names may still change.
package join
