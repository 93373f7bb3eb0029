package tlog_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha3"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"filippo.io/mldsa"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// TestWycheproofMLDSA verifies that a signature from the Wycheproof vectors is accepted if and only
// if it is valid.
func TestWycheproofMLDSA(t *testing.T) {
	for name, v := range map[string]struct {
		parameters   mldsa.Parameters
		tests, valid int
	}{
		"mldsa_44_verify_test.json": {mldsa.MLDSA44(), 180, 77},
		"mldsa_65_verify_test.json": {mldsa.MLDSA65(), 210, 79},
	} {
		var file struct {
			NumberOfTests int
			TestGroups    []struct {
				PublicKey string
				Tests     []struct {
					TcID                           int
					Msg, Sig, Ctx, Result, Comment string
				}
			}
		}
		if err := json.Unmarshal(vectors.File(t, "mldsa", "testvectors_v1", name), &file); err != nil {
			t.Fatal(err)
		}
		decode := func(text string) []byte {
			b, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}

		judged, valid := 0, 0
		for _, g := range file.TestGroups {
			key, err := mldsa.NewPublicKey(v.parameters, decode(g.PublicKey))
			for _, c := range g.Tests {
				failure := err
				if failure == nil {
					failure = mldsa.Verify(key, decode(c.Msg), decode(c.Sig), &mldsa.Options{Context: string(decode(c.Ctx))})
				}
				if (failure == nil) != (c.Result == "valid") {
					t.Errorf("%s, %d: %v, expected %s: %s", name, c.TcID, failure, c.Result, c.Comment)
				}
				judged++
				if failure == nil {
					valid++
				}
			}
		}
		if judged != file.NumberOfTests || judged < v.tests || valid < v.valid {
			t.Errorf("%s: %d tests, %d valid, expected %d", name, judged, valid, file.NumberOfTests)
		}
	}
}

// TestAccumulatedMLDSA verifies keys and signatures against the accumulated vectors from CCTV. For
// each type of key, the vectors contain one hash of many public keys and their deterministic
// signatures of the empty message.
func TestAccumulatedMLDSA(t *testing.T) {
	tests := []struct {
		parameters mldsa.Parameters
		iterations int
		want       string
	}{
		{mldsa.MLDSA44(), 100, "d51148e1f9f4fa1a723a6cf42e25f2a99eb5c1b378b3d2dbbd561b1203beeae4"},
		{mldsa.MLDSA65(), 100, "8358a1843220194417cadbc2651295cd8fc65125b5a5c1a239a16dc8b57ca199"},
		{mldsa.MLDSA44(), 10_000, "e7fd21f6a59bcba60d65adc44404bb29a7c00e5d8d3ec06a732c00a306a7d143"},
	}
	if !testsize.Full() {
		tests = tests[:2]
	}
	for _, v := range tests {
		seeds, sum := sha3.NewSHAKE128(), sha3.NewSHAKE128()
		for range v.iterations {
			seed := make([]byte, mldsa.PrivateKeySize)
			seeds.Read(seed)
			key, err := mldsa.NewPrivateKey(v.parameters, seed)
			if err != nil {
				t.Fatal(err)
			}
			signature, err := key.SignDeterministic(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			sum.Write(key.PublicKey().Bytes())
			sum.Write(signature)
		}
		digest := make([]byte, 32)
		sum.Read(digest)
		if got := hex.EncodeToString(digest); got != v.want {
			t.Errorf("%v, %d iterations: %s, expected %s", v.parameters, v.iterations, got, v.want)
		}
	}
}

// postQuantum returns an ML-DSA-44 key that is derived from a letter.
func postQuantum(t *testing.T, letter string) *mldsa.PrivateKey {
	t.Helper()
	key, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), []byte(strings.Repeat(letter, mldsa.PrivateKeySize)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// signing returns a function that creates deterministic signatures.
func signing(key *mldsa.PrivateKey) func(context.Context, []byte) ([]byte, error) {
	return func(_ context.Context, message []byte) ([]byte, error) { return key.SignDeterministic(message, nil) }
}

// TestPostQuantumCosigner verifies that a cosignature by an ML-DSA-44 key covers the time, the
// origin, the size, and the root, and that a signature without a time is not a cosignature.
func TestPostQuantumCosigner(t *testing.T) {
	private := postQuantum(t, "w")
	w, err := tlog.NewWitness("w.example", private.Public())
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := tlog.ParseVerifier(w.String())
	if err != nil || parsed.KeyHash() != w.KeyHash() || !w.HasKey(parsed.Public()) {
		t.Fatalf("%v, %v", parsed, err)
	}
	cosigner := &tlog.Cosigner{Witness: w, SignMessage: signing(private)}

	c := &tlog.Checkpoint{Origin: origin, Size: 5, Root: merkle.Root(hashes(data(5)))}
	signed := []byte(c.String() + "\n")
	note, err := cosigner.Cosign(t.Context(), signed, time.Unix(1777140000, 0))
	if err != nil {
		t.Fatal(err)
	}
	s, err := tlog.OpenSigned(note, nil, []*tlog.Witness{w})
	if err != nil || len(s.Cosignatures) != 1 || s.Cosignatures[0].At.Unix() != 1777140000 {
		t.Fatalf("%+v, %v", s, err)
	}

	for _, changed := range []string{
		strings.Replace(string(note), origin, origin+"x", 1),
		strings.Replace(string(note), "\n5\n", "\n6\n", 1),
		strings.Replace(string(note), c.Root.String(), merkle.EmptyRoot().String(), 1),
	} {
		if _, err := tlog.OpenSigned([]byte(changed), nil, []*tlog.Witness{w}); err == nil {
			t.Errorf("accepted %.80q", changed)
		}
	}
	if _, err := cosigner.Cosign(t.Context(), signed, time.Unix(0, 0)); err == nil {
		t.Error("cosigned at time 0, which makes no statement about the largest tree")
	}
	if _, err := tlog.NewWitness(strings.Repeat("w", 256), private.Public()); err == nil {
		t.Error("accepted a name whose length does not fit into one byte")
	}
	other, err := mldsa.NewPrivateKey(mldsa.MLDSA65(), make([]byte, mldsa.PrivateKeySize))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tlog.NewWitness("w.example", other.Public()); err == nil {
		t.Error("accepted an ML-DSA-65 key, for which notes have no type")
	}
}

// TestPostQuantumLog verifies checkpoints that are signed by a log with an ML-DSA-44 key and
// cosigned with keys of both types. The policy counts both types of cosignatures.
func TestPostQuantumLog(t *testing.T) {
	private := postQuantum(t, "l")
	log, err := tlog.NewLog(origin, private.Public())
	if err != nil {
		t.Fatal(err)
	}
	leaves := hashes(data(5))
	c := &tlog.Checkpoint{Origin: origin, Size: 5, Root: merkle.Root(leaves)}
	signer := &tlog.LogSigner{Log: log, SignMessage: signing(private)}
	plain, err := signer.SignCheckpoint(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}

	// Add one witness with each type of key.
	old := newCosigner(t, "old.example", "old")
	w, err := tlog.NewWitness("new.example", postQuantum(t, "n").Public())
	if err != nil {
		t.Fatal(err)
	}
	cosigner := &tlog.Cosigner{Witness: w, SignMessage: signing(postQuantum(t, "n"))}
	at := time.Unix(1777140000, 0)
	mixed, err := old.Cosign(t.Context(), plain, at)
	if err == nil {
		mixed, err = cosigner.Cosign(t.Context(), mixed, at)
	}
	if err != nil {
		t.Fatal(err)
	}

	text := fmt.Sprintf("log %s\nwitness a %s\nwitness b %s\ngroup g all a b\nquorum g\n", log, old, w)
	policy, err := tlog.ParsePolicy([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := policy.Open(mixed)
	if err != nil || len(s.Logs) != 1 || len(s.Cosignatures) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, err := policy.Open(plain); !errors.Is(err, tlog.ErrUnmet) {
		t.Errorf("without cosignatures: %v", err)
	}

	// A log cannot be its own witness under any name.
	self, err := tlog.NewWitness("self.example", private.Public())
	if err != nil {
		t.Fatal(err)
	}
	signed, err := (&tlog.Cosigner{Witness: self, SignMessage: signing(private)}).Cosign(t.Context(), plain, at)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := tlog.ParsePolicy(fmt.Appendf(nil, "log %s\nwitness a %s\nquorum a\n", log, self))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alone.Open(signed); !errors.Is(err, tlog.ErrUnmet) {
		t.Errorf("cosigned by the log itself: %v", err)
	}

	// A client that does not have the ML-DSA-44 keys cannot check the corresponding lines, so these
	// lines do not affect the result.
	blind, err := tlog.OpenSigned(mixed, nil, []*tlog.Witness{old.Witness})
	if err != nil || len(blind.Cosignatures) != 1 || len(blind.Unknown) != 2 {
		t.Errorf("%+v, %v", blind, err)
	}

	// Each of the three signatures covers the tree.
	var refuted *tlog.SignatureError
	if _, err := policy.Open(bytes.Replace(mixed, []byte("\n5\n"), []byte("\n6\n"), 1)); !errors.As(err, &refuted) {
		t.Errorf("another size: %v", err)
	}
	lines := strings.SplitAfter(string(mixed), "\n")
	for i := 4; i < 7; i++ {
		middle := len(lines[i]) / 2
		damaged := strings.Replace(string(mixed), lines[i], lines[i][:middle]+"AAAA"+lines[i][middle+4:], 1)
		if _, err := policy.Open([]byte(damaged)); !errors.As(err, &refuted) {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
	wrong := &tlog.LogSigner{Log: log, SignMessage: signing(postQuantum(t, "n"))}
	if _, err := wrong.SignCheckpoint(t.Context(), c); err == nil {
		t.Error("a signer with another key is not noticed")
	}

	// The log's signature, which has the time 0, is not a cosignature, but it is valid.
	twin, err := tlog.NewWitness(origin, private.Public())
	if err != nil {
		t.Fatal(err)
	}
	if s, err := tlog.OpenSigned(plain, nil, []*tlog.Witness{twin}); err != nil || len(s.Cosignatures) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestPolicyTypes verifies that an Ed25519 key has only the role specified by its type, and that an
// ML-DSA-44 key may have either role.
func TestPolicyTypes(t *testing.T) {
	public := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public()
	log, err := tlog.NewLog(origin, public)
	if err != nil {
		t.Fatal(err)
	}
	w, err := tlog.NewWitness("w.example", public)
	if err != nil {
		t.Fatal(err)
	}
	post, err := tlog.NewWitness("p.example", postQuantum(t, "p").Public())
	if err != nil {
		t.Fatal(err)
	}
	for line, valid := range map[string]bool{
		"log " + log.String():        true,
		"log " + w.String():          false,
		"log " + post.String():       true,
		"witness a " + log.String():  false,
		"witness a " + w.String():    true,
		"witness a " + post.String(): true,
	} {
		if _, err := tlog.ParsePolicy([]byte(line + "\nquorum none\n")); (err == nil) != valid {
			t.Errorf("%.40s…: %v, expected valid %v", line, err, valid)
		}
	}
}
