package attest

import (
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// A judge evaluates an envelope's signature in the same way as a verifier evaluates a receipt's
// signature: the key must be allowed to speak for the issuer, in this role, at this time. For this
// purpose, the signature of the envelope replaces the signatures in the receipt, which the
// receipt's hash does not cover.
type judge struct {
	policy receipt.Policy

	mu    sync.Mutex
	v     *receipt.Verifier // nil until the first envelope, because creating a Verifier is slow
	trust *envelopeTrust
	doc   *canon.Document
	rep   receipt.Report
}

// newJudge returns a judge for a policy. The receipt itself must meet the other requirements of the
// policy, such as witnesses and checkpoints.
func newJudge(trust receipt.Trust, policy receipt.Policy) *judge {
	return &judge{trust: &envelopeTrust{Trust: trust}, doc: new(canon.Document),
		policy: receipt.Policy{Issuer: policy.Issuer, At: policy.At, Plain: policy.Plain, NoInputDigest: true}}
}

// weigh returns the check for the signature, as part of the step "signatures", and the result for
// the signature.
func (j *judge) weigh(e *Envelope, root canon.Node) (receipt.Check, receipt.SignatureResult) {
	// Concurrent calls share one verifier and its memory, so only one call runs at a time.
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.ready(); err != nil {
		return receipt.Check{Code: receipt.CodeUnknownKey, Detail: err.Error()}, receipt.SignatureResult{}
	}

	j.trust.envelope = e
	j.v.VerifyBytes(signedBy(root, e.Key), j.doc, &j.rep)
	// The modified receipt has exactly one signature. If the report has no result for it, the
	// receipt does not match its schema.
	result := receipt.SignatureResult{KeyID: untrusted.Cut(e.Key, 256), Algorithm: Algorithm, Status: receipt.SignatureNotChecked}
	if len(j.rep.Signatures) == 1 {
		result = j.rep.Signatures[0]
		result.Algorithm = Algorithm
	}
	return j.rep.Check(receipt.StepSignatures), result
}

func (j *judge) ready() (err error) {
	if j.v == nil {
		j.v, err = receipt.NewVerifier(j.trust, j.policy)
	}
	return err
}

// Algorithm is the value of [receipt.SignatureResult].Algorithm for an envelope's signature, which
// is not an entry of /signatures in the receipt. The Detail field of the result lists the subjects.
const Algorithm = "dsse"

// signedBy returns a copy of the receipt whose only signature is by the given key.
func signedBy(root canon.Node, key string) []byte {
	b := append(canon.AppendString([]byte(`{"signatures":[{"key_id":`), key), `,"algorithm":"`+Algorithm+`","signature":"`+Algorithm+`"}]`...)
	for name, value := range root.Members() {
		if name.String() != "signatures" {
			b = append(append(append(append(b, ','), name.Raw()...), ':'), value.Raw()...)
		}
	}
	return append(b, '}')
}

// An envelopeTrust checks the envelope's signature, regardless of the signature entry that it is
// asked to check.
type envelopeTrust struct {
	receipt.Trust
	envelope *Envelope
}

// CheckSignature implements [receipt.Trust].
func (t *envelopeTrust) CheckSignature(_ []byte, e *receipt.Entry) (*receipt.Key, *receipt.SignatureError) {
	return check(t.Trust, t.envelope, e.Plain)
}

// check checks the signature of an envelope cryptographically, without applying a policy.
func check(trust receipt.Trust, e *Envelope, plain bool) (*receipt.Key, *receipt.SignatureError) {
	value := append([]byte(valuePrefix), e.signature...)
	return trust.CheckSignature(e.Message(), &receipt.Entry{KeyID: []byte(e.Key), Signature: value, Plain: plain})
}
