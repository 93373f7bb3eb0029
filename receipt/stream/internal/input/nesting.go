package input

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

// outside reports whether a place is in no object, array or string.
func (n *nesting) outside() bool { return n.depth <= 0 && !n.inString }

// follow reads a text up to the byte behind which it is outside, or all of it, and
// returns how many bytes it read.
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

// plainBytes counts the bytes of a string before what ends it, or escapes.
func plainBytes(text []byte) int {
	for i, c := range text {
		if c == '"' || c == '\\' {
			return i
		}
	}
	return len(text)
}
