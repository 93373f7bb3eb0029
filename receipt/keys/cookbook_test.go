package keys

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/receiptkit/receiptkit/fixtures/vectors"

	"github.com/receiptkit/receiptkit/receipt"
)

type cookbook struct {
	Input struct {
		Payload string
		Key     any
	}
	Output struct{ Compact string }
}

// reproduce signs the payload again and returns the compact serialization, including the payload.
func reproduce(t *testing.T, k *PrivateKey, algorithm, id, payload string) string {
	t.Helper()
	alg, _ := algorithmOf(algorithm)
	public := k.Public()
	public.ID = id
	obj, err := signToken(context.Background(), local(k.key), alg, public, new(jose.SignerOptions), []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	compact, err := obj.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return compact
}

// TestCookbookRFC7520 verifies that the examples in RFC 7520 sections 4.1 to 4.3 are valid and, if
// the algorithm is deterministic, that signing reproduces them (reliability #177).
func TestCookbookRFC7520(t *testing.T) {
	for _, tc := range []struct {
		file, algorithm string
		same            bool
	}{
		{"4_1.rsa_v15_signature.json", rs256, true},
		{"4_2.rsa-pss_signature.json", ps384, false},
		{"4_3.ecdsa_signature.json", es512, false},
	} {
		var c cookbook
		readVectors(t, "sig-jose-cookbook/jws", tc.file, &c)
		jwk := object(c.Input.Key.(map[string]any)).with(object{"alg": tc.algorithm})
		k, err := ParsePrivate(toJSON(t, jwk))
		if err != nil {
			t.Fatalf("%s: %v", tc.file, err)
		}
		set := setOf(t, k.Public())
		if code, detail := checkAttached(set, toJSON(t, c.Output.Compact)); code != "" {
			t.Errorf("%s: %s %s", tc.file, code, detail)
		}
		got := reproduce(t, k, tc.algorithm, k.public.ID, c.Input.Payload)
		if tc.same != (got == c.Output.Compact) {
			t.Errorf("%s: signing gave %s", tc.file, got)
		}
		if code, detail := checkAttached(set, toJSON(t, got)); code != "" {
			t.Errorf("%s: own signature: %s %s", tc.file, code, detail)
		}
	}
}

// TestCookbookRefused verifies that the other examples are rejected, because sections 4.4 to 4.7
// use a shared secret and section 4.8 is not a compact JWS.
func TestCookbookRefused(t *testing.T) {
	dir := filepath.Join(vectors.Dir(t, "sig-jose-cookbook"), "jws")
	n := 0
	for _, path := range vectors.Files(t, 5, dir, "4_[4-8]*.json") {
		n++
		var c cookbook
		readVectors(t, "sig-jose-cookbook/jws", filepath.Base(path), &c)
		key := c.Input.Key
		if list, ok := key.([]any); ok {
			key = list[len(list)-1]
		}
		if jwk, ok := key.(map[string]any); ok {
			_, err := ParseSet(setJSON(t, jwk))
			wantRefused(t, err, receipt.CodeInvalidKeySet, "symmetric")
		}
	}
	if n != 5 {
		t.Errorf("%d files, expected 5", n)
	}
}

// TestCookbookRFC8037 verifies the example in RFC 8037 appendix A.4. The header has no kid, so the
// token is malformed as a receipt's signature, but the signature itself is valid.
func TestCookbookRFC8037(t *testing.T) {
	var c cookbook
	readVectors(t, "sig-jose-cookbook/curve25519", "jws.json", &c)
	k, err := ParsePrivate(toJSON(t, c.Input.Key))
	if err != nil {
		t.Fatal(err)
	}
	if got := reproduce(t, k, edDSA, "", c.Input.Payload); got != c.Output.Compact {
		t.Errorf("signing gave %s", got)
	}
	parts := strings.Split(c.Output.Compact, ".")
	detached := &token{text: parts[0] + ".." + parts[2], header: []byte(parts[0])}
	if err := k.Public().verifyToken(detached, []byte(c.Input.Payload)); err != nil {
		t.Error(err)
	}
	if err := k.Public().verifyToken(detached, []byte(c.Input.Payload+".")); err == nil {
		t.Error("another payload verifies")
	}
	wantCode(t, setOf(t, k.Public()), c.Input.Payload, entry(k.public.ID, edDSA, tokenPrefix+detached.text), receipt.CodeMalformedSignature)
}
