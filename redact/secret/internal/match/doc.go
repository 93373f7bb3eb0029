// Package match searches a text for hundreds of regular expressions in one pass. It does not define
// secrets: the detectors are passed to [Compile].
//
// # What it promises
//
// [Scanner.Scan] gives the same result as searching the entire text with the regular expressions of
// the detectors one after the other. It finds all matches of each pattern, from left to right,
// without those that an [Allowance] meets or whose entropy is too low, and then returns one [Span]
// for matches that overlap. Tests compare it with that search.
//
// # Why it finds the same
//
// An anchor of a pattern is a text that occurs in each of its matches, regardless of case. The
// pattern limits how far before the anchor a match begins. Searching around the occurrences of
// anchors is therefore equivalent to searching everywhere. There are three steps, each of which is
// conservative:
//
//  1. A lexicon reads the text once and finds all occurrences of the anchors of all patterns. If
//     there is no occurrence, there is no match.
//  2. A sight, which tests a few bytes, and then an automaton examine the text after an occurrence.
//     The automaton treats all non-ASCII letters as one letter, and assumes that assertions in a
//     pattern, such as \b, hold. If it finds nothing, there is no match.
//  3. The regular expression decides the remaining cases, on the part of the text that the
//     automaton determines, and one additional rune on each side for \b, ^, and $.
//
// A detector searches the entire text if its pattern has no anchors, if a match may begin at any
// distance before them, or if they do not contain its keywords. It does so if one of its keywords
// occurs, or, if it has no keywords, in every text.
//
// # Why it takes linear time
//
// The number of bytes that a detector reads repeatedly is counted: after anchors, at positions
// where a match might begin, and in regions. When that number exceeds a small multiple of the text,
// the detector continues by searching its regions, which are merged where they touch, so that no
// byte is in two of them.
package match
