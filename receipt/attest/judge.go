package attest

import (
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/receipt"
)

// A judge weighs the signature of an envelope as the verifier of receipts weighs one of
// theirs: whether the key may speak for the issuer, in that role, at that time. To that end
// it is put into the place of the receipt's own, which lie outside its hash.
type judge struct {
	policy receipt.Policy

	mu    sync.Mutex
	v     *receipt.Verifier // nil until there is a first envelope: making one takes long
	trust *envelopeTrust
	doc   *canon.Document
	rep   receipt.Report
}

// newJudge makes a judge of a policy. What else the policy asks for, witnesses and
// checkpoints, is asked of the receipt.
func newJudge(trust receipt.Trust, policy receipt.Policy) *judge {
	return &judge{trust: &envelopeTrust{Trust: trust}, doc: new(canon.Document),
		policy: receipt.Policy{Issuer: policy.Issuer, At: policy.At, Plain: policy.Plain, NoInputDigest: true}}
}

// weigh returns the outcome of the signature, and what it counts as. The check is of the
// step signatures.
func (j *judge) weigh(e *Envelope, root canon.Node) (receipt.Check, receipt.SignatureResult) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.ready(); err != nil {
		return receipt.Check{Code: receipt.CodeUnknownKey, Detail: err.Error()}, receipt.SignatureResult{}
	}

	j.trust.envelope = e
	j.v.VerifyBytes(signedBy(root, e.Key), j.doc, &j.rep)
	result := receipt.SignatureResult{KeyID: foreign.Cut(e.Key, 256), Algorithm: Algorithm, Status: receipt.SignatureNotChecked}
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

// Algorithm is that of a [receipt.SignatureResult] which is no entry of /signatures: the
// envelope around the receipt is signed. Its Detail says for what.
const Algorithm = "dsse"

// signedBy writes a receipt with one signature, by that key, in the place of its own.
func signedBy(root canon.Node, key string) []byte {
	b := append(canon.AppendString([]byte(`{"signatures":[{"key_id":`), key), `,"algorithm":"`+Algorithm+`","signature":"`+Algorithm+`"}]`...)
	for name, value := range root.Members() {
		if name.String() != "signatures" {
			b = append(append(append(append(b, ','), name.Raw()...), ':'), value.Raw()...)
		}
	}
	return append(b, '}')
}

// An envelopeTrust answers for the signature of an envelope, whatever entry it is asked of.
type envelopeTrust struct {
	receipt.Trust
	envelope *Envelope
}

// CheckSignature implements [receipt.Trust].
func (t *envelopeTrust) CheckSignature(_ []byte, e *receipt.Entry) (*receipt.Key, *receipt.SignatureError) {
	return check(t.Trust, t.envelope, e.Plain)
}

// check judges the mathematics of the signature of an envelope.
func check(trust receipt.Trust, e *Envelope, plain bool) (*receipt.Key, *receipt.SignatureError) {
	value := append([]byte(valuePrefix), e.signature...)
	return trust.CheckSignature(e.Message(), &receipt.Entry{KeyID: []byte(e.Key), Signature: value, Plain: plain})
}
