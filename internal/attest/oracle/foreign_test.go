package oracle

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/veraison/go-cose"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/internal/foreign"
	"github.com/receiptkit/receiptkit/internal/foreign/a2a"
	"github.com/receiptkit/receiptkit/internal/foreign/audit"
	"github.com/receiptkit/receiptkit/internal/foreign/scitt"
	"github.com/receiptkit/receiptkit/internal/foreign/verdict"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// receipts returns all valid fixtures.
func receipts(t testing.TB) map[string]*receipt.Sealed {
	t.Helper()
	list := map[string]*receipt.Sealed{}
	for _, name := range []string{"full", "minimal", "signed-eddsa", "signed-es256", "signed-es384", "signed-es512", "signed-ps256", "signed-rs256",
		"task", "task-canceled", "task-failed", "task-replay", "task-second", "witnessed"} {
		sealed, err := receipt.ParseSealed(read(t, "valid/"+name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		list[name] = sealed
	}
	return list
}

func signerOf(t testing.TB, name string) *keys.Signer {
	t.Helper()
	k, err := keys.ParsePrivate(read(t, "keys/"+name+".private.json"))
	if err != nil {
		t.Fatal(err)
	}
	return keys.NewSigner(k, nil)
}

// readForeign verifies a document in another format in the same way as the command.
func readForeign(t testing.TB, set *keys.Set, data []byte) receipt.Verdict {
	t.Helper()
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	rep, doc, format := new(receipt.Report), new(canon.Document), kind.Of(data, true).Kind
	if doc.Parse(data, canon.Limits{}) != nil && format != "cose-sign1" {
		return receipt.Refuted
	}
	f := foreign.Read(format, data, doc)
	if f == nil {
		return receipt.Undecided
	}
	v.Foreign(data, f, rep)
	return rep.Verdict
}

// changes returns copies of a document, each of which differs from the document in one byte.
func changes(data []byte) (list [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		changed := bytes.Clone(data)
		changed[r.IntN(len(data)-1)] ^= 1 << r.IntN(7) // the last byte is a line feed
		list = append(list, changed)
	}
	return list
}

// TestStatements verifies that sigstore-go accepts every receipt as an audit record and as both
// kinds of verdicts, and that both verifiers reject a changed document.
func TestStatements(t *testing.T) {
	set, signer := trusted(t), signerOf(t, "key_second")
	o := newOther(t, set)
	public := signer.Public()
	for name, sealed := range receipts(t) {
		record, err := audit.FromReceipt(sealed, public.Crypto().(ed25519.PublicKey))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		v := &verdict.Verdict{Verifier: verdict.Key(public.ID), At: time.Unix(1, 0), Properties: []string{"RECEIPT_HASH"},
			Policies: []verdict.Resource{{URI: "urn:example:policy"}}, Subjects: []verdict.Subject{{Name: name, Digest: canon.Sum(sealed.JSON())}}}
		failed := *v
		failed.Refuted = true
		for format, text := range map[string][]byte{"record": record, "svr": v.SVR(), "vsa": v.VSA(), "failed": failed.VSA()} {
			envelope, err := attest.SignText(t.Context(), text, signer)
			if err != nil {
				t.Fatal(err)
			}
			data, subject := envelope.Bytes(), subjectOf(t, text)
			if err := o.verifies(data, subject); err != nil || readForeign(t, set, data) != receipt.Verified {
				t.Errorf("%s as %s: %v, %v", name, format, err, readForeign(t, set, data))
			}
			if name != "minimal" {
				continue
			}
			for _, changed := range changes(data) {
				ours := readForeign(t, set, changed)
				theirs := o.verifies(changed, subject)
				if ours == receipt.Verified || theirs == nil && !lenient(data, changed) {
					t.Errorf("%s: %v here, %v there: %.200s", format, ours, theirs, changed)
				}
			}
		}
	}
}

func subjectOf(t testing.TB, text []byte) attest.Subject {
	t.Helper()
	var s struct {
		Subject []struct{ Digest map[string]string }
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return attest.Subject{Algorithm: attest.SHA256, Digest: s.Subject[0].Digest["sha256"]}
}

// TestCOSE verifies that go-cose accepts every receipt as a SCITT statement, with keys for each
// algorithm, and that both verifiers reject a changed statement.
func TestCOSE(t *testing.T) {
	set := trusted(t)
	for name, sealed := range receipts(t) {
		for key, alg := range map[string]string{"key_second": "EdDSA", "key_es256": "ES256", "key_es384": "ES384", "key_es512": "ES512"} {
			signer := signerOf(t, key)
			data, err := scitt.Sign(t.Context(), scitt.Statement{Algorithm: alg, KeyID: key, Issuer: sealed.Stream().Issuer, Subject: name,
				IssuedAt: time.Unix(1777000000, 0), ContentType: "application/json", Payload: sealed.JSON()}, signer.SignCOSE)
			if err != nil {
				t.Fatal(err)
			}
			public := signer.Public().Crypto()
			if err := coseVerifies(data, public, alg); err != nil || readForeign(t, set, data) != receipt.Verified {
				t.Errorf("%s with %s: %v, %v", name, alg, err, readForeign(t, set, data))
			}
			if name != "minimal" {
				continue
			}
			for _, changed := range changes(append(data, 0)) {
				changed = changed[:len(data)]
				if bytes.Equal(changed, data) {
					continue
				}
				if ours, theirs := readForeign(t, set, changed), coseVerifies(changed, public, alg); ours == receipt.Verified || theirs == nil {
					t.Errorf("%s: %v here, %v there: %x", alg, ours, theirs, changed)
				}
			}
		}
	}
}

func coseVerifies(data []byte, public crypto.PublicKey, alg string) error {
	var m cose.Sign1Message
	if err := m.UnmarshalCBOR(data); err != nil {
		return err
	}
	v, err := cose.NewVerifier(map[string]cose.Algorithm{"EdDSA": cose.AlgorithmEdDSA, "ES256": cose.AlgorithmES256, "ES384": cose.AlgorithmES384, "ES512": cose.AlgorithmES512}[alg], public)
	if err != nil {
		return err
	}
	return m.Verify(nil, v)
}

// TestCards verifies that go-jose accepts the signatures of an agent card, which cover the
// canonical card without its signatures, and that both verifiers reject a changed card.
func TestCards(t *testing.T) {
	set := trusted(t)
	const card = `{"capabilities":{"streaming":false},"description":"","name":"Gardener","skills":[],"version":"1.0"}`
	for _, key := range []string{"key_second", "key_es256", "key_es384", "key_rs256"} {
		signer := signerOf(t, key)
		doc, err := canon.Parse([]byte(card))
		if err != nil {
			t.Fatal(err)
		}
		data, err := a2a.Sign(t.Context(), doc, signer.SignObject)
		if err != nil {
			t.Fatal(err)
		}
		if err := joseVerifies(data, card, signer.Public().Crypto()); err != nil || readForeign(t, set, data) != receipt.Verified {
			t.Errorf("%s: %v, %v", key, err, readForeign(t, set, data))
		}
		if err := joseVerifies(data, strings.Replace(card, "Gardener", "Gardenia", 1), signer.Public().Crypto()); err == nil {
			t.Errorf("%s: another card verifies", key)
		}
		if altered := bytes.Replace(data, []byte("Gardener"), []byte("Gardenia"), 1); readForeign(t, set, altered) != receipt.Refuted {
			t.Errorf("%s: %v", key, readForeign(t, set, altered))
		}
	}
}

func joseVerifies(data []byte, card string, public crypto.PublicKey) error {
	var c struct {
		Signatures []struct{ Protected, Signature string }
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	token, err := jose.ParseDetached(c.Signatures[0].Protected+".."+c.Signatures[0].Signature, []byte(card),
		[]jose.SignatureAlgorithm{jose.EdDSA, jose.ES256, jose.ES384, jose.RS256})
	if err != nil {
		return err
	}
	_, err = token.Verify(public)
	return err
}
