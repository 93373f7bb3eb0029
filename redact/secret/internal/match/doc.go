// Package match searches a text for hundreds of regular expressions at once. It knows no
// secrets: what to search for is given to [Compile].
//
// # What it promises
//
// [Scanner.Scan] finds what a search of the whole text with each detector's regular expression
// finds, one after the other: first all matches of each pattern, from left to right, without
// those that an [Allowance] meets or whose entropy is too low, and then one [Span] for those that
// overlap. Tests compare it with that search.
//
// # Why it finds the same
//
// An anchor of a pattern is a text that occurs in each of its matches, whatever the case of its
// letters, and the pattern bounds how far before it the match begins. To search around the
// occurrences of anchors is therefore to search everywhere. There are three steps, and each errs
// on one side only:
//
//  1. A lexicon reads the text once and finds all occurrences of the anchors of all patterns.
//     Where none occurs there is no match.
//  2. A sight, which tests some bytes, and then an automaton look at what follows an occurrence.
//     The automaton treats all letters beyond ASCII as one, and takes what a pattern asserts,
//     such as \b, to be so. Where it finds nothing, there is no match.
//  3. The regular expression decides what is left, on the part of the text that the automaton
//     names, and one rune more on each side for \b, ^, and $.
//
// A detector searches the whole text if its pattern has no anchors, if a match may begin at any
// distance before them, or if they do not contain its keywords. It does so when one of its
// keywords occurs, or in every text if it has none.
//
// # Why it takes linear time
//
// What a detector reads of a text again is counted: after anchors, at places where a match might
// begin, and in regions. When that exceeds a small multiple of the text, the detector continues by
// searching its regions, joined where they touch, so that no byte is in two of them.
package match
