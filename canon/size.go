package canon

import "bytes"

// These are the sizes, in bytes, of the parts of an index.
const (
	nodeBytes   = 20
	spanBytes   = 8
	orderBytes  = 8 // per member: its position in order, and the position of its object
	rankedBytes = 16
)

// largeIndex is the minimum number of nodes in a large index. Before a large index grows, the
// parser counts the nodes in the rest of the source. Growing step by step would temporarily need
// more than twice the memory of the index.
const largeIndex = 1 << 15

// mostNodes returns the maximum number of nodes that src can have: one node, plus one for each
// comma, colon, and opening bracket outside strings.
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

// behindString returns the position of the quotation mark that closes a string, or the end of the
// text. The content of the string begins at i.
func behindString(src []byte, i int) int {
	for i < len(src) {
		end := bytes.IndexByte(src[i:], '"')
		if end < 0 {
			return len(src)
		}

		// A backslash escapes the next backslash, so an even number of backslashes does not escape
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

// Size returns an upper bound, in bytes, on the memory that [Document.Parse] uses at any time to
// parse src, not including src itself. The result is typically twice the length of the text, ten
// times for an array of single digits, and sixteen times in the worst case. Computing the result
// takes about a tenth of the time that parsing takes.
func Size(src []byte) int64 {
	nodes := int64(mostNodes(src))
	names := min(int64(bytes.Count(src, []byte{':'})), nodes)
	growing := names * (orderBytes + rankedBytes)
	if escapes := int64(bytes.Count(src, []byte{'\\'})); escapes > 0 {
		growing += min(escapes, nodes)*spanBytes + int64(len(src))
	}
	return (nodes+largeIndex)*nodeBytes + 9*growing/4 // memory that append uses while it copies
}
