package receipt

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// A Foreign is what a reader found in a receipt of another format. The reader checks the rules of
// the format that need no key. [Verifier.Foreign] judges its signatures.
type Foreign struct {
	Format string       // its name, such as "acta-envelope"
	ID     string       // as the receipt states it; untrusted text
	Hash   canon.Digest // as the format computes it; zero if the format has none

	// Checks are the results of the reader. A step without an entry is not applicable, because
	// the format does not define it. The step signatures may have entries for rules of the format
	// that concern a signature and not its bytes; if they are failed, they refute.
	Checks []Check

	// Signatures are the signatures of the receipt. If it is empty, nobody signed.
	Signatures []ForeignSignature
	All        bool // trusted keys must have made all signatures, instead of at least one

	// Inclusions are signatures of logs over the roots of trees that contain the receipt. A
	// trusted key with the role checkpoint has to make them; an unknown log does not
	// affect the verdict.
	Inclusions []ForeignSignature

	// Place is what the receipt states about its chain. It is nil if the format defines no chains
	// over several documents.
	Place *ForeignPlace

	// NotChecked lists what nobody can check with the receipt alone, such as members outside its
	// signature.
	NotChecked []Note
}

// A ForeignPlace is the place in a chain that a receipt of another format states.
type ForeignPlace struct {
	Chain    string       // names the chain, or only the signer; "": the format names neither
	Sequence int64        // increases by one; -1: the format has no numbers
	Previous canon.Digest // zero: the receipt is the first, or states no predecessor
	ActionID string       // occurs once in a chain; "": the format has no such rule

	// Request is the same for two receipts of decisions about the same request.
	Request         string
	Denied, Allowed bool
}

// A ForeignSignature is one signature of a receipt of another format.
type ForeignSignature struct {
	KeyID     string // of the trusted key, unless Public is set; "": any key for Issuer, or any with Role
	Public    []byte // the Ed25519 key that the receipt contains: the trusted key of that material is used
	Algorithm string // as in JOSE; "": that of the trusted key
	Issuer    string // whom the receipt names as its author; "": the format names only the key
	Role      Role   // "": issuer
	Value     []byte // in the form of JOSE (RFC 7518), decoded
	DER       bool   // an ECDSA signature is Ecdsa-Sig-Value instead (RFC 3279), as in an envelope (DSSE)
	At        time.Time
	Pointer   string

	// Messages are the bytes that may be signed, of which one has to verify. A format may define
	// more than one form of the same content.
	Messages [][]byte

	// Unsure states why an invalid signature shows nothing, such as that the order of members is
	// not the writer's. It is empty if an invalid signature refutes.
	Unsure string
}

// RawTrust is a [Trust] that checks signatures of other formats than that of receipts. With any
// other Trust, all of their keys are unknown.
type RawTrust interface {
	Trust

	// CheckRaw checks a signature of a message, with the key that s names. It returns what
	// [Trust.CheckSignature] returns.
	CheckRaw(message []byte, s *ForeignSignature) (*Key, *SignatureError)
}

// A foreignStep judges receipts of other formats.
type foreignStep struct{ *Verifier }

// report records the steps of a reader and the signatures, in order, and concludes.
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

	// The caller's rules are for receipts of this toolkit, so they are not applied here.
	for _, name := range s.named {
		rep.leave(Check{Step: StepRules, Code: Code(rulePrefix + name), Reason: "the rule is not for receipts of the format " + excerpt([]byte(f.Format))})
	}

	s.conclude(rep)
}

// signatures judges the signatures and records the step: an invalid signature refutes, a
// trusted one suffices, and one by an unknown key does not affect the verdict.
func (v foreignStep) signatures(f *Foreign, rep *Report) {
	switch {
	case v.policy.IntegrityOnly:
		rep.omit(StepSignatures, CodeSignaturesNotChecked, "signatures: only integrity was asked for")
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

// inclusions judges the signatures of logs and records the step batch.
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

// signature judges one signature. Why has no code if the signature counts.
func (v foreignStep) signature(s *ForeignSignature, rep *Report) (result SignatureResult, why Check) {
	result = SignatureResult{KeyID: untrusted.Cut(s.KeyID, 256), Algorithm: excerpt([]byte(s.Algorithm)), Status: SignatureInvalid}
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

	// The rules for keys are those for receipts of this toolkit.
	j := judge{policy: &v.policy, kin: v.kin, issuer: []byte(s.Issuer), at: v.policy.At}
	if j.at.IsZero() {
		j.at = s.At
	}
	code := speaksForeign(&j, key)
	if code == "" && j.at.IsZero() && (!key.NotBefore.IsZero() || !key.NotAfter.IsZero() || key.Revoked != nil) {
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

// checkRaw checks the bytes of a signature with the trusted keys.
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
	if !err.judges() { // a Trust that breaks its contract shows nothing about the receipt
		err = &SignatureError{CodeUnknownKey, "the trusted keys gave no judgment of the signature"}
	}
	return key, err
}

// speaksForeign returns why a key may not speak for the author of a receipt in another format. If
// the format names no author, every trusted key for issuers speaks for itself, or for the issuer
// that the policy names.
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

// shown reports whether the checks of a receipt in another format show that it is
// authentic, or intact if only integrity is required.
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
