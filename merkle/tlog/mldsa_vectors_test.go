package tlog_test

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"filippo.io/mldsa"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

// TestWycheproofMLDSA verifies that the library for ML-DSA-44 accepts exactly the signatures of
// Wycheproof that are valid. Cosignatures have no context.
func TestWycheproofMLDSA(t *testing.T) {
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
	if err := json.Unmarshal(vectors.File(t, "mldsa", "testvectors_v1", "mldsa_44_verify_test.json"), &file); err != nil {
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
		key, err := mldsa.NewPublicKey(mldsa.MLDSA44(), decode(g.PublicKey))
		for _, c := range g.Tests {
			failure := err
			if failure == nil {
				failure = mldsa.Verify(key, decode(c.Msg), decode(c.Sig), &mldsa.Options{Context: string(decode(c.Ctx))})
			}
			if (failure == nil) != (c.Result == "valid") {
				t.Errorf("%d: %v, expected %s: %s", c.TcID, failure, c.Result, c.Comment)
			}
			judged++
			if failure == nil {
				valid++
			}
		}
	}
	if judged != file.NumberOfTests || judged < 180 || valid < 77 {
		t.Errorf("%d tests, %d valid, expected %d", judged, valid, file.NumberOfTests)
	}
}
