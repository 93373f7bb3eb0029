package event

import (
	"bytes"

	"github.com/receiptkit/receiptkit/canon"
)

// Parse parses one line. It limits both the bytes and the values of a line, because a Document may
// use more memory for a value than the value's text does.
func Parse(doc *canon.Document, text []byte) error {
	if len(text) > MaxLine {
		return exceeded("MaxLine", int64(len(text)))
	}

	// A shorter line cannot contain too many values, so there is no need to count them.
	if len(text) > MaxValues {
		if n := values(text); n > MaxValues {
			return exceeded("MaxValues", int64(n))
		}
	}
	return doc.Parse(text, canon.Limits{Bytes: MaxLine})
}

// values returns an upper bound on the number of values in a JSON text, including names of members:
// one for each comma, colon, and opening bracket outside strings.
func values(text []byte) int {
	n := 1
	for len(text) > 0 {
		quote := bytes.IndexByte(text, '"')
		if quote < 0 {
			quote = len(text)
		}

		// RFC 8259 section 2: outside strings, these characters are structural.
		for _, c := range text[:quote] {
			switch c {
			case ',', ':', '[', '{':
				n++
			}
		}

		if quote == len(text) {
			break
		}
		text = afterString(text[quote+1:])
	}

	return n
}

// afterString returns the remaining text after the string in which text starts.
func afterString(text []byte) []byte {
	for {
		end := bytes.IndexByte(text, '"')
		if end < 0 {
			return nil
		}
		escapes := 0
		for escapes < end && text[end-1-escapes] == '\\' {
			escapes++
		}
		if text = text[end+1:]; escapes%2 == 0 {
			return text
		}
	}
}
