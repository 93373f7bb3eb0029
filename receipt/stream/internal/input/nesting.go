package input

// A nesting value tracks the depth of objects and arrays while a JSON text is read byte by byte. It
// does not detect invalid JSON, which the parser rejects.
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

// outside reports whether the current position is outside all objects, arrays, and strings.
func (n *nesting) outside() bool { return n.depth <= 0 && !n.inString }

// follow reads text byte by byte until the position is outside. If this does not happen, it reads
// all of text. It returns the number of bytes read.
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

// plainBytes returns the number of bytes before the first quote or escape within a string.
func plainBytes(text []byte) int {
	for i, c := range text {
		if c == '"' || c == '\\' {
			return i
		}
	}
	return len(text)
}
