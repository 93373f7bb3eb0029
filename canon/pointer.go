package canon

import "strings"

// A Pointer is a parsed JSON Pointer (RFC 6901). The zero Pointer is the empty pointer, which
// refers to the entire document.
type Pointer struct{ tokens []string }

// ParsePointer parses the string form of a JSON Pointer (RFC 6901 section 3). The string is empty
// or consists of tokens, each preceded by "/", in which ~0 represents ~ and ~1 represents /. The
// error is a *[PointerError].
func ParsePointer(s string) (Pointer, error) {
	if s == "" {
		return Pointer{}, nil
	}
	if s[0] != '/' {
		return Pointer{}, &PointerError{s, 0, `expected "/" at the start, or nothing at all`}
	}

	// A tilde must be followed by 0 or 1 (RFC 6901 section 3).
	for i := range len(s) {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return Pointer{}, &PointerError{s, i, `expected ~0 (for "~") or ~1 (for "/")`}
		}
	}

	tokens := strings.Split(s[1:], "/")
	for i, t := range tokens {
		// ~1 is replaced first, because ~01 represents the name ~1 (RFC 6901 section 4).
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}

	return Pointer{tokens}, nil
}

// Tokens returns the unescaped reference tokens.
func (p Pointer) Tokens() []string { return append([]string(nil), p.tokens...) }

// String returns the string form of the pointer, which ParsePointer accepts.
func (p Pointer) String() string {
	var b []byte
	for _, t := range p.tokens {
		b = AppendToken(b, t)
	}
	return string(b)
}

// AppendToken appends "/" and the escaped form of token to dst.
func AppendToken(dst []byte, token string) []byte {
	dst = append(dst, '/')
	for i := range len(token) {
		switch token[i] {
		case '~':
			dst = append(dst, "~0"...)
		case '/':
			dst = append(dst, "~1"...)
		default:
			dst = append(dst, token[i])
		}
	}
	return dst
}

// arrayIndex parses an array index (RFC 6901 section 4), which has no sign and no leading zeros.
// The token "-", which represents the position after the last element, never refers to a value.
func arrayIndex(token string) (uint64, bool) {
	if token == "" || len(token) > 10 || token[0] == '0' && len(token) > 1 {
		return 0, false
	}
	n := uint64(0)
	for i := range len(token) {
		if token[i] < '0' || token[i] > '9' {
			return 0, false
		}
		n = n*10 + uint64(token[i]-'0')
	}
	return n, true
}

func (n Node) element(token string) Node {
	index, ok := arrayIndex(token)
	if !ok {
		return Node{}
	}
	for i, e := range n.Elements() {
		if uint64(i) == index {
			return e
		}
	}
	return Node{}
}
