package replay

import "github.com/receiptkit/receiptkit/canon"

// Bytes returns the canonical form of the part of a receipt that the given level compares.
func Bytes(doc *canon.Document, level Level) []byte {
	var without []canon.Node
	for _, at := range level.without() {
		p, err := canon.ParsePointer(at)
		if err != nil {
			continue // cannot happen, because the values are constant, valid pointers
		}
		if n, ok := doc.Find(p); ok {
			without = append(without, n)
		}
	}
	return doc.AppendCanonical(nil, without...)
}

// KeyPrefix returns the prefix of an override key.
var KeyPrefix = keyPrefix
