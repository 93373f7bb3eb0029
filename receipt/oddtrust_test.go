package receipt_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
)

// oddTrust is a Trust that always returns the same answer.
type oddTrust struct{ err *receipt.SignatureError }

func (o oddTrust) Len() int { return 1 }

func (o oddTrust) CheckSignature([]byte, *receipt.Entry) (*receipt.Key, *receipt.SignatureError) {
	return nil, o.err
}

// TestTrustWithoutJudgement verifies that a Trust that returns a disallowed answer decides nothing.
// The receipt must be neither verified, nor refuted, nor reported as unsigned.
func TestTrustWithoutJudgement(t *testing.T) {
	data := forge(t, plainDraft(), keep, logKeys()["a"])
	want := undecided(receipt.StepSignatures, receipt.CodeUnknownKey, "/signatures/0")
	for name, err := range map[string]*receipt.SignatureError{
		"neither key nor error": nil,
		"no code":               {},
		"a code of its own":     {Code: "kms_unavailable", Detail: "timeout"},
		"another step's code":   {Code: receipt.CodeHashMismatch},
		"the policy's business": {Code: "key_expired"},
	} {
		v, newErr := receipt.NewVerifier(oddTrust{err}, receipt.Policy{})
		if newErr != nil {
			t.Fatal(newErr)
		}
		if got := outcomeOf(verify(v, data)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
