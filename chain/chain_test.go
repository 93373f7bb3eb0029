package chain_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

func parse(t testing.TB, text []byte) *canon.Document {
	t.Helper()
	d, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestUpstream computes the hashes of the upstream fixtures, in which all stated hashes are
// placeholders.
func TestUpstream(t *testing.T) {
	dir := vectors.Dir(t, "harn")
	for _, c := range []struct {
		file    string
		without string // a member to remove before hashing
		size    int    // of the preimage
		hash    string
	}{
		{"task-receipt.json", "", 3545, "sha256:6dda1c76c5adc8c210892ba1b7e566dd3b6e3644f7ab6b0dcd14ae34a0b323a7"},
		{"task-receipt.json", "merkle_root", 3457, "sha256:4de11caa92ab3bdf6a12ec38fea70bde2014510d182bd924db1c7c722bd6e0cb"},
		{"task-replay-receipt.json", "", 2991, "sha256:c665e22ccc7b42cd3d910b2c0767a1709bd4e135c9be159816c19a917aea9d04"},
		{"task-replay-receipt.json", "merkle_root", 2903, "sha256:7a79d9c129568887d4ebd6b368a0276f16d73fb1db05958eeb93f556cfd395b2"},
		{"missing-chain-hash.json", "", 1000, "sha256:3d4ef26fbb27243661cefc09737f583b8cf87fe912e6084bbfb839514e7172c0"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, c.file))
		if err != nil {
			t.Fatal(err)
		}
		d := parse(t, text)
		if c.without != "" {
			d = parse(t, d.AppendCanonical(nil, d.Root().Member("chain").Member(c.without)))
		}
		preimage, err := chain.AppendPreimage(nil, d)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(preimage)
		hash, err := chain.Hash(d)
		if err != nil || hash.String() != c.hash || "sha256:"+hex.EncodeToString(sum[:]) != c.hash || len(preimage) != c.size {
			t.Errorf("%s without %q: %v over %d bytes, %v; want %s over %d", c.file, c.without, hash, len(preimage), err, c.hash, c.size)
		}
		if reference, err := chain.ReferenceHash(d.Source()); err != nil || reference != hash {
			t.Errorf("%s: the reference computes %v, %v", c.file, reference, err)
		}
	}
}

func TestPreimageLeavesOutExactlyTwoMembers(t *testing.T) {
	for in, want := range map[string]string{
		`{"chain":{"receipt_hash":1,"previous_receipt_hash":null,"merkle_root":2},"signatures":[3],"a":4}`: `{"a":4,"chain":{"merkle_root":2,"previous_receipt_hash":null}}`,
		`{"chain":{"receipt_hash":1}}`:                                                   `{"chain":{}}`,
		`{"receipt_hash":1,"metadata":{"signatures":2,"chain":{"receipt_hash":3}}}`:      `{"metadata":{"chain":{"receipt_hash":3},"signatures":2},"receipt_hash":1}`,
		`{"chain":[{"receipt_hash":1}]}`:                                                 `{"chain":[{"receipt_hash":1}]}`,
		`{"chain":"receipt_hash","signatures":null}`:                                     `{"chain":"receipt_hash"}`,
		`{"ch\u0061in":{"receipt\u005fhash":1},"sign\u0061tures":[]}`:                    `{"chain":{}}`,
		`{"chain":{"chain":{"receipt_hash":1},"receipt_hash":2},"x":{"signatures":[1]}}`: `{"chain":{"chain":{"receipt_hash":1}},"x":{"signatures":[1]}}`,
		`{}`: `{}`,
	} {
		got, err := chain.AppendPreimage([]byte("before "), parse(t, []byte(in)))
		if err != nil || string(got) != "before "+want {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
		content(t, []byte(in))
	}
	for _, in := range []string{`[]`, `null`, `"x"`, `1`} {
		if _, err := chain.Hash(parse(t, []byte(in))); !errors.Is(err, chain.ErrNotObject) {
			t.Errorf("%s: %v", in, err)
		}
		if _, err := chain.ReferenceHash([]byte(in)); err == nil {
			t.Errorf("%s: the reference accepts it", in)
		}
		if _, err := chain.ReferenceContent([]byte(in)); err == nil {
			t.Errorf("%s: the reference accepts it", in)
		}
	}
	// What is not JSON is reported as such.
	if h, err := chain.ReferenceHash([]byte(`{"a":1,"a":1}`)); err == nil || errors.Is(err, chain.ErrNotObject) || !h.IsZero() {
		t.Errorf("a name that occurs twice: %v, %v", h, err)
	}
}

// content compares the canonical form of a receipt, without the members chain and signatures, with
// the result of the reference implementation.
func content(t *testing.T, src []byte) {
	t.Helper()
	d := parse(t, src)
	want := d.AppendCanonical(nil, d.Root().Member("chain"), d.Root().Member("signatures"))
	if got, err := chain.ReferenceContent(src); err != nil || string(got) != string(want) {
		t.Errorf("%s: %s, %v; want %s", src, got, err, want)
	}
}

// TestNoPreimage verifies that only objects have a preimage and a hash.
func TestNoPreimage(t *testing.T) {
	for _, text := range []string{`[]`, `[{"chain":{}}]`, `"x"`, `1`, `null`, `true`} {
		d := parse(t, []byte(text))
		if b, err := chain.AppendPreimage([]byte("before"), d); !errors.Is(err, chain.ErrNotObject) || string(b) != "before" {
			t.Errorf("preimage of %s: %s, %v", text, b, err)
		}
		if h, err := chain.Hash(d); !errors.Is(err, chain.ErrNotObject) || !h.IsZero() {
			t.Errorf("hash of %s: %v, %v", text, h, err)
		}
	}
	if b, err := chain.AppendPreimage(nil, new(canon.Document)); !errors.Is(err, chain.ErrNotObject) || b != nil {
		t.Errorf("preimage of nothing: %s, %v", b, err)
	}
}

func TestLinkOf(t *testing.T) {
	a, b := canon.Sum([]byte("a")), canon.Sum([]byte("b"))
	for in, want := range map[string]chain.Link{
		fmt.Sprintf(`{"chain":{"previous_receipt_hash":null,"receipt_hash":%q}}`, a):  {First: true, Hash: a},
		fmt.Sprintf(`{"chain":{"previous_receipt_hash":%q,"receipt_hash":%q}}`, b, a): {Previous: b, Hash: a},
	} {
		if got, ok := chain.LinkOf(parse(t, []byte(in))); !ok || got != want {
			t.Errorf("%s: %+v, %t", in, got, ok)
		}
	}
	for _, in := range []string{`{}`, `{"chain":{}}`, fmt.Sprintf(`{"chain":{"receipt_hash":%q}}`, a), `[]`,
		fmt.Sprintf(`{"chain":{"previous_receipt_hash":1,"receipt_hash":%q}}`, a), fmt.Sprintf(`{"chain":{"previous_receipt_hash":null,"receipt_hash":"x%s"}}`, a)} {
		if got, ok := chain.LinkOf(parse(t, []byte(in))); ok || got != (chain.Link{}) {
			t.Errorf("%s: %+v, %t", in, got, ok)
		}
	}
}

func TestStreamOf(t *testing.T) {
	with := chain.StreamOf(parse(t, []byte(`{"issuer":{"id":"i"},"identifiers":{"tenant_id":"","workspace_ref":"w"}}`)))
	without := chain.StreamOf(parse(t, []byte(`{"issuer":{"id":"i"},"identifiers":{"workspace_ref":"w"}}`)))
	if with != (chain.Stream{Issuer: "i", HasTenant: true, Workspace: "w"}) || with == without {
		t.Errorf("%+v and %+v; an absent tenant is another stream than an empty one", with, without)
	}
}

func FuzzHash(f *testing.F) {
	f.Add([]byte(`{"chain":{"receipt_hash":1,"b":2,"a":1e2},"signatures":[],"\u0061":"\u00e9<&"}`))
	f.Add([]byte(`{"chain":[],"signatures":{"x":[1.0,-0,5e-324]}}`))
	f.Add([]byte(`{"chain":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := canon.Parse(data)
		if err != nil {
			return
		}
		hash, err := chain.Hash(d)
		reference, referenceErr := chain.ReferenceHash(data)
		if (err == nil) != (referenceErr == nil) || hash != reference {
			t.Errorf("%v, %v; the reference %v, %v", hash, err, reference, referenceErr)
		}
		if err == nil {
			content(t, data)
		}
	})
}

func ExampleHash() {
	d, err := canon.Parse([]byte(`{"receipt_id": "r1", "chain": {"previous_receipt_hash": null, "receipt_hash": "sha256:…"}, "signatures": []}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	preimage, _ := chain.AppendPreimage(nil, d)
	hash, _ := chain.Hash(d)
	fmt.Printf("%s\n%v\n", preimage, hash)
	// Output:
	// {"chain":{"previous_receipt_hash":null},"receipt_id":"r1"}
	// sha256:5fe29940ab7d0bf0a13730910e63045b4fceaaa7a334109c6e648bb3e3b7be8b
}
