package stream

// nesting follows how deep a place of a JSON text lies in objects and arrays, byte
// by byte. What is not JSON is left to the parser.
type nesting struct {
	depth             int
	inString, escaped bool
}

func (n *nesting) read(c byte) {
	switch {
	case n.inString:
		n.inString = n.escaped || c != '"'
		n.escaped = !n.escaped && c == '\\'
	case c == '"':
		n.inString = true
	case c == '{' || c == '[':
		n.depth++
	case c == '}' || c == ']':
		n.depth--
	}
}
