package issue

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/redact"
)

// A withheld collects the values that a draft withholds, with the salts of their commitments.
// It writes them to a file that only its owner may read.
type withheld struct {
	path   string
	force  bool
	values redact.Disclosures
}

// commit returns the commitment to a value.
func (w *withheld) commit(field string, value []byte) canon.Digest {
	for _, d := range w.values.Fields {
		if d.Field == field { // a draft may be made again
			return d.Commitment()
		}
	}
	var salt [16]byte
	rand.Read(salt[:])
	d := redact.Disclosure{Field: field, Salt: hex.EncodeToString(salt[:]), Value: value}
	w.values.Fields = append(w.values.Fields, d)
	return d.Commitment()
}

// write writes the values, and then what refers to them. If the latter fails, the values are
// removed again.
func (w *withheld) write(other func() error) error {
	if w.path == "" {
		return other()
	}
	file, err := cli.PrepareFile(w.path, w.values.Marshal(), 0o600, w.force)
	if err != nil {
		return err
	}
	defer file.Discard()
	if err := file.Commit(); err != nil {
		return err
	}
	if err := other(); err != nil {
		file.Withdraw()
		return err
	}
	return nil
}
