package replay

import "github.com/receiptkit/receiptkit/canon"

// Bytes returns the bytes that a level compares, in canonical form.
func Bytes(doc *canon.Document, level Level) []byte {
	var without []canon.Node
	for _, at := range level.without() {
		p, err := canon.ParsePointer(at)
		if err != nil {
			continue // they are constants, and all are pointers
		}
		if n, ok := doc.Find(p); ok {
			without = append(without, n)
		}
	}
	return doc.AppendCanonical(nil, without...)
}

// KeyPrefix returns the prefix of an override key.
var KeyPrefix = keyPrefix
