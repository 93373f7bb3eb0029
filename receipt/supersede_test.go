package receipt_test

import (
	"errors"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

func TestSupersede(t *testing.T) {
	hash := canon.Sum(nil)
	for in, want := range map[string]string{
		`{"a":1}`:                    `{"a":1,"metadata":{"supersedes":"` + hash.String() + `"}}`,
		`{"metadata":{"x":2},"a":1}`: `{"a":1,"metadata":{"supersedes":"` + hash.String() + `","x":2}}`,
		`[]`:                         "",
		`{"metadata":null}`:          "",
		`{"metadata":{"supersedes":"sha256:00"}}`: "",
	} {
		d, err := canon.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		got, err := receipt.Supersede(d, hash)
		if (err == nil) != (want != "") || err == nil && string(got.Source()) != want {
			t.Errorf("%s: %v, %v; want %s", in, got, err, want)
		}
	}
}

// TestSupersedeNothing verifies that a draft cannot supersede the zero hash, such as the hash of the
// zero Sealed.
func TestSupersedeNothing(t *testing.T) {
	d, err := canon.Parse([]byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := receipt.Supersede(d, new(receipt.Sealed).Hash()); !errors.As(err, new(*receipt.InvalidError)) {
		t.Errorf("%v, %v, expected an *InvalidError", got, err)
	}
}
