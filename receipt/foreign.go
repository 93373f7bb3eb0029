package receipt

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// A Foreign is the content of a third-party receipt (a receipt in another format), as parsed by a
// reader for that format. The reader checks the rules of the format that require no keys.
// [Verifier.Foreign] then verifies the signatures.
type Foreign struct {
	Format string       // name of the format, such as "acta-envelope"
	ID     string       // ID in the receipt, which is untrusted text
	Hash   canon.Digest // hash as defined by the format; zero if the format defines none

	// Checks are the results of the reader. A step without a result is not applicable, because the
	// format does not define it. Results for the signatures step are about rules such as the number
	// of signatures, and not about the validity of signatures. A failed result refutes the receipt.
	Checks []Check

	// Signatures contains the signatures of the receipt. If there are none, the receipt is
	// unsigned.
	Signatures []ForeignSignature
	All        bool // all signatures must be by trusted keys, instead of only one; see also Inclusions

	// Inclusions are log signatures on the roots of trees that contain the receipt. The signing key
	// must be a trusted key with the role checkpoint. A signature by an unknown log has no effect
	// on the verdict, with one exception: if no trusted log includes the receipt, and All is set or
	// the policy is strict, the receipt is undecided.
	Inclusions []ForeignSignature

	// Place is the position of the receipt in a chain, according to the receipt itself. It is nil
	// if the format does not define chains across documents.
	Place *ForeignPlace

	// NotChecked lists what cannot be checked with the receipt alone, such as members that the
	// signature does not cover.
	NotChecked []Note
}

// A ForeignPlace is the position of a third-party receipt in a chain, according to the receipt
// itself.
type ForeignPlace struct {
	Chain    string       // identifies the chain, or only the signer; "" if the format identifies neither
	Sequence int64        // increases by one with each receipt; -1 if the format has no sequence numbers
	Previous canon.Digest // zero if the receipt is the first one or has no link to a predecessor
	Last     bool         // no receipt follows this one
	ActionID string       // unique within a chain; "" if the format has no such requirement

	// Two receipts have the same Request if both are about decisions on the same request.
	Request         string
	Denied, Allowed bool
}

// A ForeignSignature is a signature of a third-party receipt.
type ForeignSignature struct {
	KeyID     string // ID of the trusted key, unless Public is set; "" accepts any key for Issuer, or any key with Role
	Public    []byte // Ed25519 key in the receipt, which selects the trusted key with the same material
	Algorithm string // name as in JOSE; "" for the algorithm of the trusted key
	Issuer    string // author according to the receipt; "" if the format states only the key
	Role      Role   // "": issuer
	Value     []byte // decoded signature, in the form that JOSE uses (RFC 7518)
	DER       bool   // an ECDSA signature is an Ecdsa-Sig-Value (RFC 3279) instead, as in DSSE envelopes
	At        time.Time
	Pointer   string

	// Messages are the byte strings that may have been signed; the signature must be valid for one
	// of them. There may be several, because a format may define several encodings of the same
	// content.
	Messages [][]byte

	// Unsure is the reason why an invalid signature proves nothing, for example because the
	// original order of the members is unknown. If it is "", an invalid signature refutes the
	// receipt.
	Unsure string
}

// RawTrust is a [Trust] that can also check signatures of third-party receipts. With any other
// Trust, all keys for such signatures are unknown.
type RawTrust interface {
	Trust

	// CheckRaw checks the signature s of a message, using the key that s identifies. It returns the
	// same results as [Trust.CheckSignature].
	CheckRaw(message []byte, s *ForeignSignature) (*Key, *SignatureError)
}

// A foreignStep verifies third-party receipts.
type foreignStep struct{ *Verifier }

// report records the results of the reader and of the signatures, in the order of the steps, and
// sets the verdict.
func (s foreignStep) report(data []byte, f *Foreign, rep *Report) {
	s.begin(rep)
	s.digestInput(data, rep)
	rep.foreign = true
	rep.ReceiptID = append(rep.ReceiptID, untrusted.Cut(f.ID, 1024)...)
	rep.ReceiptHash = f.Hash
	rep.NotChecked = append(rep.NotChecked, f.NotChecked...)

	for step := StepParse; step < stepCount; step++ {
		found := false
		for _, c := range f.Checks {
			if c.Step != step {
				continue
			}
			found = true
			if c.Status == StatusNotChecked {
				rep.leave(c)
			} else {
				rep.Checks = append(rep.Checks, c)
			}
		}
		switch {
		case step == StepSignatures:
			s.signatures(f, rep)
		case step == StepBatch && !found && len(f.Inclusions) > 0:
			s.inclusions(f, rep)
		case step == StepParse && !found:
			rep.Checks = append(rep.Checks, Check{Step: StepParse, Status: StatusPassed, Stated: f.Format})
		case !found:
			rep.notApplicable(step)
		}
	}

	// The caller's rules apply only to receipts in the format of this package, so they are not
	// applied here.
	for _, name := range s.named {
		rep.leave(Check{Step: StepRules, Code: Code(rulePrefix + name), Reason: "the rule is not for receipts of the format " + excerpt([]byte(f.Format))})
	}

	s.conclude(rep)
}

// signatures verifies the signatures and records the step. An invalid signature refutes the
// receipt, one valid signature by a trusted key is sufficient, and signatures by unknown keys have
// no effect on the verdict. If All is set, every signature must be valid and count.
func (v foreignStep) signatures(f *Foreign, rep *Report) {
	switch {
	case v.policy.IntegrityOnly:
		rep.omit(StepSignatures, CodeSignaturesNotChecked, "signatures: only integrity was asked for")
		return
	case len(f.Signatures) == 0 && (rep.failed() || rep.Check(StepParse).Status != StatusPassed):
		rep.omit(StepSignatures, CodeStepNotReached, "signatures: an earlier step ended the verification")
		return
	case len(f.Signatures) == 0:
		rep.leave(Check{Step: StepSignatures, Code: CodeUnsigned, Detail: "nobody signed it"})
		return
	}

	var refuting, unknown, uncounted Check
	signed := false
	most := maxSignatures
	if f.All {
		most = len(f.Signatures)
	}
	for i := range f.Signatures[:min(len(f.Signatures), most)] {
		result, why := v.signature(&f.Signatures[i], rep)
		if !f.All || !slices.Contains(rep.Signatures, result) {
			rep.Signatures = append(rep.Signatures, result)
		}
		switch {
		case why.Code == "":
			signed = true
		case result.Status == SignatureNotChecked:
			first(&unknown, why)
		case why.Code == CodeSignatureInvalid, why.Code == CodeMalformedSignature, why.Code == CodeAlgorithmMismatch:
			first(&refuting, why)
		default:
			first(&uncounted, why)
		}
	}

	switch {
	case refuting.Code != "":
		rep.fail(refuting)
	case f.All && uncounted.Code != "":
		rep.fail(uncounted)
	case f.All && unknown.Code != "":
		rep.leave(unknown)
	case len(f.Signatures) > most:
		rep.leave(Check{Step: StepSignatures, Code: CodeSignatureLimit, Detail: fmt.Sprintf("%d signatures; the first %d were examined", len(f.Signatures), maxSignatures)})
	case !signed && uncounted.Code != "":
		rep.fail(uncounted)
	case !signed:
		rep.leave(unknown)
	case v.policy.Witnesses.Threshold > 0:
		rep.leave(Check{Step: StepSignatures, Code: CodeThresholdNotMet, Detail: "the format has no witnesses, and the policy requires some"})
	case v.policy.Checkpoint.Cosigners.Threshold > 0, v.policy.Checkpoint.asked() && rep.Check(StepBatch).Status != StatusPassed:
		rep.leave(Check{Step: StepSignatures, Code: CodeCheckpointRequired, Detail: "the policy requires a checkpoint, and none of a trusted log shows the receipt"})
	default:
		rep.pass(StepSignatures)
	}
}

// inclusions verifies the signatures of logs and records the batch step.
func (v foreignStep) inclusions(f *Foreign, rep *Report) {
	if v.policy.IntegrityOnly {
		rep.omit(StepBatch, CodeBatchNotChecked, "batch: only integrity was asked for")
		return
	}
	included, open := false, Check{}
	for i := range f.Inclusions {
		s := &f.Inclusions[i]
		key, err := v.checkRaw(s)
		switch {
		case err == nil && key.Has(RoleCheckpoint) && untimely(key, cmp.Or(v.policy.At, s.At), false) == "":
			included = true
		case err == nil:
			first(&open, Check{Code: CodeRoleMismatch, Detail: quoted(key.ID) + " signed the root, but may not sign checkpoints at that time"})
		case f.All && err.Code == CodeUnknownKey:
			first(&open, Check{Code: CodeUnknownKey, Detail: err.Detail})
		case err.Code == CodeUnknownKey || err.Code == CodeUnsupportedAlgorithm:
			first(&open, Check{Code: CodeBatchNotChecked, Detail: "the key of the log that includes it is not trusted"})
		case s.Unsure != "":
			first(&open, Check{Code: CodeUnknownKey, Detail: s.Unsure})
		default:
			rep.fail(Check{Step: StepBatch, Code: CodeProofInvalid, Detail: "the log did not sign the root to which the proof leads: " + err.Detail})
			return
		}
	}

	if included {
		rep.pass(StepBatch)
		return
	}
	open.Step = StepBatch
	rep.leave(open)
}

// signature verifies a single signature. The code of the returned check is "" if the signature
// counts.
func (v foreignStep) signature(s *ForeignSignature, rep *Report) (result SignatureResult, why Check) {
	result = SignatureResult{KeyID: untrusted.Cut(s.KeyID, 256), Algorithm: excerpt([]byte(s.Algorithm)), Status: SignatureInvalid}
	rep.Issuer = cmp.Or(rep.Issuer, untrusted.Cut(s.Issuer, 256))
	key, err := v.checkRaw(s)
	if key != nil {
		result.KeyID = key.ID
		result.Algorithm = cmp.Or(result.Algorithm, key.Algorithm)
	}
	if err != nil {
		result.Code, result.Detail = err.Code, err.Detail
		if err.Code == CodeUnknownKey || err.Code == CodeTrustUnavailable || err.Code == CodeUnsupportedAlgorithm {
			result.Status = SignatureNotChecked
		}
		if err.Code == CodeSignatureInvalid && s.Unsure != "" {
			result.Status, result.Code, result.Detail = SignatureNotChecked, CodeSignaturesNotChecked, s.Unsure
			if s.KeyID == "" && s.Public == nil {
				result.Code = CodeUnknownKey
			}
		}
		return result, Check{Step: StepSignatures, Code: result.Code, Pointer: s.Pointer, Detail: result.Detail}
	}

	// The rules for keys are the same as for receipts in the format of this package.
	j := judge{policy: &v.policy, kin: v.kin, issuer: []byte(s.Issuer), at: v.policy.At}
	if j.at.IsZero() {
		j.at = s.At
	}
	code := speaksForeign(&j, key)
	if code == "" && j.at.IsZero() && (!key.NotBefore.IsZero() || !key.NotAfter.IsZero() || key.Revoked != nil) && !key.stolen() {
		result.Status, result.Code = SignatureNotChecked, CodeSignaturesNotChecked
		result.Detail = "the receipt states no time, at which the validity of " + quoted(key.ID) + " could be judged"
		return result, Check{Step: StepSignatures, Code: result.Code, Pointer: s.Pointer, Detail: result.Detail}
	}
	if code == "" {
		rep.At = judgedAt(j.at)
		code = j.untimely(key)
	}

	if code != "" {
		result.Code, result.Detail = code, j.discounted(key, code)
		if code == CodeIssuerUnbound {
			result.Status = SignatureNotChecked
		}
		return result, Check{Step: StepSignatures, Code: code, Pointer: s.Pointer, Detail: result.Detail}
	}
	result.Status, result.Role = SignatureValid, RoleIssuer
	return result, Check{}
}

// checkRaw checks the bytes of a signature, using the trusted keys.
func (v foreignStep) checkRaw(s *ForeignSignature) (*Key, *SignatureError) {
	trust, ok := v.trust.(RawTrust)
	if !ok {
		return nil, &SignatureError{CodeUnknownKey, "these keys are only for receipts of this toolkit"}
	}

	var key *Key
	var err *SignatureError
	for _, message := range s.Messages {
		if key, err = trust.CheckRaw(message, s); err == nil && key != nil {
			return key, nil
		}
	}
	if !err.judges() { // an error that a Trust is not allowed to return proves nothing about the receipt
		err = &SignatureError{CodeUnknownKey, "the trusted keys gave no judgment of the signature"}
	}
	return key, err
}

// speaksForeign returns the reason why a key may not sign for the author of a third-party receipt.
// If the format does not name an author, every trusted issuer key may sign for itself or for the
// issuer that the policy requires.
func speaksForeign(j *judge, key *Key) Code {
	wanted := j.policy.Issuer
	switch {
	case len(j.issuer) > 0 && wanted != "" && wanted != string(j.issuer):
		return CodeIssuerMismatch
	case len(j.issuer) > 0:
		return j.speaks(key)
	case !key.Has(RoleIssuer):
		return CodeRoleMismatch
	case wanted != "" && !key.speaksFor(wanted):
		return CodeIssuerMismatch
	}
	return ""
}

// shown reports whether the checks of a third-party receipt show that it is authentic or, if the
// policy requires only integrity, that it is intact.
func (v foreignStep) shown(rep *Report) bool {
	for _, c := range rep.Checks {
		switch {
		case c.Status == StatusPassed, c.Status == StatusNotApplicable && c.Step != StepSignatures:
		case c.Step == StepSignatures && v.policy.IntegrityOnly:
		case c.Step == StepLink && c.Code == CodeLinkNotChecked && !v.policy.Strict:
		case c.Step == StepBatch && c.Code == CodeBatchNotChecked && !v.policy.Strict:
		default:
			return false
		}
	}
	decisive := StepSignatures
	if v.policy.IntegrityOnly {
		decisive = StepHash
	}
	return rep.Check(StepParse).Status == StatusPassed && rep.Check(decisive).Status == StatusPassed
}
