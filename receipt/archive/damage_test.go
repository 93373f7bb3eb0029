package archive_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func verifier(tb testing.TB, policy receipt.Policy) *receipt.Verifier {
	tb.Helper()
	trust, err := keys.ParseSet(read(tb, "keys/trust.json"))
	if err != nil {
		tb.Fatal(err)
	}
	v, err := receipt.NewVerifier(trust, policy)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// TestEveryBit (item 276) verifies the result of flipping each bit. There are three allowed
// results: the item is not an archive, it is the archive of a receipt that does not match its hash,
// or only a signature changed, which the hash does not cover.
func TestEveryBit(t *testing.T) {
	c := archive.NewCodec()
	v := verifier(t, receipt.Policy{IntegrityOnly: true})
	doc := parse(t, read(t, "valid/minimal.json"))
	inside := preimage(t, doc)
	item := encode(t, c, doc.Source())
	if text, err := c.ToJSON(item); err != nil || !opens(v, text) {
		t.Fatalf("the receipt itself does not verify: %v", err)
	}
	decoded, verified := 0, 0
	step := testsize.Of(3, 1)
	for bit := 0; bit < 8*len(item); bit += step {
		damaged := bytes.Clone(item)
		damaged[bit/8] ^= 1 << (bit % 8)
		text, refused := decode(t, c, damaged)
		if refused != nil {
			continue
		}
		decoded++
		if !opens(v, text) {
			continue
		}
		verified++
		if !bytes.Equal(preimage(t, parse(t, text)), inside) {
			t.Errorf("bit %d: another receipt verifies", bit)
		}
	}
	t.Logf("%d bits: %d decode, %d fit the hash", 8*len(item), decoded, verified)
	if decoded < 1000/step || verified < 100/step || verified > 2000/step {
		t.Errorf("of %d bits %d decode and %d verify", 8*len(item), decoded, verified)
	}
}

func preimage(tb testing.TB, doc *canon.Document) []byte {
	tb.Helper()
	b, err := chain.AppendPreimage(nil, doc)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func opens(v *receipt.Verifier, text []byte) bool {
	_, err := v.Open(text)
	return err == nil
}

// TestCutAnywhere verifies that a truncated archive is rejected, and that a truncated sequence is
// reported as truncated unless it ends between items.
func TestCutAnywhere(t *testing.T) {
	c := archive.NewCodec()
	item := encode(t, c, read(t, "valid/task.json"))
	sequence := append(bytes.Clone(item), item...)
	for n := range item {
		want := "syntax"
		if n == 0 {
			want = "empty_input"
		}
		refused(t, c, item[:n], want)
		all, err := pieces(t, bytes.NewReader(sequence[:len(item)+n]))
		var e *archive.ItemError
		if n > 0 && (!errors.As(err, &e) || e.Code != "syntax") || len(all) != 1 {
			t.Errorf("%d bytes: %d items, %v", len(item)+n, len(all), err)
		}
	}
}

// TestHashOfCBOR (item 272) verifies that the hash is computed from the canonical JSON, and that a
// hash of the CBOR bytes is refuted in any input format.
func TestHashOfCBOR(t *testing.T) {
	c := archive.NewCodec()
	doc := parse(t, read(t, "valid/task.json"))
	honest := doc.Root().Member("chain").Member("receipt_hash").String()
	inside := parse(t, preimage(t, doc))
	wrong := fmt.Sprintf("sha256:%x", sha256.Sum256(encode(t, c, inside.Source())))
	forged := encode(t, c, bytes.ReplaceAll(doc.Source(), []byte(honest), []byte(wrong)))
	text, refused := decode(t, c, forged)
	if refused != nil {
		t.Fatal(refused)
	}
	_, err := verifier(t, receipt.Policy{}).Open(text)
	var refuted *receipt.RefutedError
	if !errors.As(err, &refuted) || refuted.Report.Finding().Code != receipt.CodeHashMismatch {
		t.Errorf("%v", err)
	}
}

// TestSameVerdict verifies that an archive gets the same verdict as its JSON.
func TestSameVerdict(t *testing.T) {
	c := archive.NewCodec()
	v := verifier(t, receipt.Policy{})
	for _, file := range []string{"valid/task.json", "malicious/changed-cost.json", "edge/signed-twice.json"} {
		source := read(t, file)
		text, refused := decode(t, c, encode(t, c, source))
		if refused != nil {
			t.Fatal(refused)
		}
		if opens(v, source) != opens(v, text) {
			t.Errorf("%s: the archive has another verdict", file)
		}
	}
}
