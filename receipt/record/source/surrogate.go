package source

import "bytes"

// replacement is U+FFFD as JSON escapes it.
const replacement = `\ufffd`

// whole replaces halves of characters outside of the basic plane (RFC 8259, section 7:
// lone surrogates), which agents write when they cut a text in the middle of one; nil when
// there is none. No text has them, and a digest of what stands there is not one of the text.
func whole(text []byte) []byte {
	var out []byte
	for i := 0; i < len(text); {
		at := bytes.IndexByte(text[i:], '\\')
		if at < 0 || i+at+1 >= len(text) {
			break
		}
		i += at
		if text[i+1] != 'u' {
			i += 2
			continue
		}
		switch half := surrogate(text[i:]); {
		case half == 'h' && surrogate(text[i+6:]) == 'l':
			i += 12
		case half != 0:
			if out == nil {
				out = bytes.Clone(text)
			}
			copy(out[i:], replacement)
			i += 6
		default:
			i += 2
		}
	}
	return out
}

// surrogate tells an escape of the first half of a pair, h, from one of the second, l; 0
// is neither.
func surrogate(text []byte) byte {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' || text[2]|0x20 != 'd' {
		return 0
	}
	for _, c := range text[3:6] {
		if !bytes.ContainsRune([]byte("0123456789abcdefABCDEF"), rune(c)) {
			return 0
		}
	}
	switch text[3] | 0x20 {
	case '8', '9', 'a', 'b':
		return 'h'
	case 'c', 'd', 'e', 'f':
		return 'l'
	}
	return 0
}
