package core

import (
	"bytes"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// IsKeys reports whether a file is, or tries to be, a file of keys, so that it is
// not taken for a receipt when both are dropped together. Whether it can be used
// is for keys.ParseSet to say, which also tells what to do about other formats.
func IsKeys(data []byte) bool {
	if len(data) > keys.MaxSetBytes {
		return false
	}

	// The text forms: PEM and OpenSSH.
	start := bytes.TrimLeft(data, " \t\r\n")
	for _, prefix := range []string{"-----BEGIN ", "ssh-", "ecdsa-sha2-", "sk-"} {
		if bytes.HasPrefix(start, []byte(prefix)) {
			return true
		}
	}

	doc, err := canon.Parse(data)
	if err != nil {
		return false
	}

	root := doc.Root()
	if !root.Member("chain").IsZero() || !root.Member("receipt_id").IsZero() {
		return false // a receipt, whatever else it has
	}

	return root.Member("keys").Kind() == canon.KindArray || !root.Member("kty").IsZero()
}
