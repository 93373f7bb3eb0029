package receipt

import (
	"fmt"
	"slices"
	"time"
)

// A judge determines which keys may sign a receipt, for which issuers they may sign, and whether
// they are valid at the relevant time. It applies the same rules to signatures and to checkpoints.
type judge struct {
	policy   *Policy
	issuer   []byte        // issuer.id
	at       time.Time     // the time at which keys must be valid
	undated  bool          // at is an issued_at that the source did not record
	existed  time.Time     // the receipt existed before this time; zero if unknown
	included []*checkpoint // checkpoints in the evidence that include the receipt and have been signed by their log
	kin      func() kinship
}

// speaks returns the reason why a key may not sign for the issuer of the receipt: the key is not an
// issuer key, or it is bound to other issuers or to no issuer. It returns "" if the key may sign
// for that issuer.
func (j *judge) speaks(key *Key) Code {
	if !key.Has(RoleIssuer) {
		return CodeRoleMismatch
	}
	if len(key.Issuers) == 0 {
		if j.policy.Issuer == "" {
			return CodeIssuerUnbound
		}
		if j.policy.Issuer != string(j.issuer) {
			return CodeIssuerMismatch
		}
		return ""
	}

	// A key that lists issuers may sign only for those issuers.
	for _, id := range key.Issuers {
		if id == string(j.issuer) {
			return ""
		}
	}

	return CodeIssuerMismatch
}

// untimely returns the reason why a key is not accepted at the relevant time. If evidence shows
// that the receipt is older than the theft of a key, the theft has no effect.
func (j *judge) untimely(key *Key) Code {
	dated := key.Revoked != nil && !j.existed.IsZero() && j.existed.Before(key.Revoked.At)
	return untimely(key, j.at, dated || slices.ContainsFunc(j.included, func(c *checkpoint) bool {
		return j.predates(c, key) && j.trusts(c)
	}))
}

// untimely implements the rules for the validity of keys over time. Expiry, and revocation with the
// reason "superseded", take effect at a point in time. Any other revocation rejects the key at all
// times, unless evidence shows that the signed data is older than the revocation.
func untimely(key *Key, at time.Time, older bool) Code {
	switch r := key.Revoked; {
	case r != nil && r.Reason == ReasonSuperseded && !at.Before(r.At):
		return CodeKeyRevoked
	case key.stolen() && !older:
		return CodeKeyRevoked
	case !key.NotBefore.IsZero() && at.Before(key.NotBefore):
		return CodeKeyNotYetValid
	case !key.NotAfter.IsZero() && !at.Before(key.NotAfter):
		return CodeKeyExpired
	}
	return ""
}

// trusts reports whether a log has signed a checkpoint with a key that counts at the relevant time.
func (j *judge) trusts(c *checkpoint) bool {
	_, code := j.distrusts(c)
	return code == ""
}

// distrusts returns the first key with which a log has signed a checkpoint and the reason why that
// key is not accepted. If any of the keys is accepted, it returns nil and "". A log signs later
// than the issuer, so its key may be newer than the receipt. The start of its validity (nbf) is
// therefore checked only if the policy specifies a time. A checkpoint that was signed with a stolen
// log key proves nothing, unless a witness cosigned this checkpoint before the theft.
func (j *judge) distrusts(c *checkpoint) (key *Key, code Code) {
	for _, k := range c.logs {
		found := untimely(k, j.at, j.predates(c, k))
		if found == CodeKeyNotYetValid && j.policy.At.IsZero() {
			found = ""
		}
		if found == "" {
			return nil, ""
		}
		if key == nil {
			key, code = k, found
		}
	}
	return key, code
}

// predates reports whether a witness observed a checkpoint before a key was revoked. The witness
// and the key must have different key material. Otherwise, the holder of a stolen key could act as
// a witness.
func (j *judge) predates(c *checkpoint, key *Key) bool {
	if key.Revoked == nil {
		return false
	}
	for i := range c.cosigned {
		s := &c.cosigned[i]
		// Equal times are not sufficient, because the cosignature may have been created after the
		// theft but within the same second.
		if s.at.Before(key.Revoked.At) && s.witness.Thumbprint != key.Thumbprint && !j.isIssuers(s.witness) {
			return true
		}
	}
	return false
}

// isIssuers reports whether a witness has the same key material as a key that may sign for the
// issuer of the receipt.
func (j *judge) isIssuers(witness *Key) bool {
	for _, key := range j.kin()[witness.Thumbprint] {
		if j.speaks(key) == "" {
			return true
		}
	}
	return false
}

// cosigners appends the IDs of a checkpoint's witnesses to ids. It omits witnesses with key
// material of the issuer, and all but the first of several witnesses with the same material. It
// also returns the reasons why witnesses do not count, including those found when the checkpoint
// was opened.
func (j *judge) cosigners(c *checkpoint, ids []string) (counted, others []string) {
	others = slices.Clip(c.discounted)
	for i := range c.cosigned {
		witness := c.cosigned[i].witness
		same := func(s cosignature) bool { return s.witness.Thumbprint == witness.Thumbprint }
		switch {
		case j.isIssuers(witness):
			others = append(others, quoted(witness.ID)+" is a key of the issuer, which is not its own witness")
		// As with receipts, witnesses are counted by key material, not by name.
		case slices.ContainsFunc(c.cosigned[:i], same):
			others = append(others, quoted(witness.ID)+" is the same key as that of another cosignature, and counts once")
		default:
			ids = append(ids, witness.ID)
		}
	}
	return ids, others
}

func (j *judge) weighCheckpoint(c *checkpoint) Check {
	if key, code := j.distrusts(c); code != "" {
		return Check{Step: StepBatch, Code: code, Reason: "the log's key does not count: " + timeText(key, code, j.when())}
	}

	quorum := &j.policy.Checkpoint.Cosigners
	var buffer [16]string // avoids an allocation for the witnesses of most checkpoints
	if counted, others := j.cosigners(c, buffer[:0]); !quorum.met(counted) {
		why := fmt.Sprintf("%d of %d witnesses cosigned the checkpoint%s", len(counted), quorum.Threshold, notCounted(others))
		if len(quorum.Groups) > 0 {
			why = fmt.Sprintf("the quorum of the policy is not met: witnesses that cosigned the checkpoint: %d%s", len(counted), notCounted(others))
		}
		return Check{Step: StepBatch, Code: CodeThresholdNotMet, Reason: why}
	}
	return Check{Step: StepBatch, Status: StatusPassed, Detail: c.about}
}

func (j *judge) discounted(key *Key, code Code) string {
	id := quoted(key.ID)
	switch code {
	case CodeIssuerUnbound:
		return id + " is trusted, but the key file does not state for which issuer"
	case CodeIssuerMismatch:
		return fmt.Sprintf("%s may speak for %s, not for %s", id, quotedList(key.Issuers), quoted(excerpt(j.issuer)))
	case CodeRoleMismatch:
		return fmt.Sprintf("%s does not have the role issuer; the key file gives it: %s", id, roleList(key.Roles))
	}
	return timeText(key, code, j.when())
}

// when describes the time at which keys must be valid.
func (j *judge) when() string {
	if j.undated {
		return At(j.at).String() + ", which stands for a time of issue that the source did not tell"
	}
	return At(j.at).String()
}

// timeText describes a result of untimely.
func timeText(key *Key, code Code, at string) string {
	id := quoted(key.ID)
	switch {
	case code == CodeKeyNotYetValid:
		return fmt.Sprintf("%s is valid from %s on, judged at %s", id, At(key.NotBefore), at)
	case code == CodeKeyExpired:
		return fmt.Sprintf("%s was valid before %s, judged at %s", id, At(key.NotAfter), at)
	case key.Revoked.Reason == ReasonSuperseded:
		return fmt.Sprintf("%s was superseded at %s, judged at %s", id, At(key.Revoked.At), at)
	}

	reason := key.Revoked.Reason
	if reason == "" {
		reason = "no reason given"
	}
	return fmt.Sprintf("%s was revoked at %s (%s): none of its signatures count", id, At(key.Revoked.At), excerpt([]byte(reason)))
}

func roleList(roles []Role) string {
	if len(roles) == 0 {
		return string(RoleIssuer)
	}
	text := string(roles[0])
	for _, r := range roles[1:] {
		text += ", " + string(r)
	}
	return text
}

// stolen reports whether a key was revoked for a reason other than being superseded. Signatures
// with a stolen key may have been created by anyone.
func (k *Key) stolen() bool { return k.Revoked != nil && k.Revoked.Reason != ReasonSuperseded }

// A kinship maps key material to the trusted issuer keys with that material. Key material that may
// sign for an issuer cannot witness the receipts of that issuer, even under another key ID.
type kinship map[[32]byte][]*Key

// kinOf returns the issuer keys of a trust that lists its keys.
func kinOf(trust Trust) kinship {
	listed, ok := trust.(LogTrust)
	if !ok {
		return nil
	}

	kin := kinship{}
	for _, k := range listed.NoteKeys() {
		if k.Has(RoleIssuer) {
			kin[k.Thumbprint] = append(kin[k.Thumbprint], k.Key)
		}
	}
	return kin
}
