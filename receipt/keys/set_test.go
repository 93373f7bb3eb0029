package keys

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

const p256X = "04N0xi21hshyvBp7I167sbE_bXqyqkAPfefdklMO7wY"
const p256Y = "UI8exy-C06a7DUnjIdENkxeFtHM4-l_41LqEw9nVgmw"

func ecJWK(kid string) object {
	return object{"kty": "EC", "crv": "P-256", "kid": kid, "x": p256X, "y": p256Y}
}

func rsaJWK(kid string, n *big.Int, e []byte) object {
	return object{"kty": "RSA", "kid": kid, "alg": "RS256", "n": encodeURL(n.Bytes()), "e": encodeURL(e)}
}

// modulus returns an odd number with the given number of bits.
func modulus(bits uint) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), bits-1)
	return n.Add(n, big.NewInt(0xabcdef))
}

func TestSetMembers(t *testing.T) {
	set := mustSet(t,
		ed25519JWK(t, "a", rfc8032Public).with(object{
			"issuers": []string{"i1", "i2"}, "roles": []string{"issuer", "checkpoint"}, "origin": "log.example/1",
			"nbf": 1000, "exp": 2000.0, "use": "sig", "key_ops": []string{"verify"}, "x-mine": object{"deep": []int{1}},
			"jku": "http://127.0.0.1:1/never"}),
		ecJWK("b").with(object{"roles": []string{"witness"}, "revoked": object{"at": 5, "reason": "superseded"}}),
		rsaJWK("c", modulus(2048), []byte{1, 0, 1}).with(object{"alg": "PS384", "revoked": object{"at": 0}}),
	)
	if set.Len() != 3 {
		t.Fatal(set.Len())
	}
	list := set.Keys()
	a, b, c := list[0], list[1], list[2]
	if a.Algorithm != "ed25519" || fmt.Sprint(a.Issuers, a.Roles) != "[i1 i2] [issuer checkpoint]" || a.Origin != "log.example/1" ||
		!a.NotBefore.Equal(time.Unix(1000, 0)) || !a.NotAfter.Equal(time.Unix(2000, 0)) || a.Revoked != nil {
		t.Errorf("%+v", a.Key)
	}
	if b.Algorithm != "ES256" || !b.Has(receipt.RoleWitness) || b.Has(receipt.RoleIssuer) || b.Revoked.Reason != receipt.ReasonSuperseded {
		t.Errorf("%+v", b.Key)
	}
	if c.Algorithm != "PS384" || !c.Has(receipt.RoleIssuer) || c.Revoked == nil || c.Revoked.Reason != "" || !c.Revoked.At.Equal(time.Unix(0, 0)) {
		t.Errorf("%+v", c.Key)
	}
	a.Issuers[0], b.Revoked.Reason = "changed", "changed" // copies
	if again := set.Keys(); again[0].Issuers[0] != "i1" || again[1].Revoked.Reason != "superseded" {
		t.Error("a caller changed the set")
	}
	if _, ok := set.lookup("d"); ok {
		t.Error("found a key that is not there")
	}
	for _, s := range []*Set{set, {}} {
		if same, err := s.With(); same != s || err != nil {
			t.Errorf("a set of %d keys changes without other keys: %v", s.Len(), err)
		}
	}
}

// TestValidity verifies the names under which a trust file states the period of a key.
func TestValidity(t *testing.T) {
	for name, tc := range map[string]struct {
		members    object
		begin, end int64 // 0: not set
	}{
		"no period":          {object{}, 0, 0},
		"numbers":            {object{"nbf": 1000, "exp": 2000}, 1000, 2000},
		"texts":              {object{"valid_from": "1970-01-01T00:16:40Z", "valid_until": "1970-01-01T01:33:20+01:00"}, 1000, 2000},
		"one of each":        {object{"nbf": 1000, "valid_until": "1970-01-01T00:33:20Z"}, 1000, 2000},
		"numbers take over":  {object{"nbf": 1000, "valid_from": "1970-01-01T00:00:01Z", "exp": 2000, "valid_until": "1970-01-01T00:00:02Z"}, 1000, 2000},
		"a text is not read": {object{"exp": 2000, "valid_until": false}, 0, 2000},
	} {
		k := mustSet(t, ed25519JWK(t, "k", rfc8032Public).with(tc.members)).Keys()[0]
		begin, end := int64(0), int64(0)
		if !k.NotBefore.IsZero() {
			begin = k.NotBefore.Unix()
		}
		if !k.NotAfter.IsZero() {
			end = k.NotAfter.Unix()
		}
		if begin != tc.begin || end != tc.end {
			t.Errorf("%s: from %d to %d, want %d and %d", name, begin, end, tc.begin, tc.end)
		}
	}
}

// TestThumbprint verifies the thumbprints in RFC 8037 appendix A.3 and RFC 7638 section 3.1.
func TestThumbprint(t *testing.T) {
	set := mustSet(t, ed25519JWK(t, "a", rfc8032Public), object{"kty": "RSA", "kid": "b", "alg": "RS256", "e": "AQAB",
		"n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMs" +
			"tn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbI" +
			"SD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"})
	for i, want := range []string{"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"} {
		k := set.Keys()[i]
		if got := k.Fingerprint(); got != want {
			t.Errorf("key %d: %s, want %s", i, got, want)
		}
		if sum, err := thumbprintOf(k.Crypto()); err != nil || sum != k.Thumbprint {
			t.Errorf("key %d: %x, %v", i, sum, err)
		}
	}
}

func TestDefaultID(t *testing.T) {
	k, err := ParsePublic(toJSON(t, ed25519JWK(t, "", rfc8032Public).with(object{"kid": nil})), "", "")
	if err != nil {
		t.Fatal(err)
	}
	// printf d75a…511a | xxd -r -p | sha256sum | cut -c1-32
	if want := "ed25519:21fe31dfa154a261626bf854046fd227"; k.ID != want {
		t.Errorf("%s, want %s", k.ID, want)
	}
	if id, err := nameOf(k.Crypto(), edDSA); err != nil || id != k.ID {
		t.Errorf("%s, %v", id, err)
	}
	ec, err := ParsePublic(toJSON(t, ecJWK("")), "named", "")
	if err != nil || ec.ID != "named" {
		t.Fatal(ec, err)
	}
	if id, err := nameOf(ec.Crypto(), ""); err != nil || len(id) != len("es256:")+32 || !strings.HasPrefix(id, "es256:") {
		t.Errorf("%s, %v", id, err)
	}
}

// TestSetRefused verifies that invalid files are rejected. The numbers in the test cases refer to
// the reliability checklist.
func TestSetRefused(t *testing.T) {
	ed := func(members object) []byte { return setJSON(t, ed25519JWK(t, "k1", rfc8032Public).with(members)) }
	ec := func(members object) []byte { return setJSON(t, ecJWK("k1").with(members)) }
	rs := func(n *big.Int, e ...byte) []byte { return setJSON(t, rsaJWK("k1", n, e)) }
	ok := modulus(2048)
	const bad, weakKey = receipt.CodeInvalidKeySet, receipt.CodeWeakKey
	x31 := base64.RawURLEncoding.EncodeToString(make([]byte, 31))
	x33 := base64.RawURLEncoding.EncodeToString(make([]byte, 33))
	xRight := ed25519JWK(t, "", rfc8032Public)["x"].(string) // 43 characters; the last has 2 unused bits
	for _, tc := range []struct {
		name    string
		data    []byte
		code    receipt.Code
		pointer string
		part    string
	}{
		{"129 31 bytes", ed(object{"x": x31}), bad, "/keys/0/x", "31 bytes, expected 32"},
		{"129 33 bytes", ed(object{"x": x33}), bad, "/keys/0/x", "33 bytes"},
		{"129 private", ed(object{"d": "c2VjcmV0LXNlY3JldA"}), bad, "/keys/0/d", "private"},
		{"125 identity", setJSON(t, ed25519JWK(t, "k1", "01"+strings.Repeat("00", 31))), weakKey, "/keys/0/x", "low order"},
		{"off curve", setJSON(t, ed25519JWK(t, "k1", "02"+strings.Repeat("00", 31))), weakKey, "/keys/0/x", "not a point"},
		{"142 nbf = exp", ed(object{"nbf": 7, "exp": 7}), bad, "/keys/0/exp", "never valid"},
		{"nbf text", ed(object{"nbf": "7"}), bad, "/keys/0/nbf", "whole seconds"},
		{"nbf fraction", ed(object{"nbf": 7.5}), bad, "/keys/0/nbf", "whole seconds"},
		{"nbf negative", ed(object{"nbf": -1}), bad, "/keys/0/nbf", "whole seconds"},
		{"nbf milliseconds", ed(object{"exp": 1777144653000.0 * 1000}), bad, "/keys/0/exp", "whole seconds"},
		{"146 use", ed(object{"use": "enc"}), bad, "/keys/0/use", `use is "enc"`},
		{"146 use null", []byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","use":null,"x":"` + xRight + `"}]}`), bad, "/keys/0/use", "expected"},
		{"146 key_ops", ed(object{"key_ops": []string{"sign"}}), bad, "/keys/0/key_ops", "verify"},
		{"146 key_ops text", ed(object{"key_ops": "verify"}), bad, "/keys/0/key_ops", "array"},
		{"issuers empty", ed(object{"issuers": []string{}}), bad, "/keys/0/issuers", "at least one"},
		{"issuers text", ed(object{"issuers": "i1"}), bad, "/keys/0/issuers", "array"},
		{"issuers twice", ed(object{"issuers": []string{"i1", "i1"}}), bad, "/keys/0/issuers", "twice"},
		{"issuers empty string", ed(object{"issuers": []string{""}}), bad, "/keys/0/issuers", "not empty"},
		{"roles", ed(object{"roles": []string{"admin"}}), bad, "/keys/0/roles", `"admin"`},
		{"origin", ed(object{"origin": 1}), bad, "/keys/0/origin", "origin"},
		{"roles text", ed(object{"roles": "issuer"}), bad, "/keys/0/roles", "array"},
		{"valid_from", ed(object{"valid_from": "2026-01-01"}), bad, "/keys/0/valid_from", "RFC 3339"},
		{"valid_until", ed(object{"valid_until": 2000}), bad, "/keys/0/valid_until", "RFC 3339"},
		{"valid_from = valid_until", ed(object{"valid_from": "2026-01-01T00:00:00Z", "valid_until": "2026-01-01T00:00:00Z"}), bad, "/keys/0/exp", "never valid"},
		{"revoked true", ed(object{"revoked": true}), bad, "/keys/0/revoked", "seconds since 1970"},
		{"revoked without at", ed(object{"revoked": object{"reason": "x"}}), bad, "/keys/0/revoked", "seconds since 1970"},
		{"revoked at", ed(object{"revoked": object{"at": "now"}}), bad, "/keys/0/revoked/at", "whole seconds"},
		{"revoked reason", ed(object{"revoked": object{"at": 1, "reason": 1}}), bad, "/keys/0/revoked/reason", "reason"},
		{"revoked unknown", ed(object{"revoked": object{"at": 1, "by": "me"}}), bad, "/keys/0/revoked", `"by"`},
		{"alg of another type", ed(object{"alg": "ES256"}), bad, "/keys/0/alg", "Ed25519 key"},
		{"alg empty", ed(object{"alg": ""}), bad, "/keys/0/alg", "empty"},
		{"alg number", ed(object{"alg": 1}), bad, "/keys/0/alg", "string"},
		{"kid missing", ed(object{"kid": nil}), bad, "/keys/0/kid", "no kid"},
		{"kid empty", ed(object{"kid": ""}), bad, "/keys/0/kid", "not empty"},
		{"kid number", ed(object{"kid": 1}), bad, "/keys/0/kid", "string"},
		{"154 kid of 1 MB", ed(object{"kid": strings.Repeat("k", 1<<20)}), bad, "/keys/0/kid", "at most 1024"},
		{"162 unused bits", ed(object{"x": xRight[:42] + string(xRight[42]+1)}), bad, "/keys/0/x", "canonical base64url"},
		{"163 padding", ed(object{"x": xRight + "="}), bad, "/keys/0/x", "canonical base64url"},
		{"161 line break", ed(object{"x": xRight + "\n"}), bad, "/keys/0/x", "canonical base64url"},
		{"163 alphabet", ed(object{"x": strings.Replace(xRight, "_", "/", 1)}), bad, "/keys/0/x", "canonical base64url"},
		{"x number", ed(object{"x": 1}), bad, "/keys/0/x", "base64url"},
		{"crv X25519", ed(object{"crv": "X25519"}), bad, "/keys/0/crv", `"X25519"`},
		{"OKP with y", ed(object{"y": p256Y}), bad, "/keys/0/y", "type OKP"},
		{"EC with n", ec(object{"n": "AQAB"}), bad, "/keys/0/n", "type EC"},
		{"RSA with crv", setJSON(t, rsaJWK("k1", ok, []byte{1, 0, 1}).with(object{"crv": "P-256"})), bad, "/keys/0/crv", "type RSA"},
		{"kty", ed(object{"kty": "AKP2"}), bad, "/keys/0/kty", `"AKP2"`},
		{"AKP without alg", ed(object{"kty": "AKP"}), bad, "/keys/0/alg", `ML-DSA-65`},
		{"kty missing", ed(object{"kty": nil}), bad, "/keys/0/kty", "kty"},
		{"176 oct", setJSON(t, ecJWK("k0"), object{"kty": "oct", "kid": "k1", "k": "AAAA"}), bad, "/keys/1/k", "symmetric"},
		{"176 oct without k", setJSON(t, object{"kty": "oct", "kid": "k1"}), bad, "/keys/0/kty", "symmetric"},
		{"176 duplicate", setJSON(t, ecJWK("k1"), ed25519JWK(t, "k1", rfc8032Public)), bad, "/keys/1/kid", "same kid"},
		{"174 off curve", ec(object{"y": p256X}), weakKey, "/keys/0/x", "not a point"},
		{"174 infinity", ec(object{"x": encodeURL(make([]byte, 32)), "y": encodeURL(make([]byte, 32))}), weakKey, "/keys/0/x", "not a point"},
		{"174 short x", ec(object{"x": x31}), bad, "/keys/0/x", "31 bytes"},
		{"174 short y", ec(object{"y": x31}), bad, "/keys/0/y", "31 bytes"},
		{"174 leading zero", ec(object{"x": x33}), bad, "/keys/0/x", "33 bytes"},
		{"174 crv", ec(object{"crv": "P-384"}), bad, "/keys/0/x", "expected 48"},
		{"174 secp256k1", ec(object{"crv": "secp256k1"}), bad, "/keys/0/crv", "secp256k1"},
		{"149 alg of another curve", ec(object{"alg": "ES384"}), bad, "/keys/0/alg", "ES256"},
		{"175 EC private", ec(object{"d": p256X}), bad, "/keys/0/d", "private"},
		{"172 512 bits", rs(modulus(512), 1, 0, 1), weakKey, "/keys/0/n", "512 bits"},
		{"172 1024 bits", rs(modulus(1024), 1, 0, 1), weakKey, "/keys/0/n", "1024 bits"},
		{"172 2047 bits", rs(modulus(2047), 1, 0, 1), weakKey, "/keys/0/n", "2047 bits"},
		{"172 8193 bits", rs(modulus(8193), 1, 0, 1), weakKey, "/keys/0/n", "8193 bits"},
		{"172 16384 bits", rs(modulus(16384), 1, 0, 1), weakKey, "/keys/0/n", "16384 bits"},
		{"172 even", rs(new(big.Int).Lsh(big.NewInt(1), 2047), 1, 0, 1), weakKey, "/keys/0/n", "even"},
		{"173 e = 1", rs(ok, 1), weakKey, "/keys/0/e", "exponent is 1"},
		{"173 e = 3", rs(ok, 3), weakKey, "/keys/0/e", "exponent is 3"},
		{"173 e even", rs(ok, 1, 0, 0), weakKey, "/keys/0/e", "exponent is 65536"},
		{"173 e = 2^31+1", rs(ok, 0x80, 0, 0, 1), weakKey, "/keys/0/e", "2^31"},
		{"173 e = 2^64+1", rs(ok, 1, 0, 0, 0, 0, 0, 0, 0, 1), weakKey, "/keys/0/e", "2^31"},
		{"e = 0", rs(ok), bad, "/keys/0/e", "empty"},
		{"e leading zero", rs(ok, 0, 1, 0, 1), bad, "/keys/0/e", "leading zero"},
		{"RSA without alg", setJSON(t, rsaJWK("k1", ok, []byte{1, 0, 1}).with(object{"alg": nil})), bad, "/keys/0/alg", "no alg"},
		{"RSA for OAEP", setJSON(t, rsaJWK("k1", ok, []byte{1, 0, 1}).with(object{"alg": "RSA-OAEP"})), bad, "/keys/0/alg", "RSA-OAEP"},
		{"179 no keys", []byte(`{"keys":[]}`), bad, "/keys", "no keys"},
		{"keys not an array", []byte(`{"keys":{}}`), bad, "/keys", "array"},
		{"key not an object", []byte(`{"keys":[1]}`), bad, "/keys/0", "JWK"},
		{"an array", []byte(`[]`), bad, "", `{"keys"`},
		{"a string", []byte(`"x"`), bad, "", `{"keys"`},
		{"an object", []byte(`{"a":1}`), bad, "", `no member "keys"`},
		{"a receipt", []byte(`{"schema":"receipt-2026-04-25","receipt_id":"r"}`), bad, "", "this is a receipt"},
		{"a report", []byte(`{"report_version":1,"verdict":"verified"}`), bad, "", "report"},
		{"a single JWK", toJSON(t, ecJWK("k1")), bad, "", "single JWK"},
		{"a single private JWK", toJSON(t, ecJWK("k1").with(object{"d": p256X})), bad, "/d", "private"},
		{"PEM", []byte("-----BEGIN PUBLIC KEY-----\n"), bad, "", "add its key to a trust file"},
		{"PEM private", []byte("\n-----BEGIN EC PRIVATE KEY-----\nsecret-secret"), bad, "", "private key"},
		{"OpenSSH", []byte("ssh-ed25519 AAAA me"), bad, "", "OpenSSH"},
		{"BOM", []byte("\xef\xbb\xbf{}"), bad, "", "byte order mark"},
		{"empty", nil, bad, "", "key file"},
	} {
		set, err := ParseSet(tc.data)
		if set != nil {
			t.Errorf("%s: returned a set and an error", tc.name)
		}
		e := wantRefused(t, err, tc.code, tc.part)
		if e.Pointer != tc.pointer {
			t.Errorf("%s: at %q, want %q", tc.name, e.Pointer, tc.pointer)
		}
		if text := err.Error(); len(text) > 600 || strings.Contains(text, "c2VjcmV0") || strings.Contains(text, "secret-secret") || strings.Contains(text, p256X) {
			t.Errorf("%s: the message shows too much: %s", tc.name, text)
		}
		if info, ok := receipt.Lookup(e.Code); !ok || info.Outcome != receipt.OutcomeRefusesFile {
			t.Errorf("%s: code %s", tc.name, e.Code)
		}
	}
}

// TestPrivateMembersRefused verifies that no private member of any key type is accepted or shown in
// an error, regardless of its position (reliability #129, #175).
func TestPrivateMembersRefused(t *testing.T) {
	for _, name := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
		for _, value := range []any{"VERYSECRET", 1, nil, []string{"VERYSECRET"}} {
			key := ecJWK("private one")
			key[name] = value
			_, err := ParseSet(setJSON(t, object{"kty": "broken"}, key))
			e := wantRefused(t, err, receipt.CodeInvalidKeySet, `"private one"`)
			if e.Index != 1 || e.Pointer != "/keys/1/"+name || strings.Contains(err.Error(), "VERY") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestSetSyntax(t *testing.T) {
	_, err := ParseSet([]byte(`{"keys":[{"kid":"a","kid":"b"}]}`))
	e, ok := errors.AsType[*canon.SyntaxError](err)
	if !ok || e.Code != "duplicate_name" {
		t.Errorf("%v", err)
	}
	for text, want := range map[string]string{
		`{"keys":[{"kid":"a","kid":"b"}]}`: `key file: line 1, column 21 (offset 20, at "/keys/0/kid"): duplicate member name "kid"`,
		`{"keys":[{"kid":"a"}]}`:           `key file: at /keys/0/kty: key "a": expected kty, the key type, as a string`,
		`[]`:                               `key file: this is an array; a JWK Set is an object: {"keys": […]}`,
	} {
		if _, err := ParseSet([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ParseSet([]byte(strings.Repeat(" ", MaxSetBytes) + "{}")); err == nil || !strings.Contains(err.Error(), "4") {
		t.Errorf("%v", err)
	}
	if _, err := ParseSet([]byte(`{"keys":` + strings.Repeat("[", 1000))); err == nil {
		t.Error("deep nesting was read")
	}
}

// TestManyKeys verifies that the maximum number of keys is accepted, and that one more key is
// rejected (reliability #176).
func TestManyKeys(t *testing.T) {
	var keys []any
	for i := range MaxKeys {
		keys = append(keys, ed25519JWK(t, fmt.Sprint(i), rfc8032Public))
	}
	if set := mustSet(t, keys...); set.Len() != MaxKeys {
		t.Error(set.Len())
	}
	_, err := ParseSet(setJSON(t, append(keys, ecJWK("one more"))...))
	wantRefused(t, err, receipt.CodeInvalidKeySet, "10001 keys, at most 10000")
}

func TestSetConcurrent(t *testing.T) {
	k := testKeys()
	var public []*PublicKey
	for _, name := range Algorithms() {
		if name != edDSA && name[:2] != "RS" {
			public = append(public, k[name].Public())
		}
	}
	set := setOf(t, public...)
	var wg sync.WaitGroup
	for _, name := range []string{Ed25519, es256, ps256} {
		e := entryOf(signWith(t, k[name]))
		for range 4 {
			wg.Go(func() {
				for range 20 {
					if code := codeOf(set, []byte(hashText), e); code != "" {
						t.Error(code)
					}
					set.Keys()[0].Issuers = []string{"x"}
				}
			})
		}
	}
	wg.Wait()
}

// TestNoteKeys verifies that the list contains all keys, and that changing the list does not change
// the set.
func TestNoteKeys(t *testing.T) {
	log := ed25519JWK(t, "log", rfc8032Public).with(object{"roles": []string{"checkpoint"}, "origin": "log.example"})
	s := mustSet(t, log, ed25519JWK(t, "issuer", rfc8032Public), ecJWK("ec"))
	list := s.NoteKeys()
	if len(list) != 3 || list[2].ID != "ec" || list[0].ID != "log" || list[0].Origin != "log.example" || list[1].ID != "issuer" || !ed25519.PublicKey(unhex(t, rfc8032Public)).Equal(list[0].Public) {
		t.Fatalf("%+v", list)
	}
	list[0].Origin = "other"
	if again := s.NoteKeys(); again[0].Origin != "log.example" {
		t.Errorf("the set was changed: %+v", again[0])
	}
}
