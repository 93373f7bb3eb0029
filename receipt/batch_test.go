package receipt_test

import (
	"crypto/sha256"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

func TestLeaves(t *testing.T) {
	for in, leaf := range map[string]string{
		`{"signatures":[1],"b":2.0,"chain":{"merkle_root":"x"},"a":{"chain":1,"signatures":2}}`: `{"a":{"chain":1,"signatures":2},"b":2}`,
		`{"b":2,"a":{"signatures":2,"chain":1}}`:                                                `{"a":{"chain":1,"signatures":2},"b":2}`,
	} {
		d, err := canon.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := receipt.BatchLeaf(d), merkle.Hash(sha256.Sum256([]byte("\x00"+leaf))); got != want {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
	}
	hash := canon.Sum([]byte("x"))
	if got, want := receipt.CheckpointLeaf(hash), merkle.Hash(sha256.Sum256(append([]byte{0}, hash[:]...))); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
