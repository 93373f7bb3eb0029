package stated

import (
	"bytes"

	"github.com/receiptkit/receiptkit/canon"
)

// DamagedID returns the receipt_id that a text states which is not JSON, or is too
// strange to be parsed; "" when it states none. It is how such a text is found, and
// nothing else is believed of it: the first member of the outermost object that is
// called so, as far as brackets and strings tell.
func DamagedID(text []byte) string {
	const name = `"receipt_id"`
	depth := 0
	for len(text) > 0 {
		switch c := text[0]; c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			token, rest := cutString(text)
			value, follows := bytes.CutPrefix(skipSpace(rest), []byte{':'})
			if depth == 1 && follows && string(token) == name {
				token, _ = cutString(skipSpace(value))
				return stringOf(token)
			}
			text = rest
			continue
		}
		text = text[1:]
	}

	return ""
}

// cutString cuts a string, with its quotes, off the beginning of a text. It is nil
// when there is none.
func cutString(text []byte) (token, rest []byte) {
	if len(text) == 0 || text[0] != '"' {
		return nil, text
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[:i+1], text[i+1:]
		}
	}
	return nil, nil
}

func skipSpace(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }

// stringOf returns the text of a JSON string; "" for what is not one.
func stringOf(token []byte) string {
	doc, err := canon.Parse(token)
	if err != nil {
		return ""
	}
	return doc.Root().String()
}
