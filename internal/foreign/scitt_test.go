package foreign_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"filippo.io/mldsa"

	"github.com/receiptkit/receiptkit/internal/foreign/scitt"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// registered returns the statement of a public case, with the receipt of the case in the
// unprotected header. In the file, this header is empty. The label of receipts is 394.
func registered(t testing.TB, name string) []byte {
	t.Helper()
	statement, proof := read(t, "scitt-cose", name, "statement.cose"), read(t, "scitt-cose", name, "receipt.cose")
	n, size := int(statement[3]), 4 // skips the bytes d2 84 and the head of the protected header
	if statement[2] != 0x58 {
		n, size = int(statement[3])<<8|int(statement[4]), 5
	}
	at := size + n
	if statement[at] != 0xa0 {
		t.Fatalf("%s: the unprotected header is not empty", name)
	}
	header := append([]byte{0xa1, 0x19, 394 >> 8, 394 & 0xff, 0x81, 0x59, byte(len(proof) >> 8), byte(len(proof))}, proof...)
	if len(proof) < 256 {
		header = append([]byte{0xa1, 0x19, 394 >> 8, 394 & 0xff, 0x81, 0x58, byte(len(proof))}, proof...)
	}
	return slices.Concat(statement[:at], header, statement[at+1:])
}

// scittKeys returns the keys for a public case. Statements contain no key ID, so the issuer's key
// is restricted to the issuer that the statement names.
func scittKeys(t testing.TB, name, issuer string, log bool) *keys.Set {
	t.Helper()
	parse := func(file, id string) *keys.PublicKey {
		k, err := keys.ParsePublicPEM(read(t, "scitt-cose", name, file), id, "")
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	k := parse("issuer-key.pub", "issuer")
	k.Issuers = []string{issuer}
	list := []*keys.PublicKey{k}
	if log {
		id := "log"
		if name == "valid-ccf-vds2" {
			_, id, _ = strings.Cut(string(read(t, "scitt-cose", name, "receipt.cose")), "\x04\x58\x40")
			id = id[:64] // the ledger's receipt contains the ID of its key
		}
		k := parse("log-key.pub", id)
		k.Roles, k.Origin = []receipt.Role{receipt.RoleCheckpoint}, "log.example"
		list = append(list, k)
	}
	set, err := keys.NewSet(list...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestSCITT verifies the outcome for each public case. No EdDSA case contains a key ID, so an
// invalid signature cannot be distinguished from a signature by another key.
func TestSCITT(t *testing.T) {
	const issuer = "https://test-vectors.scitt-cose.invalid"
	const x509 = "did:x509:0:sha256:q1zW6MbROTsJvpQD4l9NTXlrhltSoPXyqWff4bInoHg::eku:1.3.6.1.4.1.311.10.3.13"
	for _, test := range []struct {
		name, issuer, want, withoutLog string
	}{
		{"valid-eddsa", issuer, "verified", "verified"},
		{"valid-ccf-vds2", x509, "verified", "verified"},
		{"fail-bad-statement-sig", issuer, "undecided unknown_key", "undecided unknown_key"},
		{"fail-tampered-path", issuer, "undecided unknown_key", "verified"},
	} {
		data := registered(t, test.name)
		rep := judge(t, scittKeys(t, test.name, test.issuer, true), receipt.Policy{}, data)
		if outcome(rep) != test.want || test.want == "verified" && rep.Check(receipt.StepBatch).Status != receipt.StatusPassed {
			t.Errorf("%s: %s, batch %v; want %s", test.name, outcome(rep), rep.Check(receipt.StepBatch), test.want)
		}
		rep = judge(t, scittKeys(t, test.name, test.issuer, false), receipt.Policy{}, data)
		if outcome(rep) != test.withoutLog || rep.Check(receipt.StepBatch).Code != receipt.CodeBatchNotChecked {
			t.Errorf("%s without the key of the log: %s, batch %v; want %s", test.name, outcome(rep), rep.Check(receipt.StepBatch), test.withoutLog)
		}

		// A receipt alone does not show which statement it belongs to.
		if got := outcome(judge(t, scittKeys(t, test.name, test.issuer, true), receipt.Policy{}, read(t, "scitt-cose", test.name, "receipt.cose"))); got != "undecided material_not_found" {
			t.Errorf("the receipt of %s: %s", test.name, got)
		}
	}

	// A receipt for another statement does not lead to the signed root, and a policy may require a
	// receipt that does.
	swapped := bytes.Replace(registered(t, "valid-eddsa"), read(t, "scitt-cose", "valid-eddsa", "receipt.cose"), read(t, "scitt-cose", "fail-bad-statement-sig", "receipt.cose"), 1)
	set := scittKeys(t, "valid-eddsa", issuer, true)
	if got := outcome(judge(t, set, receipt.Policy{}, swapped)); got != "undecided unknown_key" {
		t.Errorf("with the receipt of another statement: %s", got)
	}
	required := receipt.Policy{Checkpoint: receipt.CheckpointRule{Required: true}}
	if got := outcome(judge(t, set, required, registered(t, "valid-eddsa"))); got != "verified" {
		t.Errorf("with a required checkpoint: %s", got)
	}
	if got := outcome(judge(t, set, required, read(t, "scitt-cose", "valid-eddsa", "statement.cose"))); got != "undecided checkpoint_required" {
		t.Errorf("without a receipt: %s", got)
	}

	// A receipt may contain several proofs, all of which must lead to the signed root.
	proof := read(t, "scitt-cose", "valid-eddsa", "receipt.cose")
	at := bytes.Index(proof, []byte{0x20, 0x81}) + 1 // the list of proofs of inclusion
	_, one, _ := bytes.Cut(proof, []byte{0x20, 0x81})
	one, _, _ = bytes.Cut(one, []byte{0xf6, 0x58, 0x40})
	for count, want := range map[int]receipt.Code{2: "", 16: "", 17: receipt.CodeProofInvalid} {
		several := slices.Concat(proof[:at], []byte{0x80 | byte(count)}, bytes.Repeat(one, count), proof[at+1+len(one):])
		data := slices.Concat([]byte{0xa1, 0x19, 394 >> 8, 394 & 0xff, 0x81, 0x59, byte(len(several) >> 8), byte(len(several))}, several)
		statement := read(t, "scitt-cose", "valid-eddsa", "statement.cose")
		before := bytes.Index(registered(t, "valid-eddsa"), []byte{0xa1, 0x19, 394 >> 8, 394 & 0xff})
		rep := judge(t, set, receipt.Policy{}, slices.Concat(statement[:before], data, statement[before+1:]))
		if got := rep.Check(receipt.StepBatch); got.Code != want {
			t.Errorf("%d proofs: %v; want %s", count, got, want)
		}
	}

	// The ledger's receipt contains its key ID, so an altered path is refuted.
	ccf := registered(t, "valid-ccf-vds2")
	ccf[bytes.Index(ccf, []byte("ce:2."))+3] ^= 1
	if got := outcome(judge(t, scittKeys(t, "valid-ccf-vds2", x509, true), receipt.Policy{}, ccf)); got != "refuted proof_invalid" {
		t.Errorf("with another evidence: %s", got)
	}
}

// TestSCITTPostQuantum verifies a statement that is signed with ML-DSA-65.
func TestSCITTPostQuantum(t *testing.T) {
	private, err := mldsa.NewPrivateKey(mldsa.MLDSA65(), make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	k, err := keys.FromPublic(private.Public(), "k", "ML-DSA-65")
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.NewSet(k)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(_ context.Context, message []byte) ([]byte, error) {
		return private.Sign(nil, message, &mldsa.Options{})
	}
	data, err := scitt.Sign(t.Context(), scitt.Statement{Issuer: "a", Subject: "s", KeyID: "k", Algorithm: "ML-DSA-65", ContentType: "text/plain", Payload: []byte("x")}, sign)
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome(judge(t, set, receipt.Policy{Issuer: "a"}, data)); got != "verified" {
		t.Error(got)
	}
}

// TestSCITTMutants verifies that no changed statement is verified, unless only the unprotected
// header was changed.
func TestSCITTMutants(t *testing.T) {
	const issuer = "https://test-vectors.scitt-cose.invalid"
	statement, data := read(t, "scitt-cose", "valid-eddsa", "statement.cose"), registered(t, "valid-eddsa")
	v, err := receipt.NewVerifier(scittKeys(t, "valid-eddsa", issuer, true), receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.IndexByte(statement[4:], 0xa0) + 4 // the empty header
	protected, rest := statement[:at], statement[at+1:]
	n := mutants(t, 5000, 50_000)
	counts := map[string]int{}
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 2))
		text := bytes.Clone(data)
		k := r.IntN(len(text))
		switch r.IntN(4) {
		case 0:
			text = slices.Delete(text, k, min(k+1+r.IntN(8), len(text)))
		case 1:
			text = slices.Insert(text, k, byte(r.Uint32()))
		case 2:
			text = append(text, text[k:]...)
		default:
			text[k] ^= 1 << r.IntN(8)
		}
		rep := judgeWith(v, text)
		counts[fmt.Sprint(rep.Verdict)]++
		if rep.Verdict == receipt.Verified && !(bytes.HasPrefix(text, protected) && bytes.HasSuffix(text, rest)) {
			t.Fatalf("mutant %d is verified: %x", i, text)
		}
		if rep.Check(receipt.StepBatch).Status == receipt.StatusPassed && !bytes.Equal(text, data) {
			t.Fatalf("mutant %d is in the log: %x", i, text)
		}
	}
	if counts["refuted"] == 0 || counts["undecided"] == 0 {
		t.Errorf("%v", counts)
	}
}

// TestCBOR verifies that a message is accepted only in its shortest form.
func TestCBOR(t *testing.T) {
	for name, data := range map[string]string{
		"a longer length":        "\xd2\x84\x58\x03\xa1\x01\x27\xa0\x40\x40",
		"an indefinite length":   "\xd2\x9f\x43\xa1\x01\x27\xa0\x40\x40\xff",
		"two equal labels":       "\xd2\x84\x45\xa2\x01\x27\x01\x27\xa0\x40\x40",
		"bytes after it":         "\xd2\x84\x43\xa1\x01\x27\xa0\x40\x40\x00",
		"a length without bytes": "\xd2\x84\x5b\xff\xff\xff\xff\xff\xff\xff\xff",
		"an array without end":   "\xd2\x84\x43\xa1\x01\x27\xa0\x40\x9b\xff\xff\xff\xff\xff\xff\xff\xff",
		"three parts":            "\xd2\x83\x43\xa1\x01\x27\xa0\x40",
		"an unprotected alg":     "\xd2\x84\x40\xa1\x01\x27\x40\x40",
	} {
		v, err := receipt.NewVerifier(testSet(t, "k"), receipt.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		if rep := judgeWith(v, []byte(data)); rep.Verdict == receipt.Verified || name != "an indefinite length" && name != "three parts" && rep.Verdict != receipt.Refuted {
			t.Errorf("%s: %s", name, outcome(rep))
		}
	}
}

// FuzzSCITT verifies that any input gets a report, and that only the payload of a public case is
// verified.
func FuzzSCITT(f *testing.F) {
	for _, name := range []string{"valid-eddsa", "valid-ccf-vds2", "fail-tampered-path"} {
		f.Add(registered(f, name))
	}
	v, err := receipt.NewVerifier(scittKeys(f, "valid-eddsa", "https://test-vectors.scitt-cose.invalid", true), receipt.Policy{})
	if err != nil {
		f.Fatal(err)
	}
	payload := read(f, "scitt-cose", "valid-eddsa", "payload.bin")
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append([]byte("\xd2\x84"), bytes.TrimPrefix(data, []byte("\xd2\x84"))...)
		if rep := judgeWith(v, data); rep.Verdict == receipt.Verified && !bytes.Contains(data, payload) {
			t.Errorf("%x is verified", data)
		}
	})
}
