package canon

import "bytes"

// What the parts of an index take, in bytes.
const (
	nodeBytes   = 20
	spanBytes   = 8
	orderBytes  = 8 // of a member: its place in order, and that of its object
	rankedBytes = 16
)

// largeIndex is how many nodes an index has when the rest of the source is counted:
// growing step by step, it would for a while take more than twice its size.
const largeIndex = 1 << 15

// mostNodes returns how many nodes a text has at most: the one that it begins with, and
// one after each comma, colon and opening bracket outside strings.
func mostNodes(src []byte) int {
	n := 1
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case ',', ':', '[', '{':
			n++
		case '"':
			i = behindString(src, i+1)
		}
	}
	return n
}

// behindString returns where the string ends whose content begins at i: at its closing
// quote, or at the end of the text.
func behindString(src []byte, i int) int {
	for i < len(src) {
		end := bytes.IndexByte(src[i:], '"')
		if end < 0 {
			return len(src)
		}

		// An even number of backslashes escape one another, and not the quote.
		escapes := 0
		for at := i + end - 1; at >= i && src[at] == '\\'; at-- {
			escapes++
		}
		if i += end; escapes%2 == 0 {
			return i
		}
		i++
	}
	return i
}

// Size returns how many bytes of memory [Document.Parse] takes at most at a time for a
// text, the text itself not included: as a rule twice its length, for arrays of single
// digits ten times, for the worst text sixteen times. Counting takes about a tenth of
// the time of parsing.
func Size(src []byte) int64 {
	nodes := int64(mostNodes(src))
	names := min(int64(bytes.Count(src, []byte{':'})), nodes)
	growing := names * (orderBytes + rankedBytes)
	if escapes := int64(bytes.Count(src, []byte{'\\'})); escapes > 0 {
		growing += min(escapes, nodes)*spanBytes + int64(len(src))
	}
	return (nodes+largeIndex)*nodeBytes + 9*growing/4 // what append holds while it copies
}
