package keys

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys/internal/fixedbase"
)

// hashText is the published hash of the upstream task receipt.
const hashText = "sha256:6dda1c76c5adc8c210892ba1b7e566dd3b6e3644f7ab6b0dcd14ae34a0b323a7"

// rfc8032Public is the public key from RFC 8032 section 7.1, TEST 1.
const rfc8032Public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"

const rfc8032Seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"

func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// object is a JSON object for tests.
type object map[string]any

func (o object) with(members object) object {
	c := object{}
	for k, v := range o {
		c[k] = v
	}
	for k, v := range members {
		if v == nil {
			delete(c, k)
		} else {
			c[k] = v
		}
	}
	return c
}

func toJSON(tb testing.TB, v any) []byte {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func setJSON(tb testing.TB, keys ...any) []byte {
	tb.Helper()
	return toJSON(tb, object{"keys": keys})
}

func mustSet(tb testing.TB, keys ...any) *Set {
	tb.Helper()
	s, err := ParseSet(setJSON(tb, keys...))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func ed25519JWK(tb testing.TB, kid, publicHex string) object {
	tb.Helper()
	return object{"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": base64.RawURLEncoding.EncodeToString(unhex(tb, publicHex))}
}

func entry(kid, algorithm, value string) *receipt.Entry {
	return &receipt.Entry{KeyID: []byte(kid), Algorithm: []byte(algorithm), Signature: []byte(value)}
}

func entryOf(s receipt.Signature) *receipt.Entry {
	e := entry(s.KeyID, s.Algorithm, s.Signature)
	if !s.SignedAt.IsZero() {
		e.SignedAt = []byte(s.SignedAt.String())
	}
	return e
}

func native(sig []byte) string { return "base64:" + base64.StdEncoding.EncodeToString(sig) }

// codeOf returns the code from CheckSignature's result, or "" if the entry is valid.
func codeOf(s *Set, message []byte, e *receipt.Entry) receipt.Code {
	if _, err := checkBoth(s, message, e); err != nil {
		return err.Code
	}
	return ""
}

// checkBoth checks an entry without tables and, if the key can have a table, also with one. It
// panics if the results differ.
func checkBoth(s *Set, message []byte, e *receipt.Entry) (*receipt.Key, *receipt.SignatureError) {
	plain := *e
	plain.Plain = true
	k, err := s.CheckSignature(message, &plain)
	if k == nil || k.Algorithm != Ed25519 {
		return k, err
	}
	heat(s)
	fastKey, fastErr := s.CheckSignature(message, e)
	if k != fastKey || (err == nil) != (fastErr == nil) || err != nil && *err != *fastErr {
		panic(fmt.Sprintf("%+v over %q: %v without tables, %v with them", e, message, err, fastErr))
	}
	return k, err
}

// heat creates a table for each Ed25519 key in the set.
func heat(s *Set) {
	for _, k := range s.byID {
		if k.Algorithm == Ed25519 && k.table.Load() == nil {
			k.table.Store(tableOf(string(k.material.(ed25519.PublicKey))))
		}
	}
}

var (
	testBase   = sync.OnceValue(fixedbase.NewBase)
	testTables sync.Map // indexed by public key, because many tests use the same few keys
)

func tableOf(public string) *fixedbase.Key {
	if known, ok := testTables.Load(public); ok {
		return known.(*fixedbase.Key)
	}
	table, err := testBase().NewKey([]byte(public))
	if err != nil {
		panic(err)
	}
	testTables.Store(public, table)
	return table
}

func wantCode(tb testing.TB, s *Set, message string, e *receipt.Entry, want receipt.Code) {
	tb.Helper()
	k, err := checkBoth(s, []byte(message), e)
	got := receipt.Code("")
	if err != nil {
		got = err.Code
	}
	if got != want {
		tb.Errorf("%s signature of %q: got %q (%v), want %q", e.Algorithm, e.KeyID, got, err, want)
	}
	if _, known := s.lookup(string(e.KeyID)); known != (k != nil) {
		tb.Errorf("key %q: known %v, returned %v", e.KeyID, known, k)
	}
}

// wantRefused fails unless err is a *SetError with the given code whose text contains part.
func wantRefused(tb testing.TB, err error, code receipt.Code, part string) *SetError {
	tb.Helper()
	e, ok := errors.AsType[*SetError](err)
	if !ok || e == nil {
		tb.Fatalf("got %v, want a *SetError", err)
	}
	if e.Code != code || !strings.Contains(e.Error(), part) {
		tb.Errorf("got %s: %q, want %s with %q", e.Code, e, code, part)
	}
	return e
}

func readVectors(tb testing.TB, folder, file string, into any) {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(vectors.Dir(tb, folder), file))
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
}

var testTime = time.Date(2026, 4, 25, 19, 17, 33, 250e6, time.UTC)

func clock() time.Time { return testTime }

// testKeys returns one key per algorithm, generated only once because generating RSA keys is slow.
var testKeys = sync.OnceValue(func() map[string]*PrivateKey {
	keys := map[string]*PrivateKey{}
	var rsaKey *PrivateKey
	for _, algorithm := range Algorithms() {
		var k *PrivateKey
		var err error
		if alg, _ := algorithmOf(algorithm); alg.size == 0 && rsaKey != nil {
			k, err = newPrivate(rsaKey.key, "", algorithm)
		} else if k, err = generate(rand.Reader, algorithm, "", minModulus); alg.size == 0 {
			rsaKey = k
		}
		if err != nil {
			panic(err)
		}
		keys[algorithm] = k
	}
	return keys
})

func signWith(tb testing.TB, k *PrivateKey) receipt.Signature {
	tb.Helper()
	sig, err := NewSigner(k, clock).Sign(context.Background(), []byte(hashText))
	if err != nil {
		tb.Fatal(err)
	}
	return sig
}

func setOf(tb testing.TB, keys ...*PublicKey) *Set {
	tb.Helper()
	s, err := NewSet(keys...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// rawSignature extracts a signature from an entry's value, and pack inserts a signature into one.
func rawSignature(tb testing.TB, value string) (sig []byte, pack func([]byte) string) {
	tb.Helper()
	if text, ok := strings.CutPrefix(value, nativePrefix); ok {
		sig, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			tb.Fatal(err)
		}
		return sig, native
	}
	at := strings.LastIndexByte(value, '.') + 1
	sig, err := base64.RawURLEncoding.DecodeString(value[at:])
	if err != nil {
		tb.Fatal(err)
	}
	return sig, func(s []byte) string { return value[:at] + encodeURL(s) }
}

func flip(b []byte, bit int) []byte {
	c := bytes.Clone(b)
	c[bit/8] ^= 1 << (bit % 8)
	return c
}

// lookup returns the key that has the given kid.
func (s *Set) lookup(id string) (*PublicKey, bool) {
	if k := s.byID[id]; k != nil {
		return k.clone(), true
	}
	return nil, false
}

func thumbprintOf(pub crypto.PublicKey) ([32]byte, error) {
	m, _, err := checkMaterial(pub)
	if err != nil {
		return [32]byte{}, err
	}
	return thumbprint(m), nil
}

// nameOf returns a key's default ID.
func nameOf(pub crypto.PublicKey, algorithm string) (string, error) {
	k, err := FromPublic(pub, "", algorithm)
	if err != nil {
		return "", err
	}
	return k.ID, nil
}
