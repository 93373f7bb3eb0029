package keys

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/schemas"
)

// FuzzParseSet verifies that a parsed file is written in a form that parses to the same bytes.
func FuzzParseSet(f *testing.F) {
	f.Add(setJSON(f, ed25519JWK(f, "a", rfc8032Public).with(object{"issuers": []string{"i"}, "roles": []string{"witness"},
		"origin": "o", "nbf": 1, "exp": 2, "revoked": object{"at": 1, "reason": "r"}, "x-a": object{"b": 1}})))
	f.Add(setJSON(f, ecJWK("b").with(object{"alg": "ES256", "use": "sig", "key_ops": []string{"verify"}}), rsaJWK("c", modulus(2048), []byte{1, 0, 1})))
	f.Add([]byte(`{"keys":[]}`))
	schema, err := schemas.Compile("keys")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("-----BEGIN PUBLIC KEY-----"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile(bytes.Clone(data))
		set, setErr := ParseSet(data)
		if (err == nil) != (setErr == nil) || (file == nil) != (err != nil) || (set == nil) != (setErr != nil) {
			t.Fatalf("%v, %v", err, setErr)
		}
		if err != nil {
			return
		}
		text := written(t, file)
		for _, text := range [][]byte{data, text} { // an accepted file matches the published schema
			doc, err := canon.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if r := schema.Check(doc.Root()); r.Total > 0 {
				t.Fatalf("%s: %+v", text, r.Problems)
			}
		}
		again, err := ParseFile(text)
		if err != nil || !json.Valid(text) {
			t.Fatalf("%v: %s", err, text)
		}
		if !bytes.Equal(written(t, again), text) {
			t.Fatalf("%s\n%s", text, written(t, again))
		}
		for i, k := range set.Keys() {
			if other := again.Keys()[i]; other.Thumbprint != k.Thumbprint || other.ID != k.ID || other.Algorithm != k.Algorithm {
				t.Fatalf("%+v, %+v", k.Key, other.Key)
			}
		}
	})
}

// FuzzCheckSignature verifies that no entry makes CheckSignature panic, and that only the genuine
// signature is valid, with or without tables. Every code must be one of the five codes.
func FuzzCheckSignature(f *testing.F) {
	ed, es := testKeys()[Ed25519], testKeys()[es256]
	set := setOf(f, ed.Public(), es.Public())
	true1, true2 := signWith(f, ed), signWith(f, es)
	for _, s := range []receipt.Signature{true1, true2} {
		f.Add(s.KeyID, s.Algorithm, s.Signature, s.SignedAt.String())
	}
	f.Add(es.public.ID, es256, "jws:e30..AAAA", "")
	f.Add(ed.public.ID, edDSA, forge(f, testKeys()[edDSA], `{"alg":"EdDSA","kid":"x"}`), "x")
	f.Fuzz(func(t *testing.T, kid, algorithm, value, at string) {
		e := entry(kid, algorithm, value)
		e.SignedAt = []byte(at)
		k, err := checkBoth(set, []byte(hashText), e)
		if err == nil {
			if k == nil || value != true1.Signature && value != true2.Signature {
				t.Fatalf("valid: %v", e)
			}
			return
		}
		switch err.Code {
		case unsupported, malformed, unknown, mismatch, untrue:
		default:
			t.Fatalf("%v", err)
		}
		if len(err.Error()) > 1000 {
			t.Fatalf("%d bytes of error", len(err.Error()))
		}
	})
}

func FuzzParsePrivate(f *testing.F) {
	for _, name := range []string{Ed25519, es256, rs256} {
		data, err := testKeys()[name].MarshalPrivate()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := ParsePrivate(data)
		if (k == nil) != (err != nil) {
			t.Fatal(k, err)
		}
		if err != nil {
			return
		}
		text, err := k.MarshalPrivate()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParsePrivate(text); err != nil || again.public.ID != k.public.ID || again.algorithm != k.algorithm {
			t.Fatalf("%v", err)
		}
	})
}
