package keys

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"filippo.io/mldsa/x509"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
)

const (
	unsupported = receipt.CodeUnsupportedAlgorithm
	malformed   = receipt.CodeMalformedSignature
	unknown     = receipt.CodeUnknownKey
	mismatch    = receipt.CodeAlgorithmMismatch
	untrue      = receipt.CodeSignatureInvalid
	valid       = receipt.Code("")
)

// TestDocumentedVector verifies that a published signature over the upstream task receipt is valid
// for the documented message and for no other.
func TestDocumentedVector(t *testing.T) {
	set := mustSet(t, ed25519JWK(t, "key_2026_04", rfc8032Public))
	const overText = "base64:WbZ8sB4c76MvIDm9Oi8G7qbT7bL3EHYkYeFbUw+6wmCKBxh6f63z9XsBatwy5KaMb12N2gcJCTTkoVPCmlplAA=="
	const overDigest = "base64:BvfhsWCeTAbuJQQ+L5lsZ1B5g5aAqrZPLFiCtJ4NJVLz1ERF830UdPYuVzV96CoB50QJYdyphV2RQ8zDxJoKAQ=="
	wantCode(t, set, hashText, entry("key_2026_04", "ed25519", overText), valid)
	wantCode(t, set, hashText, entry("key_2026_04", "ed25519", overDigest), untrue)

	key := ed25519.NewKeyFromSeed(unhex(t, rfc8032Seed))
	if got := native(ed25519.Sign(key, []byte(hashText))); got != overText {
		t.Errorf("signing gave %s", got)
	}
	digest := unhex(t, hashText[len("sha256:"):])
	for _, message := range [][]byte{digest, []byte(hex.EncodeToString(digest)), []byte(hashText + "\n"), []byte(strings.ToUpper(hashText)), {}} {
		wantCode(t, set, hashText, entry("key_2026_04", "ed25519", native(ed25519.Sign(key, message))), untrue)
	}
	for _, options := range []*ed25519.Options{{Hash: crypto.SHA512}, {Context: "receipt"}, {Hash: crypto.SHA512, Context: "receipt"}} { // #131
		message := []byte(hashText)
		if options.Hash != 0 {
			h := options.Hash.New()
			h.Write(message)
			message = h.Sum(nil)
		}
		sig, err := key.Sign(nil, message, options)
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, set, hashText, entry("key_2026_04", "ed25519", native(sig)), untrue)
	}
}

// TestNativeForm verifies that a native value has exactly one valid form, and that the form is
// checked before the key (reliability #128, #140, #141).
func TestNativeForm(t *testing.T) {
	set := mustSet(t, ed25519JWK(t, "k", rfc8032Public), ecJWK("ec"))
	sig := ed25519.Sign(ed25519.NewKeyFromSeed(unhex(t, rfc8032Seed)), []byte(hashText))
	good := native(sig)
	text := good[len(nativePrefix):]
	for _, tc := range []struct{ name, value string }{
		{"63 bytes", native(sig[:63])},
		{"65 bytes", native(append(bytes.Clone(sig), 0))},
		{"empty", ""},
		{"prefix only", "base64:"},
		{"the upstream fixture", "base64:MEUCIQDexample"},
		{"no prefix", text},
		{"prefix in capitals", "BASE64:" + text},
		{"prefix twice", "base64:" + good},
		{"hex", "hex:" + hex.EncodeToString(sig)},
		{"hex of odd length", "base64:" + hex.EncodeToString(sig)[:127]},
		{"base64url", "base64:" + base64.URLEncoding.EncodeToString(sig)},
		{"unpadded", "base64:" + base64.RawStdEncoding.EncodeToString(sig)},
		{"padded once", good[:len(good)-1]},
		{"padded thrice", good + "="},
		{"unused bits", good[:len(good)-3] + string(good[len(good)-3]+1) + "=="},
		{"leading space", " " + good},
		{"space", "base64: " + text},
		{"trailing space", good + " "},
		{"line feed", good + "\n"},
		{"line feed inside", good[:50] + "\n" + good[50:]},
		{"line feed inside, right length", good[:50] + "\n" + good[51:]},
		{"four line feeds, right length", good[:50] + "\n\n\n\n" + good[54:]},
		{"CR LF", good[:60] + "\r\n" + good[60:]},
		{"NUL", good[:50] + "\x00" + good[51:]},
		{"a JWS", "jws:e30..AAAA"},
		{"10 MB", "base64:" + strings.Repeat("A", 10<<20)},
	} {
		for _, kid := range []string{"k", "ec", "unknown"} {
			if code := codeOf(set, []byte(hashText), entry(kid, "ed25519", tc.value)); code != malformed {
				t.Errorf("%s, key %s: %q", tc.name, kid, code)
			}
		}
	}
	for _, kid := range []string{"unknown", "", "K", "k ", "https://127.0.0.1:1/key", "../../dev/null", "' OR 1=1", strings.Repeat("k", 1<<20)} { // #139, #141, #154
		wantCode(t, set, hashText, entry(kid, "ed25519", good), unknown)
	}
	wantCode(t, set, hashText, entry("ec", "ed25519", good), mismatch)
	wantCode(t, set, hashText, entry("k", "ed25519", good), valid)
	for _, name := range []string{"Ed25519", "ED25519", "ed25519 ", "ed25519ph", "eddsa", "none", "None", "NONE", "nOnE", "", "HS256", "ES256K", "es256", "RSA-OAEP", "dir", strings.Repeat("x", 1<<20)} { // #140, #147, #148
		for _, value := range []string{good, "", "jws:e30..AAAA"} {
			wantCode(t, set, hashText, entry("k", name, value), unsupported)
		}
	}
}

// TestNativeDamage verifies that a native value with one damaged byte is never valid, and that most
// damage is detected without using the key.
func TestNativeDamage(t *testing.T) {
	set := mustSet(t, ed25519JWK(t, "k", rfc8032Public))
	good := []byte(native(ed25519.Sign(ed25519.NewKeyFromSeed(unhex(t, rfc8032Seed)), []byte(hashText))))
	count, step := map[receipt.Code]int{}, 5
	if testsize.Full() {
		step = 1
	}
	tried := 0
	for i := range good {
		for b := i % step; b < 256; b += step {
			if byte(b) == good[i] {
				continue
			}
			tried++
			value := bytes.Clone(good)
			value[i] = byte(b)
			count[codeOf(set, []byte(hashText), entry("k", "ed25519", string(value)))]++
		}
	}
	if count[valid] != 0 || count[malformed]+count[untrue] != tried || tried < 254*len(good)/step-len(good) || count[untrue] < 85*63/step-85 {
		t.Errorf("%v", count)
	}
}

// TestSignThenDamage verifies that signatures with every algorithm are valid, and that any change
// makes them invalid (reliability #329).
func TestSignThenDamage(t *testing.T) {
	for _, name := range Algorithms() {
		k := testKeys()[name]
		set := setOf(t, k.Public())
		sig := signWith(t, k)
		e := entryOf(sig)
		wantCode(t, set, hashText, e, valid)
		step, slow := 13, 61 // these steps reach every bit of each byte
		if testsize.Full() {
			step, slow = 1, 11
		}
		if name != Ed25519 && name != edDSA && name != es256 {
			step = slow
		}
		for bit := 0; bit < 8*len(hashText); bit += step {
			if code := codeOf(set, flip([]byte(hashText), bit), e); code != untrue {
				t.Fatalf("%s: bit %d of the message flipped: %q", name, bit, code)
			}
		}
		raw, pack := rawSignature(t, sig.Signature)
		for bit := 0; bit < 8*len(raw); bit += step {
			e.Signature = []byte(pack(flip(raw, bit)))
			if code := codeOf(set, []byte(hashText), e); code != untrue {
				t.Fatalf("%s: bit %d of the signature flipped: %q", name, bit, code)
			}
		}
		for _, other := range [][]byte{nil, raw[:len(raw)-1], append(bytes.Clone(raw), 0), make([]byte, len(raw))} {
			e.Signature = []byte(pack(other))
			if code := codeOf(set, []byte(hashText), e); code != malformed && code != untrue {
				t.Fatalf("%s: %d bytes: %q", name, len(other), code)
			}
		}
		wantCode(t, set, "", entryOf(sig), untrue)
		if code := codeOf(set, nil, entryOf(sig)); code != untrue {
			t.Errorf("%s: nil message: %q", name, code)
		}
	}
}

// TestAlgorithmConfusion verifies that the key determines the algorithm, for every combination of
// key and algorithm (reliability #145, #148, #149).
func TestAlgorithmConfusion(t *testing.T) {
	for ours, k := range testKeys() {
		named, err := newPrivate(k.key, "k", ours)
		if err != nil {
			t.Fatal(err)
		}
		set := setOf(t, named.Public())
		for theirs, other := range testKeys() {
			value := native(make([]byte, 64))
			if theirs != Ed25519 {
				other, err := newPrivate(other.key, "k", theirs)
				if err != nil {
					t.Fatal(err)
				}
				value = forge(t, other, `{"alg":"`+theirs+`","kid":"k"}`)
			}
			want := mismatch
			switch {
			case theirs == Ed25519 && (ours == Ed25519 || ours == edDSA), ours == Ed25519 && theirs == edDSA:
				// An Ed25519 key supports both algorithms, but this value consists of zeros or was
				// created with another key.
				want = untrue
			case ours == theirs:
				want = valid
			}
			if code := codeOf(set, []byte(hashText), entry("k", theirs, value)); code != want {
				t.Errorf("key for %s, signature %s: %q, want %q", ours, theirs, code, want)
			}
		}
		// #148: HMAC with the public key as the secret.
		for _, secret := range [][]byte{toJSON(t, named.Public()), mustDER(t, named)} {
			for _, alg := range []string{"HS256", ours} {
				first := encodeURL([]byte(`{"alg":"` + alg + `","kid":"k"}`))
				mac := hmac.New(sha256.New, secret)
				fmt.Fprintf(mac, "%s.%s", first, encodeURL([]byte(hashText)))
				code := codeOf(set, []byte(hashText), entry("k", alg, tokenPrefix+first+".."+encodeURL(mac.Sum(nil))))
				if code != unsupported && code != malformed {
					t.Errorf("%s: %q", alg, code)
				}
			}
		}
	}
}

func mustDER(tb testing.TB, k *PrivateKey) []byte {
	tb.Helper()
	der, err := x509.MarshalPKIXPublicKey(k.Public().Crypto())
	if err != nil {
		tb.Fatal(err)
	}
	return der
}

// TestPSSSalt verifies that only a salt as long as the hash is accepted (reliability #144).
func TestPSSSalt(t *testing.T) {
	key := testKeys()[ps256].key.(*rsa.PrivateKey)
	for _, name := range []string{ps256, ps384, ps512} {
		k, err := newPrivate(key, "k", name)
		if err != nil {
			t.Fatal(err)
		}
		set := setOf(t, k.Public())
		alg, _ := algorithmOf(name)
		first := encodeURL([]byte(`{"alg":"` + name + `","kid":"k"}`))
		h := alg.hash.New()
		h.Write([]byte(first + "." + encodeURL([]byte(hashText))))
		digest := h.Sum(nil)
		for _, salt := range []int{rsa.PSSSaltLengthAuto, 1, 20, 32, 48, 64, 100} { // automatic: the longest possible salt
			sig, err := rsa.SignPSS(zeros{}, key, alg.hash, digest, &rsa.PSSOptions{SaltLength: salt})
			if err != nil {
				t.Fatal(err)
			}
			want := untrue
			if salt == alg.hash.Size() {
				want = valid
			}
			if code := codeOf(set, []byte(hashText), entry("k", name, tokenPrefix+first+".."+encodeURL(sig))); code != want {
				t.Errorf("%s with a salt of %d: %q", name, salt, code)
			}
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestTwoIssuers verifies that, if one file contains the keys of two issuers, a signature is
// accepted only for the key that it names.
func TestTwoIssuers(t *testing.T) {
	one, two := testKeys()[Ed25519], testKeys()[edDSA]
	a, b := one.Public(), two.Public()
	a.ID, a.Issuers = "key", []string{"issuer-a"}
	b.ID, b.Issuers = "key 2", []string{"issuer-b"}
	set := setOf(t, a, b)
	sig := ed25519.Sign(one.key.(ed25519.PrivateKey), []byte(hashText))
	k, err := set.CheckSignature([]byte(hashText), entry("key", "ed25519", native(sig)))
	if err != nil || fmt.Sprint(k.Issuers) != "[issuer-a]" {
		t.Errorf("%v, %v", k, err)
	}
	k, err = set.CheckSignature([]byte(hashText), entry("key 2", "ed25519", native(sig)))
	if err == nil || err.Code != untrue || fmt.Sprint(k.Issuers) != "[issuer-b]" {
		t.Errorf("%v, %v", k, err)
	}
}

// TestSameMaterial verifies that the same key under two IDs has the same thumbprint (reliability
// #137).
func TestSameMaterial(t *testing.T) {
	set := mustSet(t, ed25519JWK(t, "a", rfc8032Public), ed25519JWK(t, "b", rfc8032Public).with(object{"alg": "EdDSA"}))
	value := native(ed25519.Sign(ed25519.NewKeyFromSeed(unhex(t, rfc8032Seed)), []byte(hashText)))
	a, _ := set.CheckSignature([]byte(hashText), entry("a", "ed25519", value))
	b, _ := set.CheckSignature([]byte(hashText), entry("b", "ed25519", value))
	if a.ID == b.ID || a.Thumbprint != b.Thumbprint {
		t.Errorf("%v, %v", a, b)
	}
}

// TestNativeAllocations verifies that checking a valid native signature allocates no memory, with
// or without a table.
func TestNativeAllocations(t *testing.T) {
	set := mustSet(t, ed25519JWK(t, "k", rfc8032Public))
	e := entry("k", "ed25519", native(ed25519.Sign(ed25519.NewKeyFromSeed(unhex(t, rfc8032Seed)), []byte(hashText))))
	message := []byte(hashText)
	check := func() {
		if _, err := set.CheckSignature(message, e); err != nil {
			t.Fatal(err)
		}
	}
	for _, hot := range []bool{false, true} {
		if hot {
			heat(set)
		}
		if n := testing.AllocsPerRun(50, check); n != 0 {
			t.Errorf("%v allocations, with a table: %v", n, hot)
		}
		if made := set.byID["k"].table.Load() != nil; made != hot {
			t.Errorf("a table: %v, expected %v", made, hot)
		}
	}
}

// TestDetails verifies that messages escape and truncate the untrusted text that they quote.
func TestDetails(t *testing.T) {
	set := mustSet(t, ed25519JWK(t, "k", rfc8032Public))
	hostile := "\x1b[31m\u202e" + strings.Repeat("é", 1000)
	value := native(make([]byte, 64))
	token, _ := json.Marshal(object{"alg": es256, "kid": "k", hostile: 1})
	for _, e := range []*receipt.Entry{
		entry(hostile, "ed25519", value), entry("k", hostile, value), entry("k", es256, tokenPrefix+encodeURL(token)+"..AAAA"),
	} {
		_, err := set.CheckSignature([]byte(hashText), e)
		for _, r := range err.Error() {
			if r < 0x20 || r > 0x7e && r != '…' {
				t.Fatalf("%q", err.Error())
			}
		}
		if len(err.Error()) > 700 {
			t.Errorf("%d bytes: %s", len(err.Error()), err)
		}
	}
}

// TestRandomTokens verifies that random tokens neither panic nor verify.
func TestRandomTokens(t *testing.T) {
	set := setOf(t, testKeys()[es256].Public(), testKeys()[rs256].Public(), testKeys()[Ed25519].Public())
	random := rand.New(rand.NewPCG(1, 2))
	ids := []string{testKeys()[es256].public.ID, testKeys()[rs256].public.ID, testKeys()[Ed25519].public.ID}
	for range 2000 {
		b := make([]byte, random.IntN(300))
		for i := range b {
			b[i] = "jws:base64.{}\"alg=ES256\x00\n,_-AAAA"[random.IntN(32)]
		}
		name := Algorithms()[random.IntN(len(Algorithms()))]
		if code := codeOf(set, []byte(hashText), entry(ids[random.IntN(3)], name, string(b))); code == valid {
			t.Fatalf("%q is valid", b)
		}
	}
}

func BenchmarkCheckSignature(b *testing.B) {
	for _, name := range Algorithms() {
		k := testKeys()[name]
		set, e := setOf(b, k.Public()), entryOf(signWith(b, k))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			message := []byte(hashText)
			for b.Loop() {
				if _, err := set.CheckSignature(message, e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
