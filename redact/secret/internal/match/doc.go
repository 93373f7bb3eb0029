// Package match searches text for hundreds of regular expressions in one pass. It does not define
// any secrets; the detectors are passed to [Compile].
//
// # What it promises
//
// [Scanner.Scan] has the same result as searching the entire text with the regular expressions of
// the detectors, one after another. It finds all matches of each pattern, from left to right,
// except those that meet an [Allowance] or whose entropy is too low, and returns one [Span] for
// overlapping matches. Tests compare both results.
//
// # Why it finds the same
//
// An anchor of a pattern is a string that occurs in every match of the pattern, ignoring case. The
// pattern limits the distance from the beginning of a match to the anchor. Searching around the
// occurrences of the anchors therefore has the same result as searching everywhere. There are three
// steps, and none of them can miss a match:
//
//  1. A lexicon reads the text once and finds all occurrences of all anchors of all patterns. If no
//     anchor of a pattern occurs, the pattern has no match.
//  2. A sight, which tests a few bytes, and an automaton read the text after an occurrence. The
//     automaton treats all non-ASCII letters as the same letter, and it assumes that assertions in
//     the pattern, such as \b, hold. If the sight or the automaton finds nothing, there is no
//     match.
//  3. The regular expression is applied to the remaining cases. It reads the part of the text that
//     the automaton has determined, and one more rune on each side for \b, ^, and $.
//
// A detector searches the entire text if its pattern has no anchors, if the distance from the
// beginning of a match to an anchor has no limit, or if the anchors do not contain the keywords. If
// it has keywords, it then searches only strings that contain one of them.
//
// # Why it takes linear time
//
// For each detector, the scanner counts the bytes that are read more than once: after anchors, at
// positions where a match might begin, and in regions. If this number exceeds a small multiple of
// the length of the text, the detector searches only regions from then on. Adjacent regions are
// merged, so that no byte is in two regions.
package match
