package tlog_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// TestParseVerifierRefuses verifies the messages for strings that are not verifier keys.
func TestParseVerifierRefuses(t *testing.T) {
	const wantBase64 = "merkle: expected the base64 of a type and a public key at the end of a verifier key"
	for text, want := range map[string]string{
		"":                  "merkle: expected a verifier key: its name, a plus, 8 hexadecimal digits, a plus, its base64",
		"a+00000000":        "merkle: expected a verifier key: its name, a plus, 8 hexadecimal digits, a plus, its base64",
		"a+00000000+":       wantBase64,
		"a+00000000+A":      wantBase64,
		"a+00000000+AB==":   wantBase64,
		"a+00000000+Aw==":   "merkle: the verifier key is of the type 0x03; expected 0x01 (a log), 0x04 (a witness), or 0x06 (either)",
		"a+00000000+AQ==":   "merkle: public key has 0 bytes, expected 32",
		" +00000000+AQ==":   "merkle: public key has 0 bytes, expected 32",
		"a+00000000+AQ==\n": wantBase64,
	} {
		v, err := tlog.ParseVerifier(text)
		if v != nil || !errors.As(err, new(*tlog.VerifierError)) || err.Error() != want {
			t.Errorf("%q: %v, %v, expected %s", text, v, err, want)
		}
	}
}

// TestParsePolicyRefuses verifies the messages for invalid policies.
func TestParsePolicyRefuses(t *testing.T) {
	witness := newCosigner(t, "w.example", "w").String()
	for text, want := range map[string]string{
		"":                                "merkle: policy: expected exactly one quorum line, found none",
		"quorum none\nquorum none\n":      "merkle: policy, line 2: expected one line quorum NAME|none",
		"quorum none none\n":              "merkle: policy, line 1: expected one line quorum NAME|none",
		"# \x1f\nquorum none\n":           "merkle: policy, line 1: the octet 0x1f is not allowed",
		"# \x7f\nquorum none\n":           "merkle: policy, line 1: the octet 0x7f is not allowed",
		"# \r\nquorum none\n":             "merkle: policy, line 1: the octet 0x0d is not allowed",
		"witness\n":                       "merkle: policy, line 1: expected witness NAME VKEY [URL]",
		"witness a\n":                     "merkle: policy, line 1: expected witness NAME VKEY [URL]",
		"witness a " + witness + " u v\n": "merkle: policy, line 1: expected witness NAME VKEY [URL]",
		"log\n":                           "merkle: policy, line 1: expected log VKEY [URL]",
		"log a u v\n":                     "merkle: policy, line 1: expected log VKEY [URL]",
		"witness a " + witness + "\ngroup g 01 a\nquorum g\n": `merkle: policy, line 2: expected all, any, or a number from 1 to 1, found "01"`,
		"witness a " + witness + "\ngroup g +1 a\nquorum g\n": `merkle: policy, line 2: expected all, any, or a number from 1 to 1, found "+1"`,
		"witness a " + witness + "\ngroup g 2 a\nquorum g\n":  `merkle: policy, line 2: expected all, any, or a number from 1 to 1, found "2"`,
		"witness a " + witness + "\ngroup g 0 a\nquorum g\n":  `merkle: policy, line 2: expected all, any, or a number from 1 to 1, found "0"`,
	} {
		p, err := tlog.ParsePolicy([]byte(text))
		if p != nil || err == nil || err.Error() != want {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
	if _, err := tlog.ParsePolicy([]byte("\t# a comment\t\x20\nquorum none\n")); err != nil {
		t.Error(err)
	}
}

// TestParseProofLines verifies the line numbers in the errors for malformed proofs.
func TestParseProofLines(t *testing.T) {
	const head = "c2sp.org/tlog-proof@v1\n"
	h := merkle.Hash{}.String() + "\n"
	for text, want := range map[string]string{
		head + "\ncheckpoint":                                       "line 2: expected index and a number",
		head + "4\n\ncheckpoint":                                    "line 2: expected index and a number",
		head + "extra AA==\n\ncheckpoint":                           "line 3: expected index and a number",
		head + "extra AA==\nextra AA==\n\ncheckpoint":               "line 3: expected index and a number",
		head + "index 4\n" + h:                                      "line 5: expected an empty line and a signed checkpoint",
		head + "index 4\nx\n\ncheckpoint":                           "line 3: expected the base64 of a 32-byte hash",
		head + "index 4\n" + strings.Repeat(h, 65) + "\ncheckpoint": "line 67: expected at most 64 hashes",
	} {
		p, err := tlog.ParseProof([]byte(text))
		if p != nil || err == nil || err.Error() != "merkle: malformed tlog-proof, "+want {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
	if p, err := tlog.ParseProof([]byte(head + "index 4\n" + strings.Repeat(h, 64) + "\ncheckpoint")); err != nil || len(p.Hashes) != 64 {
		t.Errorf("64 hashes: %v", err)
	}
}

// TestCheckProof verifies that CheckProof returns the checkpoint that contains the entry.
func TestCheckProof(t *testing.T) {
	log := newLog(t, origin)
	leaves := hashes(data(3))
	path, err := merkle.ProveInclusion(leaves, 1)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := tlog.ParsePolicy([]byte("log " + newKnown(t, origin, log).String() + "\nquorum none\n"))
	if err != nil {
		t.Fatal(err)
	}
	checkpoint := signedCheckpoint(t, log, &tlog.Checkpoint{Origin: origin, Size: 3, Root: merkle.Root(leaves)})
	s, err := policy.CheckProof(&tlog.Proof{Index: 1, Hashes: path, Checkpoint: checkpoint}, data(3)[1])
	if err != nil || s == nil || s.Size != 3 || len(s.Logs) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestCheckpointErrorWithoutLine verifies that the message contains no line number if the error
// concerns the entire note.
func TestCheckpointErrorWithoutLine(t *testing.T) {
	if got := (&tlog.CheckpointError{Detail: "malformed"}).Error(); got != "merkle: checkpoint: malformed" {
		t.Error(got)
	}
}

// TestPostQuantumOrigin verifies that an origin of up to 255 bytes can be signed with ML-DSA-44,
// and that longer origins, times above 2^63−1, and errors of the signer are reported.
func TestPostQuantumOrigin(t *testing.T) {
	private := postQuantum(t, "w")
	w, err := tlog.NewWitness(strings.Repeat("w", 255), private.Public())
	if err != nil {
		t.Fatal(err)
	}
	cosigner := &tlog.Cosigner{Witness: w, SignMessage: signing(private)}
	checkpoint := func(length int) []byte {
		return []byte((&tlog.Checkpoint{Origin: strings.Repeat("o", length), Size: 1}).String() + "\n")
	}
	at := time.Unix(1777140000, 0)
	note, err := cosigner.Cosign(t.Context(), checkpoint(255), at)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := tlog.OpenSigned(note, nil, []*tlog.Witness{w}); err != nil || len(s.Cosignatures) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if w.Verify([]byte("not a checkpoint"), make([]byte, 8)) {
		t.Error("a text that is not a checkpoint is verified")
	}
	const want = "merkle: cosigning: the origin or the time does not fit into the message of an ML-DSA-44 signature"
	if note, err := cosigner.Cosign(t.Context(), checkpoint(256), at); note != nil || err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	failed := errors.New("service unavailable")
	cosigner.SignMessage = func(context.Context, []byte) ([]byte, error) { return nil, failed }
	if note, err := cosigner.Cosign(t.Context(), checkpoint(255), at); note != nil || !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}
