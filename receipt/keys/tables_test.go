package keys

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys/internal/fixedbase"
)

// A testSigner is a key in a set, together with an entry that was created with the key.
type testSigner struct {
	private ed25519.PrivateKey
	entry   *receipt.Entry
}

// someSigners returns a set of n keys.
func someSigners(tb testing.TB, n int) (*Set, []testSigner) {
	tb.Helper()
	var jwks []any
	var signers []testSigner
	for i := range n {
		seed := make([]byte, ed25519.SeedSize)
		seed[0], seed[1] = byte(i), byte(i>>8)
		private, kid := ed25519.NewKeyFromSeed(seed), fmt.Sprint("key ", i)
		jwks = append(jwks, ed25519JWK(tb, kid, fmt.Sprintf("%x", private.Public())))
		signers = append(signers, testSigner{private, entry(kid, Ed25519, native(ed25519.Sign(private, []byte(hashText))))})
	}
	return mustSet(tb, jwks...), signers
}

func (s *Set) countTables() (n int) {
	for _, k := range s.byID {
		if k.table.Load() != nil {
			n++
		}
	}
	return n
}

// TestTableAfter verifies that a table is created after the documented number of uses and not
// earlier. Uses with both algorithms count, whether or not the signatures are valid, but entries
// that name another key do not count.
func TestTableAfter(t *testing.T) {
	private, other := testKeys()[Ed25519], testKeys()[es256]
	set := setOf(t, private.Public(), other.Public())
	entries := []*receipt.Entry{
		entryOf(signWith(t, private)),
		entry(private.public.ID, Ed25519, native(make([]byte, ed25519.SignatureSize))),
		entry(private.public.ID, edDSA, forge(t, private, fmt.Sprintf(`{"alg":"EdDSA","kid":%q}`, private.public.ID))),
	}
	k := set.byID[private.public.ID]
	for i := range tableAfter {
		if n := set.countTables(); n != 0 {
			t.Fatalf("%d tables after %d uses", n, i)
		}
		e, want := entries[i%3], valid
		if i%3 == 1 {
			want = untrue
		}
		for _, e := range []*receipt.Entry{entryOf(signWith(t, other)), entry("nobody", Ed25519, string(e.Signature)), entry(private.public.ID, Ed25519, "base64:")} {
			set.CheckSignature([]byte(hashText), e)
		}
		_, err := set.CheckSignature([]byte(hashText), e)
		if err == nil && want != valid || err != nil && err.Code != want {
			t.Errorf("use %d: %v, want %q", i, err, want)
		}
	}
	if k.table.Load() == nil || set.countTables() != 1 {
		t.Errorf("no table after %d uses", tableAfter)
	}
}

// TestMaxTables verifies that at most maxTables keys get a table, and that other keys are checked
// without one.
func TestMaxTables(t *testing.T) {
	set, signers := someSigners(t, maxTables+3)
	set.tables.base = testBase
	for range tableAfter + 2 {
		for _, s := range signers {
			if _, err := set.CheckSignature([]byte(hashText), s.entry); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := set.countTables(); n != maxTables {
		t.Errorf("%d tables, expected %d", n, maxTables)
	}
	for _, s := range signers {
		if _, err := set.CheckSignature([]byte(hashText+"0"), s.entry); err == nil || err.Code != untrue {
			t.Errorf("%s: another message is %v", s.entry.KeyID, err)
		}
	}
}

// TestPlain verifies that Policy.Plain neither creates nor uses tables, and that other policies do.
func TestPlain(t *testing.T) {
	jwks, err := fixtures.Read("keys/trust.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"valid/task.json", "valid/signed-eddsa.json"} {
		data, err := fixtures.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, plain := range []bool{true, false} {
			set, err := ParseSet(jwks)
			if err != nil {
				t.Fatal(err)
			}
			v, err := receipt.NewVerifier(set, receipt.Policy{Plain: plain})
			if err != nil {
				t.Fatal(err)
			}
			doc, rep := new(canon.Document), new(receipt.Report)
			for range tableAfter + 1 {
				if v.VerifyBytes(data, doc, rep); rep.Verdict != receipt.Verified {
					t.Fatalf("%s: %v", name, rep.Finding())
				}
			}
			if n := set.countTables(); plain && n != 0 || !plain && n != 1 {
				t.Errorf("%s, plain %v: %d tables", name, plain, n)
			}
			for _, k := range set.byID { // another key's table is used, which rejects the signature
				k.table.Store(tableOf(string(unhex(t, rfc8032Public))))
			}
			if v.VerifyBytes(data, doc, rep); (rep.Verdict == receipt.Verified) != plain {
				t.Errorf("%s, plain %v: %v with the table of another key", name, plain, rep.Verdict)
			}
		}
	}
}

// TestTokenTables verifies that this module checks tokens if there is a table, and that go-jose
// checks them otherwise. Correctly signed tokens with any supported header are valid with and
// without a table, for any message.
func TestTokenTables(t *testing.T) {
	seed := unhex(t, rfc8032Seed)
	private := ed25519.NewKeyFromSeed(seed)
	for _, kid := range []string{`k`, `\u006b\/\\\"`, `\u0000\u001f\b\f\n\r\t`, `é日本🎉`, `\ud83c\udf89`, `\uffff\u2028`, `<&>`, strings.Repeat("x", maxIDBytes)} {
		var id string
		if err := json.Unmarshal([]byte(`"`+kid+`"`), &id); err != nil {
			t.Fatal(err)
		}
		set := mustSet(t, ed25519JWK(t, id, rfc8032Public))
		for _, header := range []string{
			`{"alg":"EdDSA","kid":"` + kid + `"}`,
			`{ "kid" : "` + kid + `",` + "\r\n\t" + ` "alg" : "EdDSA" }`,
			`{"\u0061lg":"\u0045dDSA","kid":"` + kid + `"}`,
			`{"alg":"EdDSA","iat":0,"kid":"` + kid + `"}`,
			`{"alg":"EdDSA","iat":-0,"kid":"` + kid + `"}`,
			`{"alg":"EdDSA","iat":-9223372036854775808,"kid":"` + kid + `"}`,
			`{"alg":"EdDSA","iat":9223372036854775807,"kid":"` + kid + `"}`,
		} {
			for _, message := range [][]byte{nil, {}, {0}, []byte(hashText), bytes.Repeat([]byte("long"), 1000)} {
				first := encodeURL([]byte(header))
				sig := ed25519.Sign(private, []byte(first+"."+encodeURL(message)))
				e := entry(id, edDSA, tokenPrefix+first+".."+encodeURL(sig))
				if code := codeOf(set, message, e); code != valid {
					t.Errorf("header %s, message %q: %s", header, message, code)
				}
				e.Signature[len(e.Signature)-4] ^= 1 // of S
				if code := codeOf(set, message, e); code == valid {
					t.Errorf("header %s, message %q: valid when damaged", header, message)
				}
			}
		}
	}
}

// TestTablesTogether verifies that many goroutines can use one Set while its tables are created.
func TestTablesTogether(t *testing.T) {
	set, signers := someSigners(t, 3)
	var bases atomic.Int64
	set.tables.base = sync.OnceValue(func() *fixedbase.Base {
		bases.Add(1)
		return testBase()
	})
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range tableAfter {
				s := signers[(g+i)%len(signers)]
				if _, err := set.CheckSignature([]byte(hashText), s.entry); err != nil {
					t.Errorf("%s: %v", s.entry.KeyID, err)
				}
				if _, err := set.CheckSignature([]byte("another"), s.entry); err == nil {
					t.Errorf("%s: another message is valid", s.entry.KeyID)
				}
			}
		})
	}
	group.Wait()
	if n := set.countTables(); n != len(signers) || bases.Load() != 1 {
		t.Errorf("%d tables of %d keys, %d of the base point", n, len(signers), bases.Load())
	}
}

// BenchmarkEd25519 measures the benefit and the cost of tables. It checks messages of 71 bytes with
// 8 keys in rotation, as a verifier does. A Set needs 8·tableAfter checks until all 8 keys have
// tables. On a busy machine, compare the medians of several runs (-count 10).
func BenchmarkEd25519(b *testing.B) {
	set, signers := someSigners(b, 8)
	message := []byte(hashText)
	b.Run("crypto", func(b *testing.B) {
		var sig [66]byte
		for i := 0; b.Loop(); i++ {
			s := signers[i%len(signers)]
			if !decodeNative(&sig, s.entry.Signature) || !ed25519.Verify(ed25519.PublicKey(s.private[32:]), message, sig[:64]) {
				b.Fatal("not valid")
			}
		}
	})
	check := func(b *testing.B, plain bool) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			e := signers[i%len(signers)].entry
			e.Plain = plain
			if _, err := set.CheckSignature(message, e); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("cold", func(b *testing.B) { check(b, true) })
	b.Run("hot", func(b *testing.B) {
		heat(set)
		check(b, false)
	})
	b.Run("base", func(b *testing.B) {
		for b.Loop() {
			fixedbase.NewBase()
		}
	})
	b.Run("key", func(b *testing.B) {
		for b.Loop() {
			if _, err := testBase().NewKey(signers[0].private[32:]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
