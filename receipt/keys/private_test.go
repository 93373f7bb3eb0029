package keys

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/receiptkit/receiptkit/receipt"
)

func TestPrivateRoundTrip(t *testing.T) {
	for _, name := range Algorithms() {
		k := testKeys()[name]
		data, err := k.MarshalPrivate()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParsePrivate(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again.public.ID != k.public.ID || again.algorithm != name || again.Public().Thumbprint != k.Public().Thumbprint {
			t.Errorf("%s: %v", name, again)
		}
		twice, err := again.MarshalPrivate()
		if err != nil || !bytes.Equal(data, twice) {
			t.Errorf("%s: %s", name, twice)
		}
		public := toJSON(t, k.Public())
		if _, err := ParseSet(setJSON(t, json.RawMessage(public))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := ParsePrivate(public); err == nil || !strings.Contains(err.Error(), "public key") {
			t.Errorf("%s: %v", name, err)
		}
		_, err = ParseSet(setJSON(t, json.RawMessage(data)))
		wantRefused(t, err, receipt.CodeInvalidKeySet, "private")
	}
}

// TestGenerateFromSeed verifies that the seed from RFC 8032 TEST 1 produces the key in that test.
func TestGenerateFromSeed(t *testing.T) {
	k, err := Generate(bytes.NewReader(unhex(t, rfc8032Seed)), Ed25519, "")
	if err != nil {
		t.Fatal(err)
	}
	if k.public.ID != "ed25519:21fe31dfa154a261626bf854046fd227" {
		t.Error(k.public.ID)
	}
	if got, want := string(toJSON(t, k.Public())), `{"kid":"ed25519:21fe31dfa154a261626bf854046fd227","kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","alg":"Ed25519"}`; got != want {
		t.Errorf("%s", got)
	}
	data, err := k.MarshalPrivate()
	if err != nil || !strings.HasSuffix(string(data), `,"d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}`+"\n") {
		t.Errorf("%s, %v", data, err)
	}
	if _, err := Generate(bytes.NewReader(nil), Ed25519, ""); err == nil {
		t.Error("a key without randomness")
	}
	if _, err := Generate(nil, Ed25519, ""); err == nil {
		t.Error("a key without a source")
	}
	if _, err := Generate(rand.Reader, "HS256", ""); err == nil {
		t.Error("a key for HS256")
	}
	if k, err := Generate(rand.Reader, rs256, "r"); err != nil || k.Public().Crypto().(*rsa.PublicKey).N.BitLen() != rsaBits {
		t.Error(k, err)
	}
}

func TestParsePrivateRefused(t *testing.T) {
	private := func(name string, members object) []byte {
		data, err := testKeys()[name].MarshalPrivate()
		if err != nil {
			t.Fatal(err)
		}
		var o object
		if err := json.Unmarshal(data, &o); err != nil {
			t.Fatal(err)
		}
		return toJSON(t, o.with(members))
	}
	zero, long := encodeURL(make([]byte, 32)), encodeURL(bytes.Repeat([]byte{0xff}, 10_000))
	for _, tc := range []struct {
		name string
		data []byte
		part string
	}{
		{"134 another seed", private(Ed25519, object{"d": encodeURL(bytes.Repeat([]byte{7}, 32))}), "not one key"},
		{"short seed", private(Ed25519, object{"d": encodeURL(make([]byte, 31))}), "31 bytes"},
		{"64-byte key", private(Ed25519, object{"d": encodeURL(make([]byte, 64))}), "64 bytes"},
		{"weak public", private(Ed25519, object{"x": zero}), "low order"},
		{"EC zero", private(es256, object{"d": zero}), "not one key"},
		{"EC another", private(es256, object{"d": encodeURL(bytes.Repeat([]byte{7}, 32))}), "not one key"},
		{"EC above the order", private(es256, object{"d": encodeURL(bytes.Repeat([]byte{0xff}, 32))}), "not one key"},
		{"EC short", private(es256, object{"d": "AQ"}), "1 bytes"},
		{"RSA d", private(rs256, object{"d": "AQ"}), "not one key"},
		{"RSA p", private(rs256, object{"p": "Aw"}), "not one key"},
		{"RSA d of 80,000 bits", private(rs256, object{"d": long}), "not one key"},
		{"RSA p of 80,000 bits", private(rs256, object{"p": long}), "not one key"},
		{"RSA d, p and q of 80,000 bits", private(rs256, object{"d": long, "p": long, "q": long}), "not one key"},
		{"RSA p = n", private(rs256, object{"p": encodeURL(testKeys()[rs256].Public().Crypto().(*rsa.PublicKey).N.Bytes()), "q": "AQ"}), "not one key"},
		{"RSA without q", private(rs256, object{"q": nil}), "expected q"},
		{"RSA dp", private(rs256, object{"dp": "AQ"}), "dp does not belong"},
		{"RSA qi", private(rs256, object{"qi": "AQ"}), "qi does not belong"},
		{"RSA oth", private(rs256, object{"oth": []any{}}), "two primes"},
		{"RSA without alg", private(rs256, object{"alg": nil}), "no alg"},
		{"use", private(Ed25519, object{"use": "enc"}), `use is "enc"`},
		{"key_ops", private(Ed25519, object{"key_ops": []string{"verify"}}), `does not contain "sign"`},
		{"alg of another type", private(es256, object{"alg": "ES384"}), "ES384"},
		{"alg empty", private(es256, object{"alg": ""}), "alg as a string"},
		{"kid empty", private(es256, object{"kid": ""}), "not empty"},
		{"kid number", private(es256, object{"kid": 1}), "not empty"},
		{"oct", toJSON(t, object{"kty": "oct", "k": "c2VjcmV0"}), "symmetric"},
		{"a set", setJSON(t, ecJWK("k")), "JWK Set"},
		{"PEM", []byte("-----BEGIN PRIVATE KEY-----\n"), "PEM"},
		{"an array", []byte("[]"), "JSON object"},
		{"no type", []byte("{}"), "the key type"},
		{"empty", nil, "key file"},
		{"large", append(bytes.Repeat([]byte{' '}, 1<<20), "{}"...), "key file"},
	} {
		k, err := ParsePrivate(tc.data)
		if k != nil {
			t.Errorf("%s: returned a key and an error", tc.name)
		}
		if e, ok := errors.AsType[*SetError](err); !ok || !strings.Contains(e.Error(), tc.part) {
			t.Errorf("%s: %v", tc.name, err)
		} else if len(err.Error()) > 400 {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	for _, tc := range []struct {
		alg  any
		want string
	}{{nil, Ed25519}, {"Ed25519", Ed25519}, {"ed25519", Ed25519}, {"EdDSA", edDSA}} {
		k, err := ParsePrivate(private(Ed25519, object{"alg": tc.alg, "kid": nil}))
		if err != nil || k.algorithm != tc.want || k.public.ID != testKeys()[Ed25519].public.ID {
			t.Errorf("%v: %v, %v", tc.alg, k, err)
		}
	}
	if _, err := ParsePrivate(private(rs256, object{"dp": nil, "dq": nil, "qi": nil})); err != nil {
		t.Error(err)
	}
}

// TestCheckPrimes verifies that numbers that cannot belong to an RSA key are rejected before
// crypto/rsa computes with them.
func TestCheckPrimes(t *testing.T) {
	large := new(big.Int).Lsh(big.NewInt(1), maxModulus) // has one bit more than maxModulus
	for _, tc := range []struct {
		n       *big.Int
		d, p, q int64
		ok      bool
	}{
		{big.NewInt(15), 1, 1, 1, true}, {big.NewInt(15), 14, 14, 14, true}, {new(big.Int).Rsh(large, 1), 3, 3, 5, true}, {large, 3, 3, 5, false},
		{big.NewInt(15), 0, 3, 5, false}, {big.NewInt(15), -1, 3, 5, false}, {big.NewInt(15), 15, 3, 5, false},
		{big.NewInt(15), 3, 0, 5, false}, {big.NewInt(15), 3, -1, 5, false}, {big.NewInt(15), 3, 15, 5, false},
		{big.NewInt(15), 3, 3, 0, false}, {big.NewInt(15), 3, 3, -1, false}, {big.NewInt(15), 3, 3, 15, false},
	} {
		if err := checkPrimes(tc.n, big.NewInt(tc.d), big.NewInt(tc.p), big.NewInt(tc.q)); (err == nil) != tc.ok {
			t.Errorf("%d bits, d = %d, p = %d, q = %d: %v", tc.n.BitLen(), tc.d, tc.p, tc.q, err)
		}
	}
}

// TestThreePrimes verifies that an RSA key with three primes is not written as a JWK, which would
// contain only two of them.
func TestThreePrimes(t *testing.T) {
	list, err := privateMembers(&rsa.PrivateKey{D: big.NewInt(1), Primes: []*big.Int{big.NewInt(3), big.NewInt(5), big.NewInt(7)}})
	if list != nil || err == nil || !strings.Contains(err.Error(), "more than two primes") {
		t.Errorf("%d members, %v", len(list), err)
	}
}

// TestGenerateWithoutRandom verifies that no key is generated if the random source fails.
func TestGenerateWithoutRandom(t *testing.T) {
	failed := errors.New("no entropy")
	for _, name := range []string{MLDSA44, mldsa65} {
		if key, err := Generate(iotest.ErrReader(failed), name, ""); key != nil || !errors.Is(err, failed) {
			t.Errorf("%s: %v, %v", name, key, err)
		}
	}
}
