package tlog_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

const origin = "log.example.net/receipts"

// data returns n distinct leaves.
func data(n int) [][]byte {
	d := make([][]byte, n)
	for i := range d {
		d[i] = fmt.Appendf(nil, "leaf %d", i)
	}
	return d
}

func hashes(d [][]byte) []merkle.Hash {
	h := make([]merkle.Hash, len(d))
	for i := range d {
		h[i] = merkle.LeafHash(d[i])
	}
	return h
}

type logKey struct {
	signer   note.Signer
	verifier note.Verifier
}

func newLog(t *testing.T, name string) logKey {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	skey, vkey, err := note.GenerateKey(bytes.NewReader(seed[:]), name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return logKey{signer, verifier}
}

func newCosigner(t *testing.T, name, material string) *tlog.Cosigner {
	t.Helper()
	seed := sha256.Sum256([]byte(material))
	key := ed25519.NewKeyFromSeed(seed[:])
	w, err := tlog.NewWitness(name, key.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return &tlog.Cosigner{Witness: w, SignMessage: func(ctx context.Context, m []byte) ([]byte, error) {
		return ed25519.Sign(key, m), ctx.Err()
	}}
}

func signedCheckpoint(t *testing.T, log logKey, c *tlog.Checkpoint) []byte {
	t.Helper()
	msg, err := note.Sign(&note.Note{Text: c.String()}, log.signer)
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

func TestCheckpoint(t *testing.T) {
	log := newLog(t, origin)
	leaves := hashes(data(5))
	want := &tlog.Checkpoint{Origin: origin, Size: 5, Root: merkle.Root(leaves)}
	msg := signedCheckpoint(t, log, want)
	c, n, err := openCheckpoint(msg, log.verifier)
	if err != nil || c.String() != want.String() || len(n.Sigs) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, _, err := openCheckpoint(msg, newLog(t, "other.example.net").verifier); err == nil {
		t.Error("another log's key opens the checkpoint")
	}
	for i := range msg { // a change to any byte must be detected
		bad := bytes.Clone(msg)
		bad[i] ^= 1
		if c, _, err := openCheckpoint(bad, log.verifier); err == nil && c.String() != want.String() {
			t.Errorf("byte %d changed: %+v", i, c)
		}
	}
	foreign := &tlog.Checkpoint{Origin: "other.example.net", Size: 5, Root: want.Root}
	var malformed *tlog.CheckpointError
	if _, _, err := openCheckpoint(signedCheckpoint(t, log, foreign), log.verifier); !errors.As(err, &malformed) || malformed.Line != 1 {
		t.Errorf("another origin than the key's name: %v", err)
	}
}

func TestParseCheckpoint(t *testing.T) {
	root := merkle.Root(hashes(data(3))).String()
	for _, good := range []string{"o\n3\n" + root + "\n", "o\n3\n" + root + "\nextension\nmore\n", "o\n0\n" + merkle.EmptyRoot().String() + "\n", "o\n18446744073709551615\n" + root + "\n", "an origin\n3\n" + root + "\nan extension\n"} {
		if c, err := tlog.ParseCheckpoint(good); err != nil || c.String() != good {
			t.Errorf("%q: %+v, %v", good, c, err)
		}
	}
	for bad, line := range map[string]int{
		"": 1, "o\n3\n": 2, "o\n3\n" + root: 3, "\n3\n" + root + "\n": 1, "o\n03\n" + root + "\n": 2, "o\n+3\n" + root + "\n": 2, "o\n-1\n" + root + "\n": 2,
		"o\n18446744073709551616\n" + root + "\n": 2, "o\n3 \n" + root + "\n": 2, "o\n3\r\n" + root + "\n": 2, "o\n3\n" + root[:43] + "\n": 3, "o\n3\n" + root + "=\n": 3,
		"o\n3\n" + root + "\n\n": 4, "o\n0\n" + root + "\n": 3, "o\x1b\n3\n" + root + "\n": 1, "o\x7f\n3\n" + root + "\n": 1, "o\n3\n" + root + "\n\ufffd\n": 4,
	} {
		c, err := tlog.ParseCheckpoint(bad)
		var malformed *tlog.CheckpointError
		if !errors.As(err, &malformed) || malformed.Line != line || c != nil || !strings.Contains(err.Error(), fmt.Sprintf("checkpoint, line %d: ", line)) {
			t.Errorf("%q: %+v, %v; want an error in line %d", bad, c, err, line)
		}
	}
}

// TestCosignatureBeyondTime verifies that a time above 2^63−1 seconds is rejected even if a witness
// signed it, because it would be interpreted as a time before 1970.
func TestCosignatureBeyondTime(t *testing.T) {
	w := newCosigner(t, "w1.example", "w1")
	text := (&tlog.Checkpoint{Origin: origin, Root: merkle.EmptyRoot()}).String()
	for seconds, want := range map[uint64]bool{0: true, math.MaxInt64: true, math.MaxInt64 + 1: false, math.MaxUint64: false} {
		signature, err := w.SignMessage(t.Context(), fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", seconds, text))
		if err != nil {
			t.Fatal(err)
		}
		payload := append(binary.BigEndian.AppendUint64(nil, seconds), signature...)
		if got := w.Verify([]byte(text), payload); got != want {
			t.Errorf("time %d: %t, want %t", seconds, got, want)
		}
		line := base64.StdEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, w.KeyHash()), payload...))
		s, err := tlog.OpenSigned(fmt.Appendf(nil, "%s\n— w1.example %s\n", text, line), nil, []*tlog.Witness{w.Witness})
		if (err == nil) != want || want && (len(s.Cosignatures) != 1 || s.Cosignatures[0].At.Unix() != int64(seconds)) {
			t.Errorf("time %d: %v", seconds, err)
		}
	}

	// There is no message for such a time. A signature of an empty message does not replace it, and
	// neither does a part of a signature.
	signature, err := w.SignMessage(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	payload := append(binary.BigEndian.AppendUint64(nil, math.MaxUint64), signature...)
	for n := range len(payload) + 1 {
		if w.Verify([]byte(text), payload[:n]) {
			t.Errorf("%d bytes of a signature of an empty message are valid", n)
		}
	}
}

func TestCosignature(t *testing.T) {
	log := newLog(t, origin)
	w1, w2 := newCosigner(t, "w1.example", "w1"), newCosigner(t, "w2.example", "w2")
	plain := signedCheckpoint(t, log, &tlog.Checkpoint{Origin: origin, Size: 5, Root: merkle.Root(hashes(data(5)))})
	at := time.Unix(1777140000, 0).UTC()
	msg, err := w1.Cosign(t.Context(), plain, at)
	if err != nil {
		t.Fatal(err)
	}
	_, n, err := openCheckpoint(msg, log.verifier, w1, w2)
	if err != nil || len(n.Sigs) != 2 {
		t.Fatalf("%+v, %v", n, err)
	}
	if got, ok := cosignedAt(w1.Witness, n); !ok || !got.Equal(at) {
		t.Errorf("cosigned at %v, %t; want %v", got, ok, at)
	}
	if got, ok := cosignedAt(w2.Witness, n); ok {
		t.Errorf("w2 did not cosign, found %v", got)
	}
	// The signature line of an unknown witness is ignored and not reported.
	_, n, err = openCheckpoint(msg, log.verifier, w2)
	if err != nil || len(n.Sigs) != 1 || len(n.UnverifiedSigs) != 1 {
		t.Errorf("unknown witness: %+v, %v", n, err)
	}
	if _, ok := cosignedAt(w1.Witness, n); ok {
		t.Error("an unverified cosignature has a time")
	}
	// A note that has a signature line from a witness but not from the log is not a checkpoint.
	text, sigs, _ := strings.Cut(string(msg), "\n\n")
	only := text + "\n\n" + sigs[strings.Index(sigs, "\n")+1:]
	if _, _, err := openCheckpoint([]byte(only), log.verifier, w1); err == nil {
		t.Error("a witness stands for the log")
	}
	// An invalid signature line from a known witness refutes the checkpoint.
	var false_ *note.InvalidSignatureError
	moved := strings.Replace(string(msg), "\n5\n", "\n6\n", 1)
	if _, _, err := openCheckpoint([]byte(moved), w1, log.verifier); !errors.As(err, &false_) {
		t.Errorf("a false cosignature: %v", err)
	}
	wrongKey := newCosigner(t, "w1.example", "stolen")
	wrongKey.Witness = w1.Witness
	if m, err := wrongKey.Cosign(t.Context(), plain, at); err == nil || m != nil {
		t.Error("a signer with another key is not noticed")
	}
	if m, err := w1.Cosign(t.Context(), []byte("no note"), at); err == nil || m != nil {
		t.Error("something else than a note is cosigned")
	}
	// Try an unsigned checkpoint with and without the line feed at its end.
	bare := (&tlog.Checkpoint{Origin: origin, Size: 5, Root: merkle.Root(hashes(data(5)))}).String()
	for _, text := range []string{bare, strings.TrimSuffix(bare, "\n")} {
		if m, err := w1.Cosign(t.Context(), []byte(text), at); err == nil || m != nil {
			t.Errorf("%q is cosigned: %s", text, m)
		}
	}
	for _, name := range []string{"", "a b", "a+b", "a\u00a0b", "\xff"} {
		if _, err := tlog.NewWitness(name, w1.Public()); err == nil {
			t.Errorf("the name %q is accepted", name)
		}
	}
}

func TestProofFile(t *testing.T) {
	log := newLog(t, origin)
	leaves := hashes(data(6))
	checkpoint := signedCheckpoint(t, log, &tlog.Checkpoint{Origin: origin, Size: 6, Root: merkle.Root(leaves)})
	hashes, err := merkle.ProveInclusion(leaves, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, extra := range [][]byte{nil, {}, []byte("opaque")} {
		want := &tlog.Proof{Extra: extra, Index: 4, Hashes: hashes, Checkpoint: checkpoint}
		p, err := tlog.ParseProof(want.Format())
		if err != nil || p.Index != 4 || !slices.Equal(p.Hashes, hashes) || !bytes.Equal(p.Extra, extra) || (p.Extra == nil) != (extra == nil) {
			t.Fatalf("%+v, %v", p, err)
		}
		c, _, err := openCheckpoint(p.Checkpoint, log.verifier)
		if err != nil {
			t.Fatal(err)
		}
		if err := merkle.CheckInclusion(leaves[4], p.Index, c.Size, p.Hashes, c.Root); err != nil {
			t.Error(err)
		}
		if merkle.CheckInclusion(leaves[3], p.Index, c.Size, p.Hashes, c.Root) == nil {
			t.Error("a proof for one leaf holds for another")
		}
	}
	good := string((&tlog.Proof{Index: 4, Hashes: hashes, Checkpoint: checkpoint}).Format())
	for name, bad := range map[string]string{
		"empty":         "",
		"other version": strings.Replace(good, "@v1", "@v2", 1),
		"no index":      strings.Replace(good, "index 4\n", "", 1),
		"leading zero":  strings.Replace(good, "index 4", "index 04", 1),
		"negative":      strings.Replace(good, "index 4", "index -4", 1),
		"too large":     strings.Replace(good, "index 4", "index 18446744073709551616", 1),
		"hexadecimal":   strings.Replace(good, hashes[0].String(), strings.Repeat("0", 64), 1),
		"no checkpoint": strings.SplitN(good, "\n\n", 2)[0],
		"carriage":      strings.ReplaceAll(good, "\n", "\r\n"),
		"bad extra":     strings.Replace(good, "index", "extra !\nindex", 1),
		"many hashes":   strings.Replace(good, hashes[0].String()+"\n", strings.Repeat(hashes[0].String()+"\n", 70), 1),
	} {
		if p, err := tlog.ParseProof([]byte(bad)); !errors.As(err, new(*tlog.ProofError)) || p != nil {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func FuzzParseProof(f *testing.F) {
	f.Add([]byte("c2sp.org/tlog-proof@v1\nextra AA==\nindex 4\n" + merkle.EmptyRoot().String() + "\n\ncheckpoint"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := tlog.ParseProof(text); err == nil && !bytes.Equal(p.Format(), text) {
			t.Errorf("%q is read as %q", text, p.Format())
		}
	})
}

// openCheckpoint opens a signed checkpoint with package note, so that the result can be compared
// with that of OpenSigned. The note must have a valid signature by log, whose name must be the
// origin. Witness signatures are also checked. An invalid signature is an error
// (note.InvalidSignatureError), but an absent signature is not. The returned note lists the valid
// signatures in Sigs and the signatures by unknown keys in UnverifiedSigs.
func openCheckpoint(msg []byte, log note.Verifier, witnesses ...note.Verifier) (*tlog.Checkpoint, *note.Note, error) {
	n, err := note.Open(msg, note.VerifierList(append([]note.Verifier{log}, witnesses...)...))
	if err != nil {
		return nil, nil, err
	}
	if !signedBy(n, log) {
		return nil, nil, fmt.Errorf("merkle: the checkpoint is not signed by the log %q", log.Name())
	}

	c, err := tlog.ParseCheckpoint(n.Text)
	if err != nil {
		return nil, nil, err
	}
	if c.Origin != log.Name() {
		return nil, nil, &tlog.CheckpointError{1, fmt.Sprintf("expected the origin %q, the log's name, found %.80q", log.Name(), c.Origin)}
	}

	return c, n, nil
}

func signedBy(n *note.Note, v note.Verifier) bool {
	for _, s := range n.Sigs {
		if s.Name == v.Name() && s.Hash == v.KeyHash() {
			return true
		}
	}
	return false
}

// cosignedAt returns the time stated in the witness's cosignature on n. It returns false if n has
// no verified cosignature by the witness.
func cosignedAt(w *tlog.Witness, n *note.Note) (time.Time, bool) {
	for _, s := range n.Sigs {
		if s.Name != w.Name() || s.Hash != w.KeyHash() {
			continue
		}
		payload, err := base64.StdEncoding.DecodeString(s.Base64)
		if err != nil || len(payload) != 4+8+ed25519.SignatureSize {
			return time.Time{}, false
		}
		return time.Unix(int64(binary.BigEndian.Uint64(payload[4:])), 0).UTC(), true
	}
	return time.Time{}, false
}
