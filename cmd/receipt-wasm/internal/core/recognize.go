package core

import (
	"bytes"
	"compress/gzip"
	"io"

	"github.com/receiptkit/receiptkit/receipt/kind"
)

// Recognize tells by its first bytes what somebody dropped; whole says that these are
// all. A file that gzip compressed is told by what is in it. An attestation holds a receipt,
// and is judged with it.
func Recognize(head []byte, whole bool) kind.Found {
	found := recognize(head, whole)
	if found.Kind == kind.Attestation {
		return kind.Found{}
	}
	return found
}

func recognize(head []byte, whole bool) kind.Found {
	packed, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return kind.Of(head, whole)
	}

	// Of a part that breaks off, what came before is still its beginning.
	inner, err := io.ReadAll(io.LimitReader(packed, kind.Head))
	found := kind.Of(inner, false)
	if err == nil && whole && len(inner) < kind.Head {
		found = kind.Of(inner, true)
	}
	if found.Kind.Beside() { // evidence is read as it is
		found.Kind, found.Next = kind.Packed, "unpack it first: only receipts are read compressed"
	}
	return found
}
