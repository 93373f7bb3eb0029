package keys

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
)

func TestFileEditing(t *testing.T) {
	var f File
	if _, err := NewSet(f.Keys()...); err == nil {
		t.Error("a set without keys")
	}
	if err := f.Add(); err != nil || len(f.Keys()) != 0 {
		t.Errorf("a file without keys: %v", err)
	}
	if got := string(written(t, &f)); got != "{\n  \"keys\": []\n}\n" {
		t.Errorf("%q", got)
	}
	k, err := ParsePublic(toJSON(t, ed25519JWK(t, "key_2026_04", rfc8032Public)), "", "")
	if err != nil {
		t.Fatal(err)
	}
	k.Issuers, k.Roles, k.Origin = []string{"harness_burin_cloud"}, []receipt.Role{receipt.RoleIssuer, receipt.RoleCheckpoint}, "log.example"
	k.NotBefore, k.NotAfter = testTime, testTime.AddDate(1, 0, 0)
	if err := f.Add(k); err != nil {
		t.Fatal(err)
	}
	k.Issuers[0] = "changed later"
	if err := f.Add(k); err == nil || len(f.Keys()) != 1 {
		t.Errorf("the same kid twice: %v", err)
	}
	if err := f.Revoke("key_2026_04", testTime, receipt.ReasonSuperseded); err != nil {
		t.Fatal(err)
	}
	if err := f.Revoke("key_2026_04", testTime, receipt.ReasonSuperseded); err == nil {
		t.Error("superseded twice")
	}
	const want = `{
  "keys": [
    {
      "kid": "key_2026_04",
      "kty": "OKP",
      "crv": "Ed25519",
      "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      "issuers": [
        "harness_burin_cloud"
      ],
      "roles": [
        "issuer",
        "checkpoint"
      ],
      "origin": "log.example",
      "nbf": 1777144653,
      "exp": 1808680653,
      "revoked": {
        "at": 1777144653,
        "reason": "superseded"
      }
    }
  ]
}
`
	if got := string(written(t, &f)); got != want {
		t.Errorf("%s", got)
	}
	if err := f.Revoke("key_2026_04", testTime, "compromised"); err != nil {
		t.Error(err)
	}
	for _, reason := range []string{"", "compromised", receipt.ReasonSuperseded} {
		wantRefused(t, f.Revoke("key_2026_04", testTime, reason), receipt.CodeInvalidKeySet, "revoked already, at 2026-04-25T19:17:33Z")
	}
	wantRefused(t, f.Revoke("other", testTime, ""), receipt.CodeInvalidKeySet, "no key of this id")
	set, err := NewSet(f.Keys()...)
	if err != nil || set.Keys()[0].Revoked.Reason != "compromised" {
		t.Errorf("%v", err)
	}
}

// TestFileAddChecks verifies that values set by a caller must follow the rules for files.
func TestFileAddChecks(t *testing.T) {
	for name, change := range map[string]func(k *PublicKey){
		"no id":            func(k *PublicKey) { k.ID = "" },
		"id no UTF-8":      func(k *PublicKey) { k.ID = "\xff" },
		"long id":          func(k *PublicKey) { k.ID = strings.Repeat("k", maxIDBytes+1) },
		"algorithm":        func(k *PublicKey) { k.Algorithm = es256 },
		"issuer empty":     func(k *PublicKey) { k.Issuers = []string{""} },
		"no issuers":       func(k *PublicKey) { k.Issuers = []string{} },
		"issuer no UTF-8":  func(k *PublicKey) { k.Issuers = []string{"\xff"} },
		"role":             func(k *PublicKey) { k.Roles = []receipt.Role{"admin"} },
		"never valid":      func(k *PublicKey) { k.NotBefore, k.NotAfter = testTime, testTime },
		"before 1970":      func(k *PublicKey) { k.NotBefore = time.Unix(-5, 0) },
		"year 10000":       func(k *PublicKey) { k.NotAfter = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"revoked at zero":  func(k *PublicKey) { k.Revoked = &receipt.Revocation{} },
		"another material": func(k *PublicKey) { k.material = nil },
	} {
		k, err := ParsePublic(toJSON(t, ed25519JWK(t, "k", rfc8032Public)), "", "")
		if err != nil {
			t.Fatal(err)
		}
		change(k)
		var f File
		if err := f.Add(k); err == nil {
			t.Errorf("%s: added as %s", name, written(t, &f))
		}
		if _, err := NewSet(k); err == nil {
			t.Errorf("%s: a set", name)
		}
	}
	_, err := NewSet(new(PublicKey))
	wantRefused(t, err, receipt.CodeInvalidKeySet, "key is empty")

	k, err := ParsePublic(toJSON(t, ed25519JWK(t, "k", rfc8032Public)), "", "")
	if err != nil {
		t.Fatal(err)
	}
	k.Thumbprint = [32]byte{1} // computed from the key, never taken from the caller
	if set := setOf(t, k); set.Keys()[0].Fingerprint() != "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" {
		t.Error(set.Keys()[0].Fingerprint())
	}
}

// TestFileKeepsUnknownMembers verifies that unknown members are kept in their original spelling.
func TestFileKeepsUnknownMembers(t *testing.T) {
	const source = `{"x-set":{"b":1.0,"a":"\u00e9"},"keys":[{"use":"sig","alg":"EdDSA","x5t":"abc","kid":"k","kty":"OKP","crv":"Ed25519",` +
		`"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","x-key":[1e0,{"z":1,"a":2}],"key_ops":["verify"]}]}`
	first := written(t, mustFile(t, source))
	compact := strings.NewReplacer("\n", "", " ", "").Replace(string(first))
	for _, part := range []string{`"use":"sig"`, `"alg":"EdDSA"`, `"x5t":"abc"`, `"x-key":[1e0,{"z":1,"a":2}]`, `"key_ops":["verify"]`, `"x-set":{"b":1.0,"a":"\u00e9"}`} {
		if !strings.Contains(compact, part) {
			t.Errorf("lost %s in %s", part, first)
		}
	}
	again, err := ParseFile(first)
	if err != nil || !bytes.Equal(written(t, again), first) {
		t.Errorf("not stable: %v\n%s", err, written(t, again))
	}
}

func TestParsePublic(t *testing.T) {
	rsaKey := rsaJWK("r", modulus(3072), []byte{1, 0, 1})
	k, err := ParsePublic(toJSON(t, rsaKey.with(object{"alg": nil})), "mine", ps512)
	if err != nil || k.Algorithm != ps512 || k.ID != "mine" {
		t.Fatal(k, err)
	}
	if _, err := ParsePublic(toJSON(t, rsaKey.with(object{"alg": nil})), "", ""); err == nil {
		t.Error("RSA without an algorithm")
	}
	if k, err := ParsePublic(toJSON(t, rsaKey), "", ps512); err != nil || k.Algorithm != rs256 {
		t.Error("the JWK's alg does not come first", k, err)
	}
	for part, data := range map[string][]byte{
		"a JWK Set": setJSON(t, rsaKey), "private": toJSON(t, rsaKey.with(object{"d": "AQ"})), "PEM": []byte("-----BEGIN PUBLIC KEY-----"),
		"JSON object": []byte("[]"),
	} {
		_, err := ParsePublic(data, "", "")
		wantRefused(t, err, receipt.CodeInvalidKeySet, part)
	}
}

// TestFromPublic verifies that every key that can verify a signature also matches the schema.
func TestFromPublic(t *testing.T) {
	for _, name := range Algorithms() {
		pub := testKeys()[name].Public().Crypto()
		k, err := FromPublic(pub, "", name)
		if err != nil {
			t.Fatal(err)
		}
		id, err := nameOf(pub, name)
		if err != nil || id != k.ID || k.ID != testKeys()[name].public.ID {
			t.Errorf("%s: %s, %v", name, k.ID, err)
		}
		want := name
		if name == edDSA {
			want = Ed25519
		}
		if k.Algorithm != want {
			t.Errorf("%s: %s", name, k.Algorithm)
		}
		if alg, _ := algorithmOf(name); alg.size == 0 {
			if _, err := FromPublic(pub, "", ""); err == nil {
				t.Errorf("%s: an RSA key without algorithm", name)
			}
		} else if again, err := FromPublic(pub, "", ""); err != nil || again.Algorithm != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, pub := range []any{nil, "x", fmt.Sprint, []byte{1}, testKeys()[es256].key} {
		if _, err := FromPublic(pub, "", ""); err == nil {
			t.Errorf("%T", pub)
		}
	}
}

func mustFile(tb testing.TB, text string) *File {
	tb.Helper()
	f, err := ParseFile([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func written(tb testing.TB, f *File) []byte {
	tb.Helper()
	data, err := f.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// TestFileSize verifies that a file that was read can be written and read again, even if the
// original contained little whitespace.
func TestFileSize(t *testing.T) {
	// The original has 150 kB. If each number is on its own line of 60 bytes, the file exceeds
	// MaxSetBytes.
	ones, deep := 75_000, 28
	if testsize.Full() {
		ones, deep = 600_000, 1
	}
	key := string(toJSON(t, ecJWK("k")))
	f := mustFile(t, `{"keys":[`+key+`],"x":`+strings.Repeat("[", deep)+strings.Repeat("1,", ones)+"1"+strings.Repeat("]", deep)+`}`)
	if err := f.Revoke("k", testTime, "compromised"); err != nil {
		t.Fatal(err)
	}
	if text := written(t, f); !bytes.Equal(written(t, mustFile(t, string(text))), text) {
		t.Error("not stable")
	}

	// A file of exactly MaxSetBytes is indented. A file that is longer with its last line feed is not.
	spare := MaxSetBytes - len(written(t, mustFile(t, `{"keys":[`+key+`],"x":""}`)))
	for more, indented := range map[int]bool{0: true, 1: false} {
		text := written(t, mustFile(t, `{"keys":[`+key+`],"x":"`+strings.Repeat("x", spare+more)+`"}`))
		if bytes.HasPrefix(text, []byte("{\n  ")) != indented || len(text) > MaxSetBytes {
			t.Errorf("%d bytes, which begin with %q", len(text), text[:10])
		}
	}

	filler := MaxSetBytes - len(`{"keys":[],"x":""}`) - len(key)
	f = mustFile(t, `{"keys":[`+key+`],"x":"`+strings.Repeat("x", filler)+`"}`)
	data, err := f.Marshal() // the omitted member alg exceeds the limit on members by one
	wantRefused(t, err, receipt.CodeInvalidKeySet, "at most 4194304")
	if data != nil {
		t.Error("returned a file and an error")
	}
}
