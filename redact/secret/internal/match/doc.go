// Package match searches a text for hundreds of regular expressions in one pass. It does not define
// secrets: the detectors are passed to [Compile].
//
// # What it promises
//
// [Scanner.Scan] returns the same result as searching the entire text with each detector's regular
// expression in turn. It finds all matches of each pattern, from left to right, except those that
// meet an [Allowance] or whose entropy is too low, and then returns one [Span] for overlapping
// matches. Tests compare the scan with that search.
//
// # Why it finds the same
//
// A pattern's anchor is a text that occurs in every match of the pattern, regardless of case. The
// pattern limits how far before the anchor a match begins. Searching around the occurrences of
// anchors is therefore equivalent to searching everywhere. There are three steps, each of which is
// conservative:
//
//  1. A lexicon reads the text once and finds all occurrences of all patterns' anchors. If there is
//     no occurrence, there is no match.
//  2. A sight, which tests a few bytes, and then an automaton examine the text that follows an
//     occurrence. The automaton treats all non-ASCII letters as one letter, and assumes that a
//     pattern's assertions, such as \b, hold. If the automaton finds nothing, there is no match.
//  3. The regular expression decides the remaining cases, based on the part of the text that the
//     automaton determines and one additional rune on each side for \b, ^, and $.
//
// A detector searches the entire text if its pattern has no anchors, if a match may begin at any
// distance before the anchors, or if the anchors do not contain the detector's keywords. It then
// searches only texts in which one of its keywords occurs or, if it has no keywords, every text.
//
// # Why it takes linear time
//
// For each detector, the bytes that it reads repeatedly are counted: after anchors, at positions
// where a match might begin, and in regions. When the count exceeds a small multiple of the text's
// length, the detector continues by searching its regions, which are merged where they touch, so
// that no byte is in two regions.
package match
