package keys

import (
	"bytes"
	"context"
	"crypto"
	"encoding/asn1"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"filippo.io/mldsa"
	"filippo.io/mldsa/x509"

	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// akp returns the JWK of an ML-DSA public key that is derived from a letter.
func akp(t *testing.T, kid, algorithm, letter string) object {
	t.Helper()
	k, err := Generate(strings.NewReader(strings.Repeat(letter, mldsa.PrivateKeySize)), algorithm, kid)
	if err != nil {
		t.Fatal(err)
	}
	var jwk object
	if err := json.Unmarshal(toJSON(t, k.Public()), &jwk); err != nil {
		t.Fatal(err)
	}
	return jwk
}

// TestThumbprintMLDSA verifies the JWK and the thumbprint (RFC 9964) for the seed that consists of
// 32 zero bytes.
func TestThumbprintMLDSA(t *testing.T) {
	k, err := Generate(bytes.NewReader(make([]byte, 32)), MLDSA44, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := k.Public().Fingerprint(); got != "T4xl70S7MT6Zeq6r9V9fPJGVn76wfnXJ21-gyo0Gu6o" {
		t.Errorf("thumbprint %s", got)
	}
	text := string(toJSON(t, k.Public()))
	if !strings.HasPrefix(text, `{"kid":"`+k.Public().ID+`","kty":"AKP","alg":"ML-DSA-44","pub":"unH59k4Ru`) || strings.Count(text, "alg") != 1 {
		t.Errorf("%.120s", text)
	}
	if !strings.HasPrefix(k.Public().ID, "ml-dsa-44:") {
		t.Error(k.Public().ID)
	}
}

// TestWycheproofMLDSA65 verifies signatures with trusted keys. Signatures with a context are
// invalid, because a receipt's signature has no context.
func TestWycheproofMLDSA65(t *testing.T) {
	var file struct {
		TestGroups []struct {
			PublicKey string
			Tests     []struct {
				TcID                           int
				Msg, Sig, Ctx, Result, Comment string
			}
		}
	}
	readVectors(t, "mldsa/testvectors_v1", "mldsa_65_verify_test.json", &file)
	judged, good := 0, 0
	for _, g := range file.TestGroups {
		set, err := ParseSet(setJSON(t, object{"kid": "k", "kty": "AKP", "alg": "ML-DSA-65", "pub": encodeURL(unhex(t, g.PublicKey))}))
		for _, c := range g.Tests {
			judged++
			want := c.Result == "valid" && c.Ctx == ""
			if err != nil { // a key of another length
				if want {
					t.Errorf("%d: %v", c.TcID, err)
				}
				continue
			}
			message, signature := unhex(t, c.Msg), unhex(t, c.Sig)
			_, bad := set.CheckRaw(message, &receipt.ForeignSignature{KeyID: "k", Algorithm: mldsa65, Value: signature})
			if (bad == nil) != want {
				t.Errorf("%d: %v, expected %s: %s", c.TcID, bad, c.Result, c.Comment)
			}
			if want {
				good++
			}
		}
	}
	if judged < 210 || good < 60 {
		t.Errorf("%d tests, %d valid", judged, good)
	}
}

// TestMLDSARefused verifies that a key set or a private key is rejected if any of its members is
// invalid.
func TestMLDSARefused(t *testing.T) {
	jwk := akp(t, "k", mldsa65, "a")
	pub := jwk["pub"].(string)
	for name, change := range map[string]object{
		"no alg":           {"alg": nil},
		"another alg":      {"alg": "ES256"},
		"other parameters": {"alg": "ML-DSA-87"},
		"alg of 44":        {"alg": "ML-DSA-44"},
		"short":            {"pub": pub[:len(pub)-4]},
		"padded":           {"pub": pub + "="},
		"no pub":           {"pub": nil},
		"a seed":           {"priv": encodeURL(make([]byte, 32))},
		"crv":              {"crv": "Ed25519"},
		"x":                {"x": "AA"},
	} {
		changed := jwk.with(change)
		for member, value := range change {
			if value == nil {
				delete(changed, member)
			}
		}
		if _, err := ParseSet(setJSON(t, changed)); err == nil {
			t.Errorf("%s: accepted", name)
		} else if e := wantRefused(t, err, receipt.CodeInvalidKeySet, ""); e.KeyID != "k" {
			t.Errorf("%s: %v", name, err)
		}
	}

	private := jwk.with(object{"priv": encodeURL([]byte(strings.Repeat("a", 32)))})
	if _, err := ParsePrivate(toJSON(t, private)); err != nil {
		t.Error(err)
	}
	for name, seed := range map[string]string{"another seed": strings.Repeat("b", 32), "short": "a", "expanded": strings.Repeat("a", 4032)} {
		_, err := ParsePrivate(toJSON(t, private.with(object{"priv": encodeURL([]byte(seed))})))
		if e := wantRefused(t, err, receipt.CodeInvalidKeySet, ""); e.Pointer != "/priv" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMLDSA44Alone verifies that an ML-DSA-44 key cannot sign receipts, envelopes, or objects, and
// that a receipt signature that names the algorithm is not checked.
func TestMLDSA44Alone(t *testing.T) {
	k, err := Generate(bytes.NewReader(make([]byte, 32)), MLDSA44, "k")
	if err != nil {
		t.Fatal(err)
	}
	s := NewSigner(k, clock)
	const why = "ML-DSA-44\", which signs only checkpoints"
	for _, message := range []string{hashText, envelopeText} {
		if sig, err := s.Sign(context.Background(), []byte(message)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, %v", sig, err)
		}
	}
	if _, err := s.SignObject(context.Background(), []byte("{}")); err == nil || !strings.Contains(err.Error(), why) {
		t.Error(err)
	}
	if _, err := s.SignCOSE(context.Background(), []byte(coseMark)); err == nil || !strings.Contains(err.Error(), why) {
		t.Error(err)
	}

	// If the key has both roles, a checkpoint may replace the signatures on receipts.
	public := k.Public()
	public.Roles = []receipt.Role{receipt.RoleIssuer, receipt.RoleCheckpoint}
	set := setOf(t, public)
	wantCode(t, set, hashText, entry("k", MLDSA44, "jws:e30..AA"), receipt.CodeUnsupportedAlgorithm)
	wantCode(t, set, hashText, entry("k", Ed25519, native(make([]byte, 64))), receipt.CodeAlgorithmMismatch)
	e := &receipt.Entry{KeyID: []byte("k"), Signature: []byte(native(make([]byte, 2420)))}
	wantCode(t, set, envelopeText, e, receipt.CodeUnsupportedAlgorithm)
	if _, err := set.CheckRaw([]byte("m"), &receipt.ForeignSignature{KeyID: "k", Value: make([]byte, 2420)}); err == nil || err.Code != receipt.CodeUnsupportedAlgorithm {
		t.Error(err)
	}
}

// TestRemoteMLDSA44 verifies that a remote ML-DSA-44 key can sign checkpoints, and that a signature
// by another key is detected.
func TestRemoteMLDSA44(t *testing.T) {
	var public crypto.PublicKey
	c := &tlog.Checkpoint{Origin: "example.com/log", Size: 1}
	for i, letter := range []string{"a", "b"} {
		k, err := Generate(strings.NewReader(strings.Repeat(letter, mldsa.PrivateKeySize)), MLDSA44, "k")
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			public = k.Public().Crypto()
		}
		s, err := NewRemoteSigner("k", MLDSA44, &service{public: public, key: k.key}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.SignCheckpoint(context.Background(), c); (err == nil) != (i == 0) {
			t.Errorf("key %s: %v", letter, err)
		}
	}
}

// TestMLDSARoles verifies that a trusted ML-DSA-44 key must have a role in which it can sign.
func TestMLDSARoles(t *testing.T) {
	for roles, want := range map[string]bool{"": false, "issuer": false, "witness": true, "checkpoint": true, "issuer checkpoint": true} {
		jwk := akp(t, "k", MLDSA44, "a")
		if roles != "" {
			jwk = jwk.with(object{"roles": strings.Fields(roles)})
		}
		_, err := ParseSet(setJSON(t, jwk))
		if want {
			if err != nil {
				t.Errorf("%s: %v", roles, err)
			}
			continue
		}
		if e := wantRefused(t, err, receipt.CodeInvalidKeySet, "needs the role checkpoint or witness"); e.Pointer != "/keys/0/roles" {
			t.Errorf("%s: %v", roles, e)
		}
	}
}

// TestMLDSAMaterial verifies that a revocation applies to the material of an ML-DSA key under every
// ID, and that the same seed with other parameters is different material.
func TestMLDSAMaterial(t *testing.T) {
	stolen := akp(t, "a", mldsa65, "a").with(object{"revoked": object{"at": 2000, "reason": "compromised"}})
	set := mustSet(t, stolen, akp(t, "b", mldsa65, "a"), akp(t, "c", mldsa65, "c"), akp(t, "d", MLDSA44, "a").with(object{"roles": []string{"witness"}}))
	for i, revoked := range []bool{true, true, false, false} {
		if k := set.Keys()[i]; (k.Revoked != nil) != revoked {
			t.Errorf("%s: revoked %v", k.ID, k.Revoked)
		}
	}
	if list := set.Keys(); list[0].Thumbprint != list[1].Thumbprint || list[0].Thumbprint == list[3].Thumbprint {
		t.Error("thumbprints do not identify the material")
	}
}

// TestMLDSAPEM verifies that an ML-DSA private key in PEM must be a seed (RFC 9881 section 6), and
// that keys with other parameters are rejected.
func TestMLDSAPEM(t *testing.T) {
	key, err := mldsa.NewPrivateKey(mldsa.MLDSA65(), make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	var form struct {
		Version   int
		Algorithm asn1.RawValue
		Key       []byte
	}
	if _, err := asn1.Unmarshal(der, &form); err != nil {
		t.Fatal(err)
	}
	form.Key, err = asn1.Marshal(struct{ Seed, Expanded []byte }{make([]byte, 32), make([]byte, 4032)})
	if err != nil {
		t.Fatal(err)
	}
	both, err := asn1.Marshal(form)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ParsePrivatePEM([]byte(pemText("PRIVATE KEY", both)), "k", "")
	wantRefused(t, err, receipt.CodeInvalidKeySet, "ml-dsa.output_formats=seed-only")

	other, err := mldsa.NewPrivateKey(mldsa.MLDSA87(), make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	_, err = ParsePrivatePEM([]byte(pkcs8(t, other)), "k", "")
	wantRefused(t, err, receipt.CodeInvalidKeySet, `a key for "ML-DSA-87"`)
	_, err = ParsePublicPEM([]byte(spki(t, other.Public())), "k", "")
	wantRefused(t, err, receipt.CodeInvalidKeySet, `a key for "ML-DSA-87"`)
}

// TestMLDSAHeader verifies that a signature covers the token's signing input (RFC 9964) without a
// context, and that the header has the same members as the headers of other tokens.
func TestMLDSAHeader(t *testing.T) {
	k := testKeys()[mldsa65]
	sig := signWith(t, k)
	header, _, _ := strings.Cut(strings.TrimPrefix(sig.Signature, tokenPrefix), "..")
	text, err := decodeURL([]byte(header))
	if err != nil || string(text) != `{"alg":"ML-DSA-65","iat":1777144653,"kid":"`+k.Public().ID+`"}` {
		t.Errorf("%s, %v", text, err)
	}
	raw, _ := rawSignature(t, sig.Signature)
	public := k.Public().Crypto().(*mldsa.PublicKey)
	input := []byte(header + "." + encodeURL([]byte(hashText)))
	if err := mldsa.Verify(public, input, raw, nil); err != nil {
		t.Errorf("%v: %s", err, hex.EncodeToString(raw[:8]))
	}
	if mldsa.Verify(public, input, raw, &mldsa.Options{Context: "x"}) == nil || mldsa.Verify(public, []byte(hashText), raw, nil) == nil {
		t.Error("valid for other bytes")
	}
}
