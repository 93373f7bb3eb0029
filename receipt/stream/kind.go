package stream

import (
	"fmt"

	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
)

// A Kind is how an input holds its receipts.
type Kind uint8

const (
	Sniffed  = Kind(input.Sniffed)  // found out from its first bytes
	JSON     = Kind(input.JSON)     // one document: a receipt, a list or an array of them
	Lines    = Kind(input.Lines)    // a JSON document a line (JSONL, NDJSON)
	CBOR     = Kind(input.CBOR)     // one item
	Sequence = Kind(input.Sequence) // items one after the other (RFC 8742)
)

func kindNames() []string { return []string{"", "json", "lines", "cbor", "cborseq"} }

// String returns the name as ParseKind reads it; "" for Sniffed.
func (k Kind) String() string {
	if names := kindNames(); int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind(%d)", k)
}

// ParseKind reads json, lines, cbor, cborseq, or "" for Sniffed.
func ParseKind(name string) (Kind, error) {
	for k, n := range kindNames() {
		if n == name {
			return Kind(k), nil
		}
	}
	return Sniffed, fmt.Errorf("stream: expected json, lines, cbor or cborseq, found %.40q", name)
}
