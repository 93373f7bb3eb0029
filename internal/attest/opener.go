package attest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// An Opener evaluates attestations for readers of receipts. Its Unwrap method can be used as
// stream.Options.Unwrap. An Opener is immutable and safe for concurrent use.
type Opener struct {
	trust  receipt.Trust // nil if only integrity is required
	policy receipt.Policy
	judge  *judge
	asked  []Subject
}

// NewOpener returns an Opener with the trust and the policy for receipts. If subjects are given, a
// receipt is left undecided unless it is attested for each of them.
func NewOpener(trust receipt.Trust, policy receipt.Policy, subjects ...Subject) *Opener {
	o := &Opener{policy: policy, asked: slices.Clone(subjects)}
	if !policy.IntegrityOnly {
		o.trust, o.judge = trust, newJudge(trust, policy)
	}
	return o
}

// Judge evaluates one bundle: first the receipt inside, with a verifier that has the same trust and
// policy, and then the envelope. It overwrites rep, as [receipt.Verifier.VerifyBytes] does.
func (o *Opener) Judge(v *receipt.Verifier, bundle []byte, rep *receipt.Report) {
	doc := new(canon.Document)
	if err := doc.Parse(bundle, canon.Limits{Bytes: MaxBytes, Depth: receipt.MaxDepth}); err != nil || !Is(doc) {
		c := receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeAttestationInvalid, Detail: "expected an attestation, a bundle of the media type " + MediaType}
		if err != nil {
			c = *fault(notStrict("", "the bundle", err))
		}
		v.Amend(rep, c)
		return
	}

	// In doc, the receipt replaces the bundle. The envelope is evaluated after the receipt.
	inside, wrong, weigh := o.Unwrap(doc)
	if wrong != nil {
		v.Amend(rep, *wrong)
		return
	}
	v.VerifyBytes(inside, doc, rep)
	weigh(v, doc, rep)
}

// A Weigh function adds the results of an attestation to the report of its receipt, and updates the
// verdict. doc is the receipt, and rep is the verifier's report about it.
type Weigh = func(v *receipt.Verifier, doc *canon.Document, rep *receipt.Report)

// Unwrap opens a document that is an attestation. It returns either the receipt inside or the fault
// of the attestation. The fault is an unchecked step if the kind of the attestation is unsupported.
// It is also an unchecked step if signatures are checked, and the attestation contradicts the
// receipt but is not signed by a trusted key. Any other fault is a failed check. If the document is
// not an attestation, both are nil. If there is nothing to evaluate, weigh is nil.
func (o *Opener) Unwrap(doc *canon.Document) (inside []byte, wrong *receipt.Check, weigh Weigh) {
	// A receipt without an attestation is not attested for any subject.
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

// Unopened returns the check for an attestation that was not opened, with the reason. The check
// leaves the document undecided, because the receipt inside may be valid.
func Unopened(why string) *receipt.Check {
	return fault(unsupported("", "%s; the receipt inside, if there is one, is judged by itself", why))
}

// fault returns the check that describes a fault in a readable envelope. An invalid signature
// refutes the attestation, regardless of its content. A subject mismatch contradicts the receipt
// only if the signer is known.
func (o *Opener) fault(e *Envelope, err error) *receipt.Check {
	if bad := o.falsified(e); bad != nil {
		bad.Step = receipt.StepParse // no other part of the document is evaluated
		return bad
	}
	c := fault(err)
	if c.Code != receipt.CodeAttestationMismatch || o.trust == nil {
		return c
	}
	if _, bad := check(o.trust, e, o.policy.Plain); bad != nil {
		c.Status, c.Code, c.Detail = receipt.StatusNotChecked, bad.Code, "the attestation: "+bad.Detail+"; it also has other subjects than the receipt inside"
	}
	return c
}

// falsified returns the failed check for a signature that is invalid for the key named in the
// envelope. It returns nil if the signature is valid or the key is unknown.
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

// signatureAt is the JSON Pointer to the signature in a bundle.
const signatureAt = "/dsseEnvelope/signatures/0"

// weighSignature reports the result for the signature of the envelope. A valid signature adds no
// check.
func (o *Opener) weighSignature(v *receipt.Verifier, doc *canon.Document, rep *receipt.Report, e *Envelope, s *Statement) {
	if o.judge == nil {
		rep.NotChecked = append(rep.NotChecked, receipt.Note{Code: receipt.CodeSignaturesNotChecked, Pointer: signatureAt, Detail: "the signature of the attestation: only integrity was requested"})
		return
	}

	// An invalid signature refutes the document, regardless of the receipt inside.
	if bad := o.falsified(e); bad != nil {
		rep.Signatures = append(rep.Signatures, receipt.SignatureResult{KeyID: untrusted.Cut(e.Key, 256), Algorithm: Algorithm, Status: receipt.SignatureInvalid, Code: bad.Code, Detail: bad.Detail})
		v.Amend(rep, *bad)
		return
	}

	// The same rules apply as for a signature of the receipt.
	c, result := o.judge.weigh(e, doc.Root())
	if c.Status == receipt.StatusPassed {
		result.Detail = s.told()
		rep.Signatures = append(rep.Signatures, result)
		return
	}

	rep.Signatures = append(rep.Signatures, result)
	detail := cmp.Or(result.Detail, c.Detail)
	v.Amend(rep, receipt.Check{Step: receipt.StepSignatures, Status: c.Status, Code: c.Code, Pointer: signatureAt, Stated: c.Stated, Computed: c.Computed, Detail: "the attestation: " + detail, Hint: c.Hint})
}

// weighSubjects leaves a receipt undecided if it is not attested for all required subjects.
func (o *Opener) weighSubjects(v *receipt.Verifier, rep *receipt.Report, s *Statement) {
	for _, asked := range o.asked {
		if s != nil && slices.ContainsFunc(s.Subjects, asked.Is) {
			continue
		}
		stated, held := "nothing", "the receipt has no attestation"
		if s != nil {
			stated, held = s.told(), "attested for "+s.told()
		}
		v.Amend(rep, receipt.Check{Step: receipt.StepSignatures, Code: receipt.CodeNotAttested, Stated: stated, Computed: asked.String(),
			Detail: fmt.Sprintf("%s, but an attestation for %s is required", held, asked)})
	}
}
