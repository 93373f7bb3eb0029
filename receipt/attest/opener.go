package attest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/receipt"
)

// An Opener judges attestations for whoever reads receipts: its method Unwrap is for the
// options of package stream. It does not change and is safe for concurrent use.
type Opener struct {
	trust  receipt.Trust // nil when only integrity is asked for
	policy receipt.Policy
	judge  *judge
	asked  []Subject
}

// NewOpener makes an Opener for the trust and the policy by which receipts are judged. With
// subjects every receipt has to be attested for each of them; one that is not leaves
// undecided.
func NewOpener(trust receipt.Trust, policy receipt.Policy, subjects ...Subject) *Opener {
	o := &Opener{policy: policy, asked: slices.Clone(subjects)}
	if !policy.IntegrityOnly {
		o.trust, o.judge = trust, newJudge(trust, policy)
	}
	return o
}

// Judge judges one bundle: the receipt inside by a verifier of the same trust and policy,
// and the envelope around it. rep is overwritten, as by [receipt.Verifier.VerifyBytes].
func (o *Opener) Judge(v *receipt.Verifier, bundle []byte, rep *receipt.Report) {
	doc := new(canon.Document)
	if err := doc.Parse(bundle, canon.Limits{Bytes: MaxBytes, Depth: receipt.MaxDepth}); err != nil || !Is(doc) {
		c := receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeAttestationInvalid, Detail: "expected an attestation, a bundle of the media type " + MediaType}
		if err != nil {
			c = *fault(notStrict("", "the bundle", err))
		}
		v.Unreadable(rep, c)
		return
	}

	inside, wrong, weigh := o.Unwrap(doc)
	if wrong != nil {
		v.Unreadable(rep, *wrong)
		return
	}
	v.VerifyBytes(inside, doc, rep)
	weigh(v, doc, rep)
}

// A Weigh adds to the report of a receipt what its attestation shows, and draws the
// verdict anew. doc is the receipt, rep the verifier's report of it.
type Weigh = func(v *receipt.Verifier, doc *canon.Document, rep *receipt.Report)

// Unwrap opens a document that is an attestation. It returns the receipt inside, or else
// what is wrong with the attestation: a check that failed when it is false or malformed, and
// one that was not checked when it is of a kind that is not judged here. Of any other
// document both are nil. What weighs is nil when there is nothing to weigh.
func (o *Opener) Unwrap(doc *canon.Document) (inside []byte, wrong *receipt.Check, weigh Weigh) {
	if !Is(doc) {
		if len(o.asked) > 0 {
			weigh = func(v *receipt.Verifier, _ *canon.Document, rep *receipt.Report) { o.weighSubjects(v, rep, nil) }
		}
		return nil, nil, weigh
	}

	envelope, err := Parse(doc)
	if err != nil {
		return nil, fault(err), nil
	}
	statement, err := envelope.Open()
	if err != nil {
		return nil, o.fault(envelope, err), nil
	}

	return statement.Receipt(), nil, func(v *receipt.Verifier, doc *canon.Document, rep *receipt.Report) {
		o.weighSignature(v, doc, rep, envelope, statement)
		o.weighSubjects(v, rep, statement)
	}
}

// Unopened says of an attestation why it is not opened: one of another kind than is judged
// leaves undecided, as the receipt inside may be true.
func Unopened(why string) *receipt.Check {
	return fault(unsupported("", "%s; the receipt inside, if there is one, is judged by itself", why))
}

// fault says what is wrong with an envelope that can be read. A false signature refutes it,
// whatever it holds.
func (o *Opener) fault(e *Envelope, err error) *receipt.Check {
	if bad := o.falsified(e); bad != nil {
		return bad
	}
	return fault(err)
}

// falsified finds a signature that is false, by the key that the envelope names; nil when
// it is not, or the key is not known.
func (o *Opener) falsified(e *Envelope) *receipt.Check {
	if o.trust == nil {
		return nil
	}
	_, bad := check(o.trust, e, o.policy.Plain)
	if bad == nil || bad.Code != receipt.CodeSignatureInvalid && bad.Code != receipt.CodeMalformedSignature {
		return nil
	}
	return &receipt.Check{Step: receipt.StepSignatures, Status: receipt.StatusFailed, Code: bad.Code, Pointer: signatureAt, Detail: "the attestation: " + bad.Detail}
}

func fault(err error) *receipt.Check {
	var bad *Error
	if !errors.As(err, &bad) {
		return &receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeAttestationInvalid, Detail: err.Error()}
	}
	c := &receipt.Check{Status: receipt.StatusFailed, Code: bad.Code, Pointer: bad.Pointer, Detail: "the attestation: " + bad.Detail}
	if !bad.Supported() {
		c.Status = receipt.StatusNotChecked
	}
	return c
}

// signatureAt is where a bundle has its signature.
const signatureAt = "/dsseEnvelope/signatures/0"

// weighSignature tells what the signature of the envelope shows. Only one that passed adds
// nothing to the checks.
func (o *Opener) weighSignature(v *receipt.Verifier, doc *canon.Document, rep *receipt.Report, e *Envelope, s *Statement) {
	if o.judge == nil {
		rep.NotChecked = append(rep.NotChecked, receipt.Note{Code: receipt.CodeSignaturesNotChecked, Pointer: signatureAt, Detail: "the signature of the attestation: only integrity was asked for"})
		return
	}

	// What nobody signed is false, whatever can be said of the receipt in it.
	if bad := o.falsified(e); bad != nil {
		rep.Signatures = append(rep.Signatures, receipt.SignatureResult{KeyID: foreign.Cut(e.Key, 256), Algorithm: Algorithm, Status: receipt.SignatureInvalid, Code: bad.Code, Detail: bad.Detail})
		v.Weigh(rep, *bad)
		return
	}

	c, result := o.judge.weigh(e, doc.Root())
	if c.Status == receipt.StatusPassed {
		result.Detail = s.told()
		rep.Signatures = append(rep.Signatures, result)
		return
	}

	rep.Signatures = append(rep.Signatures, result)
	detail := cmp.Or(result.Detail, c.Detail)
	v.Weigh(rep, receipt.Check{Step: receipt.StepSignatures, Status: c.Status, Code: c.Code, Pointer: signatureAt, Stated: c.Stated, Computed: c.Computed, Detail: "the attestation: " + detail, Hint: c.Hint})
}

// weighSubjects leaves a receipt undecided that is not attested for all that was asked for.
func (o *Opener) weighSubjects(v *receipt.Verifier, rep *receipt.Report, s *Statement) {
	for _, asked := range o.asked {
		if s != nil && slices.ContainsFunc(s.Subjects, asked.Is) {
			continue
		}
		v.Weigh(rep, receipt.Check{Step: receipt.StepSignatures, Code: receipt.CodeNotAttested, Stated: attested(s), Computed: asked.String(),
			Detail: fmt.Sprintf("attested for %s, asked for was %s", attested(s), asked)})
	}
}

func attested(s *Statement) string {
	if s == nil {
		return "nothing"
	}
	return s.told()
}
