package input

// nesting tracks the depth of objects and arrays in a JSON text, byte by byte. Invalid JSON
// is left to the parser.
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

// outside reports whether the position is outside all objects, arrays, and strings.
func (n *nesting) outside() bool { return n.depth <= 0 && !n.inString }

// follow reads text up to and including the byte after which the position is outside, or the entire
// text. It returns the number of bytes that it read.
func (n *nesting) follow(text []byte) int {
	for i := 0; i < len(text); i++ {
		if n.inString && !n.escaped {
			if i += plainBytes(text[i:]); i == len(text) {
				break
			}
		}
		if n.read(text[i]); n.outside() {
			return i + 1
		}
	}
	return len(text)
}

// plainBytes returns the number of bytes in a string that precede a quote or an escape.
func plainBytes(text []byte) int {
	for i, c := range text {
		if c == '"' || c == '\\' {
			return i
		}
	}
	return len(text)
}
