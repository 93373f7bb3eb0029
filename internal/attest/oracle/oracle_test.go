package oracle

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/sign"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/signature"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

const head = "8f94139338f9404f26296befa88755fc2598c289"

func read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := fixtures.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func trusted(t testing.TB) *keys.Set {
	t.Helper()
	set, err := keys.ParseSet(read(t, "keys/trust.json"))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// attested creates the statement and the bundle for a fixture.
func attested(t testing.TB, file, key string) (*attest.Statement, []byte) {
	t.Helper()
	sealed, err := receipt.ParseSealed(read(t, file))
	if err != nil {
		t.Fatal(err)
	}
	s, err := attest.NewStatement(sealed, head)
	if err != nil {
		t.Fatal(err)
	}
	k, err := keys.ParsePrivate(read(t, "keys/"+key+".private.json"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := attest.Sign(t.Context(), s, keys.NewSigner(k, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s, e.Bytes()
}

// An other is a sigstore-go verifier that trusts the same keys as the verifier of this module.
type other struct {
	t testing.TB
	v *verify.Verifier
}

func newOther(t testing.TB, set *keys.Set) *other {
	t.Helper()
	known := map[string]*root.ExpiringKey{}
	for _, k := range set.Keys() {
		if k.Algorithm != keys.Ed25519 && k.Algorithm != "ES256" {
			continue
		}
		v, err := signature.LoadVerifier(k.Crypto(), crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		known[k.ID] = root.NewExpiringKey(v, time.Time{}, time.Time{})
	}
	v, err := verify.NewVerifier(root.NewTrustedPublicKeyMaterialFromMapping(known), verify.WithNoObserverTimestamps())
	if err != nil {
		t.Fatal(err)
	}
	return &other{t, v}
}

// verifies returns an error if a bundle does not verify for a subject.
func (o *other) verifies(data []byte, s attest.Subject) error {
	b := new(bundle.Bundle)
	if err := b.UnmarshalJSON(data); err != nil {
		return err
	}
	digest, err := hex.DecodeString(s.Digest)
	if err != nil {
		o.t.Fatal(err)
	}
	_, err = o.v.Verify(b, verify.NewPolicy(verify.WithArtifactDigest(s.Algorithm, digest), verify.WithKey()))
	return err
}

// ours verifies a bundle in the same way as the command.
func ours(t testing.TB, set *keys.Set) func([]byte) receipt.Verdict {
	t.Helper()
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	o, rep := attest.NewOpener(set, receipt.Policy{}), new(receipt.Report)
	return func(data []byte) receipt.Verdict {
		o.Judge(v, data, rep)
		return rep.Verdict
	}
}

// TestSigstoreVerifies verifies that sigstore-go accepts a bundle from this module for each of its
// subjects, and for no other subject.
func TestSigstoreVerifies(t *testing.T) {
	set := trusted(t)
	o := newOther(t, set)
	for file, key := range map[string]string{"valid/task.json": "key_2026_04", "valid/full.json": "key_second", "valid/signed-es256.json": "key_es256", "valid/minimal.json": "key_second"} {
		s, data := attested(t, file, key)
		for _, subject := range s.Subjects {
			if err := o.verifies(data, subject); err != nil {
				t.Errorf("%s for %v: %v", file, subject, err)
			}
		}
		for _, subject := range []attest.Subject{{Algorithm: attest.GitCommit, Digest: strings.Repeat("ab", 20)}, {Algorithm: attest.SHA256, Digest: strings.Repeat("ab", 32)}} {
			if err := o.verifies(data, subject); err == nil {
				t.Errorf("%s verifies for %v", file, subject)
			}
		}
	}
}

// TestChanged verifies that neither implementation accepts a bundle with a changed content byte,
// and that sigstore-go accepts every changed bundle that this module accepts.
func TestChanged(t *testing.T) {
	set := trusted(t)
	o, judge := newOther(t, set), ours(t, set)
	for _, key := range []string{"key_second", "key_es256"} {
		s, data := attested(t, "valid/minimal.json", key)
		subject := s.Subjects[0]
		if err := o.verifies(data, subject); err != nil || judge(data) != receipt.Verified {
			t.Fatalf("unchanged: %v, %v", err, judge(data))
		}

		regions, unseen := map[string]int{}, 0
		for at := range len(data) - 1 { // the last byte is a line feed
			for _, bit := range []byte{0x01, 0x02, 0x20} {
				changed := bytes.Clone(data)
				changed[at] ^= bit
				err, verdict := o.verifies(changed, subject), judge(changed)
				if verdict == receipt.Verified {
					t.Errorf("%s: byte %d, %q instead of %q: verified", key, at, changed[at], data[at])
				}
				switch region := regionOf(data, at); {
				case err != nil:
					regions[region]++
				case lenient(data, changed):
					unseen++
				default:
					t.Errorf("%s: byte %d (%s), %q instead of %q: verifies with sigstore-go", key, at, region, changed[at], data[at])
				}
			}
		}

		// Only the last character of a base64 string has unused bits, so sigstore-go can ignore
		// only a few changes.
		if unseen > 8 {
			t.Errorf("%s: %d changes that sigstore-go does not see", key, unseen)
		}
		for _, region := range []string{"payload", "payloadType", "sig", "hint", "mediaType"} {
			if regions[region] == 0 {
				t.Errorf("no byte of the %s was changed: %v", region, regions)
			}
		}
	}
}

// regionOf returns the name of the member whose text contains the given byte of a bundle.
func regionOf(data []byte, at int) string {
	for _, name := range []string{"mediaType", "hint", "payload", "payloadType", "sig"} {
		from := bytes.Index(data, []byte(`"`+name+`":"`)) + len(name) + 4
		if to := from + bytes.IndexByte(data[from:], '"'); at >= from && at < to {
			return name
		}
	}
	return ""
}

// lenient reports whether sigstore-go ignores a change. It decodes base64 to the same bytes even if
// unused bits of the last character or the alphabet differ.
func lenient(data, changed []byte) bool {
	var a, b struct {
		DsseEnvelope struct {
			Payload    string
			Signatures []struct{ Sig string }
		}
	}
	if json.Unmarshal(data, &a) != nil || json.Unmarshal(changed, &b) != nil || len(b.DsseEnvelope.Signatures) != 1 {
		return false
	}
	loose := func(text string) string {
		raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "="))
		if err != nil {
			return text
		}
		return string(raw)
	}
	return loose(a.DsseEnvelope.Payload) == loose(b.DsseEnvelope.Payload) && loose(a.DsseEnvelope.Signatures[0].Sig) == loose(b.DsseEnvelope.Signatures[0].Sig)
}

// TestSigstoreWrites verifies that this module accepts a bundle that sigstore-go creates from a
// statement, if the key is in the trust file.
func TestSigstoreWrites(t *testing.T) {
	s, _ := attested(t, "valid/minimal.json", "key_second")
	pair, err := sign.NewEphemeralKeypair(nil)
	if err != nil {
		t.Fatal(err)
	}
	made, err := sign.Bundle(&sign.DSSEData{Data: s.Bytes(), PayloadType: attest.PayloadType}, pair, sign.BundleOptions{Context: context.Background()})
	if err != nil {
		t.Fatal(err)
	}
	data, err := protojson.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}

	public, err := keys.FromPublic(pair.GetPublicKey(), string(pair.GetHint()), "ES256")
	if err != nil {
		t.Fatal(err)
	}
	public.Issuers = []string{"harness_example_cloud"}
	set, err := keys.NewSet(append(trusted(t).Keys(), public)...)
	if err != nil {
		t.Fatal(err)
	}
	if verdict := ours(t, set)(data); verdict != receipt.Verified {
		t.Errorf("%v: %s", verdict, data)
	}
	if verdict := ours(t, trusted(t))(data); verdict != receipt.Undecided {
		t.Errorf("without its key: %v", verdict)
	}
}

// TestEncoding verifies that both implementations sign the same bytes.
func TestEncoding(t *testing.T) {
	s, _ := attested(t, "valid/task.json", "key_second")
	for _, data := range [][]byte{s.Bytes(), nil, []byte(" ")} {
		ours, theirs := sha256.Sum256(attest.Encode(attest.PayloadType, data)), sha256.Sum256((&sign.DSSEData{Data: data, PayloadType: attest.PayloadType}).PreAuthEncoding())
		if ours != theirs {
			t.Errorf("%d bytes: other encodings", len(data))
		}
	}
}
