package event

import (
	"bytes"

	"github.com/receiptkit/receiptkit/canon"
)

// Parse parses one line of a log. It limits the number of values as well as the number of bytes,
// because a Document may use more memory for a value than the text of the value does.
func Parse(doc *canon.Document, text []byte) error {
	if len(text) > MaxLine {
		return exceeded("MaxLine", int64(len(text)))
	}

	// A line that is short enough cannot contain too many values, so they are not counted.
	if len(text) > MaxValues {
		if n := values(text); n > MaxValues {
			return exceeded("MaxValues", int64(n))
		}
	}
	return doc.Parse(text, canon.Limits{Bytes: MaxLine})
}

// values returns an upper bound on the number of values in a JSON text, including member names: it
// counts the commas, colons, and opening brackets outside strings.
func values(text []byte) int {
	n := 1
	for len(text) > 0 {
		quote := bytes.IndexByte(text, '"')
		if quote < 0 {
			quote = len(text)
		}

		// Outside strings, these characters are always structural (RFC 8259 section 2).
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

// afterString returns the text after the end of a string, given text that starts inside the string.
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
