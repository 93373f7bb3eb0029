package canon

import "bytes"

// Sizes of the parts of an index, in bytes.
const (
	nodeBytes   = 20
	spanBytes   = 8
	orderBytes  = 8 // of a member: its position in order, and the position of its object
	rankedBytes = 16
)

// largeIndex is the number of nodes from which the remaining source is scanned for its node count
// before the index grows. Growing step by step would temporarily take more than twice the size of
// the index.
const largeIndex = 1 << 15

// mostNodes returns the maximum number of nodes that a text can have: the first node, and one node
// after each comma, colon, and opening bracket outside strings.
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

// behindString returns the end of the string whose content begins at i: the position of its closing
// quotation mark, or the end of the text.
func behindString(src []byte, i int) int {
	for i < len(src) {
		end := bytes.IndexByte(src[i:], '"')
		if end < 0 {
			return len(src)
		}

		// Backslashes escape one another in pairs; an even number of backslashes does not escape
		// the quotation mark.
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

// Size returns the maximum amount of memory, in bytes, that [Document.Parse] uses at any time for a
// text, excluding the text itself. This is typically twice the length of the text, ten times for
// arrays of single digits, and sixteen times in the worst case. Counting takes about a tenth of the
// time that parsing takes.
func Size(src []byte) int64 {
	nodes := int64(mostNodes(src))
	names := min(int64(bytes.Count(src, []byte{':'})), nodes)
	growing := names * (orderBytes + rankedBytes)
	if escapes := int64(bytes.Count(src, []byte{'\\'})); escapes > 0 {
		growing += min(escapes, nodes)*spanBytes + int64(len(src))
	}
	return (nodes+largeIndex)*nodeBytes + 9*growing/4 // the memory that append holds while it copies
}
