package keys

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/receiptkit/receiptkit/receipt"
)

// A service is a remote key.
type service struct {
	public crypto.PublicKey
	key    crypto.Signer
	sign   func(ctx context.Context, data []byte, opts crypto.SignerOpts) ([]byte, error) // nil: with key
}

func (s *service) Public() crypto.PublicKey { return s.public }

func (s *service) SignContext(ctx context.Context, data []byte, opts crypto.SignerOpts) ([]byte, error) {
	if s.sign != nil {
		return s.sign(ctx, data, opts)
	}
	return s.key.Sign(rand.Reader, data, opts)
}

func TestRemoteSigner(t *testing.T) {
	for _, name := range Algorithms() {
		k := testKeys()[name]
		s, err := NewRemoteSigner("remote", name, &service{public: k.Public().Crypto(), key: k.key}, clock)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sig, err := s.Sign(context.Background(), []byte(hashText))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if sig.KeyID != "remote" || sig.Algorithm != name || !sig.SignedAt.Equal(testTime) {
			t.Errorf("%+v", sig)
		}
		wantCode(t, setOf(t, s.Public()), hashText, entryOf(sig), valid)
		e := entryOf(sig)
		e.SignedAt = []byte("2026-04-25T19:17:34Z")
		want := malformed // iat protects it
		if name == Ed25519 {
			want = valid // no step does
		}
		wantCode(t, setOf(t, s.Public()), hashText, e, want)
	}
}

// A hashing service receives messages and hashes them itself.
type hashing struct{ service }

func (s *hashing) SignMessageContext(_ context.Context, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	return crypto.SignMessage(s.key, rand.Reader, message, opts)
}

// TestRemoteSignerOfMessages verifies that a service that hashes messages itself receives the
// message and not the digest.
func TestRemoteSignerOfMessages(t *testing.T) {
	digests := func(context.Context, []byte, crypto.SignerOpts) ([]byte, error) {
		return nil, errors.New("this is no message")
	}
	for _, name := range Algorithms() {
		k := testKeys()[name]
		s, err := NewRemoteSigner("remote", name, &hashing{service{public: k.Public().Crypto(), key: k.key, sign: digests}}, clock)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sig, err := s.Sign(context.Background(), []byte(hashText))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantCode(t, setOf(t, s.Public()), hashText, entryOf(sig), valid)
	}
}

func TestSignerWithoutClock(t *testing.T) {
	for _, name := range []string{Ed25519, es256} {
		k := testKeys()[name]
		sig, err := NewSigner(k, nil).Sign(context.Background(), []byte(hashText))
		if err != nil || !sig.SignedAt.IsZero() {
			t.Fatal(sig, err)
		}
		wantCode(t, setOf(t, k.Public()), hashText, entryOf(sig), valid)
		if text := string(toJSON(t, sig)); strings.Contains(text, "signed_at") {
			t.Error(text)
		}
		if header := encodeURL([]byte(`{"alg":"ES256","kid":"` + k.public.ID + `"}`)); name == es256 && !strings.HasPrefix(sig.Signature, tokenPrefix+header+"..") {
			t.Error(sig.Signature)
		}
	}
}

// TestSignerRefusesOtherMessages verifies that Sign refuses messages that only resemble a
// receipt hash.
func TestSignerRefusesOtherMessages(t *testing.T) {
	for _, message := range []string{"", "x", hashText[7:], hashText + "\n", strings.ToUpper(hashText), strings.Repeat("a", 71)} {
		sig, err := NewSigner(testKeys()[Ed25519], clock).Sign(context.Background(), []byte(message))
		if !errors.Is(err, errNotHash) || sig != (receipt.Signature{}) {
			t.Errorf("%q: %v, %v", message, sig, err)
		}
	}
}

// TestRemoteSignerConfirms verifies that the signer never returns an invalid result from a broken
// service.
func TestRemoteSignerConfirms(t *testing.T) {
	ed, es := testKeys()[Ed25519], testKeys()[es256]
	_, foreign, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	foreignEC, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	returns := func(b []byte, err error) func(context.Context, []byte, crypto.SignerOpts) ([]byte, error) {
		return func(context.Context, []byte, crypto.SignerOpts) ([]byte, error) { return b, err }
	}
	outage := errors.New("outage")
	for _, tc := range []struct {
		name, algorithm string
		service         *service
		part            string
	}{
		{"another key", Ed25519, &service{public: ed.Public().Crypto(), key: foreign}, "does not verify"},
		{"another key, JWS", edDSA, &service{public: ed.Public().Crypto(), key: foreign}, "does not verify"},
		{"another EC key", es256, &service{public: es.Public().Crypto(), key: foreignEC}, "does not verify"},
		{"63 bytes", Ed25519, &service{public: ed.Public().Crypto(), sign: returns(make([]byte, 63), nil)}, "63 bytes"},
		{"nothing", edDSA, &service{public: ed.Public().Crypto(), sign: returns(nil, nil)}, "0 bytes"},
		{"no DER", es256, &service{public: es.Public().Crypto(), sign: returns(make([]byte, 64), nil)}, "ASN.1"},
		{"negative", es256, &service{public: es.Public().Crypto(), sign: returns([]byte{0x30, 6, 2, 1, 0xff, 2, 1, 1}, nil)}, "ASN.1"},
		{"trailing", es256, &service{public: es.Public().Crypto(), sign: returns([]byte{0x30, 6, 2, 1, 1, 2, 1, 1, 0}, nil)}, "ASN.1"},
		{"too long", es256, &service{public: es.Public().Crypto(), sign: returns(append([]byte{0x30, 40, 2, 33, 1}, append(make([]byte, 32), 2, 3, 1, 0, 0)...), nil)}, "ASN.1"},
		{"RSA of another size", rs256, &service{public: testKeys()[rs256].Public().Crypto(), sign: returns(make([]byte, 257), nil)}, "does not verify"},
		{"an error", ps256, &service{public: testKeys()[ps256].Public().Crypto(), sign: returns(nil, outage)}, "outage"},
	} {
		s, err := NewRemoteSigner("k", tc.algorithm, tc.service, clock)
		if err != nil {
			t.Fatal(err)
		}
		sig, err := s.Sign(context.Background(), []byte(hashText))
		if err == nil || !strings.Contains(err.Error(), tc.part) || sig != (receipt.Signature{}) {
			t.Errorf("%s: %v, %v", tc.name, sig, err)
		}
		if tc.part == "outage" && !errors.Is(err, outage) {
			t.Errorf("the service's error is lost: %v", err)
		}
	}
}

func TestRemoteSignerRefused(t *testing.T) {
	ed := &service{public: testKeys()[Ed25519].Public().Crypto()}
	rsaKey := &service{public: testKeys()[rs256].Public().Crypto()}
	weakKey := &service{public: ed25519.PublicKey(make([]byte, 32))}
	for _, tc := range []struct {
		algorithm string
		s         ContextSigner
		part      string
	}{
		{es256, ed, "Ed25519 key"}, {rs256, ed, "Ed25519 key"}, {edDSA, rsaKey, "RSA key"}, {es384, rsaKey, "RSA key"},
		{"HS256", ed, "must be one of"}, {"", ed, "must be one of"}, {"Ed25519", ed, "must be one of"},
		{Ed25519, weakKey, "low order"}, {Ed25519, nil, "signer is missing"},
		{Ed25519, &service{public: []byte("x")}, "type []uint8"}, {es256, &service{public: (*ecdsa.PublicKey)(nil)}, "without a curve"},
	} {
		s, err := NewRemoteSigner("k", tc.algorithm, tc.s, nil)
		if s != nil || err == nil || !strings.Contains(err.Error(), tc.part) {
			t.Errorf("%s: %v", tc.algorithm, err)
		}
	}
	if _, err := NewRemoteSigner("\xff", Ed25519, ed, nil); err == nil {
		t.Error("accepted an ID that is not UTF-8")
	}
}

func TestSignerContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	k := testKeys()[es256]
	waits := &service{public: k.Public().Crypto(), sign: func(ctx context.Context, _ []byte, _ crypto.SignerOpts) ([]byte, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	late := &service{public: k.Public().Crypto(), sign: func(_ context.Context, data []byte, opts crypto.SignerOpts) ([]byte, error) {
		return k.key.Sign(rand.Reader, data, opts) // the context ended while the service signed
	}}
	for _, s := range []*service{waits, late} {
		signer, err := NewRemoteSigner("k", es256, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := signer.Sign(ctx, []byte(hashText)); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	for _, name := range Algorithms() {
		if _, err := NewSigner(testKeys()[name], nil).Sign(ctx, []byte(hashText)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{Ed25519, es256} {
		s := NewSigner(testKeys()[name], nil)
		if sig, err := s.Sign(ctx, []byte(envelopeText)); !errors.Is(err, context.Canceled) || sig != (receipt.Signature{}) {
			t.Errorf("%s, envelope: %v, %v", name, sig, err)
		}
		if sig, err := s.SignCOSE(ctx, []byte(coseMark)); !errors.Is(err, context.Canceled) || sig != nil {
			t.Errorf("%s, COSE: %v, %v", name, sig, err)
		}
		if token, err := s.SignObject(ctx, []byte("{}")); !errors.Is(err, context.Canceled) || token != "" {
			t.Errorf("%s, object: %v, %v", name, token, err)
		}
	}
}

// TestSignerTimes verifies that times before 1970 are rounded down, both when signing and when
// verifying.
func TestSignerTimes(t *testing.T) {
	k := testKeys()[edDSA]
	for _, at := range []time.Time{time.Unix(0, 0), time.Unix(-1, 5e8), time.Unix(-2, 999_999_999), time.Date(2016, 12, 31, 23, 59, 59, 999_999_999, time.FixedZone("", 3600))} {
		s, err := NewRemoteSigner("k", edDSA, &service{public: k.Public().Crypto(), key: k.key}, func() time.Time { return at })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Sign(context.Background(), []byte(hashText)); err != nil {
			t.Errorf("%v: %v", at, err)
		}
	}
}

// TestPrintingHidesSecrets verifies that no formatting verb prints a private key.
func TestPrintingHidesSecrets(t *testing.T) {
	for _, name := range []string{Ed25519, es256, rs256} {
		k := testKeys()[name]
		secret, err := privateMembers(k.key)
		if err != nil {
			t.Fatal(err)
		}
		s := NewSigner(k, nil)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
			for _, v := range []any{k, *k, s, *s, []any{k, s}, struct{ K *PrivateKey }{k}} {
				text := fmt.Sprintf(verb, v)
				if strings.Contains(text, string(secret[0].value[1:20])) || len(text) > 200 {
					t.Errorf("%s of %T shows %s", verb, v, text)
				}
			}
		}
		if text := string(toJSON(t, k)); text != "{}" {
			t.Errorf("json.Marshal shows %s", text)
		}
	}
}

// TestSignObjects verifies that the key of the signer confirms what SignCOSE and SignObject return, and
// that a value of a service with another key is not returned.
func TestSignObjects(t *testing.T) {
	structure := []byte(coseMark + "\x40\x40\x40")
	for _, name := range []string{Ed25519, edDSA, es256} {
		k := testKeys()[name]
		s := NewSigner(k, clock)
		value, err := s.SignCOSE(t.Context(), structure)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := checkRaw(s.public, structure, &receipt.ForeignSignature{Value: value}); err != nil {
			t.Errorf("%s: %v", name, err)
		}

		token, err := s.SignObject(t.Context(), []byte(`{"a":1}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA, jose.ES256})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if object, err := jws.Verify(k.Public().Crypto()); err != nil || string(object) != `{"a":1}` {
			t.Errorf("%s: %q, %v", name, object, err)
		}

		other, err := Generate(rand.Reader, name, "other")
		if err != nil {
			t.Fatal(err)
		}
		wrong, err := NewRemoteSigner("k", name, &service{public: k.Public().Crypto(), key: other.key}, clock)
		if err != nil {
			t.Fatal(err)
		}
		if value, err := wrong.SignCOSE(t.Context(), structure); err == nil || value != nil {
			t.Errorf("%s: a signature of another key is returned", name)
		}
		if token, err := wrong.SignObject(t.Context(), []byte(`{}`)); err == nil || token != "" {
			t.Errorf("%s: a token of another key is returned", name)
		}
	}
}

// TestFixedWidth verifies that an ASN.1 ECDSA signature is converted only if both numbers are
// positive and fit, and nothing follows them.
func TestFixedWidth(t *testing.T) {
	largest := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	larger := new(big.Int).Add(largest, big.NewInt(1))
	for name, c := range map[string]struct {
		r, s *big.Int
		more string
		ok   bool
	}{
		"smallest":    {big.NewInt(1), big.NewInt(1), "", true},
		"largest":     {largest, largest, "", true},
		"r is 0":      {big.NewInt(0), big.NewInt(1), "", false},
		"s is 0":      {big.NewInt(1), big.NewInt(0), "", false},
		"r below 0":   {big.NewInt(-1), big.NewInt(1), "", false},
		"s below 0":   {big.NewInt(1), big.NewInt(-1), "", false},
		"r too large": {larger, big.NewInt(1), "", false},
		"s too large": {big.NewInt(1), larger, "", false},
		"more data":   {big.NewInt(1), big.NewInt(1), "a", false},
	} {
		der, err := asn1.Marshal(struct{ R, S *big.Int }{c.r, c.s})
		if err != nil {
			t.Fatal(err)
		}
		sig, err := fixedWidth(append(der, c.more...), 64)
		if !c.ok {
			if sig != nil || err == nil || err.Error() != "signer returned an invalid ASN.1 ECDSA signature" {
				t.Errorf("%s: %x, %v", name, sig, err)
			}
			continue
		}
		if err != nil || len(sig) != 64 || new(big.Int).SetBytes(sig[:32]).Cmp(c.r) != 0 || new(big.Int).SetBytes(sig[32:]).Cmp(c.s) != 0 {
			t.Errorf("%s: %x, %v", name, sig, err)
		}
	}
	if _, err := fixedWidth([]byte("a"), 64); err == nil {
		t.Error("text is converted")
	}
}
