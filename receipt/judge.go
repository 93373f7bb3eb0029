package receipt

import (
	"fmt"
	"slices"
	"time"
)

// A judge decides which keys count for one receipt: for which issuers they may speak, and whether
// they are valid at the relevant time. The same rules apply to signatures and checkpoints.
type judge struct {
	policy   *Policy
	issuer   []byte        // issuer.id
	at       time.Time     // the time for which keys are judged
	undated  bool          // at is issued_at, which the source did not record
	existed  time.Time     // the receipt existed before this time; zero: unknown
	included []*checkpoint // checkpoints in the evidence that include the receipt and that their log signed
	kin      func() kinship
}

// speaks returns the reason why a key may not speak for the receipt's issuer: the key is not an
// issuer key, or it is bound to other issuers or to no issuer. It returns "" if the key may speak.
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

	// A key that lists issuers speaks only for them.
	for _, id := range key.Issuers {
		if id == string(j.issuer) {
			return ""
		}
	}

	return CodeIssuerMismatch
}

// untimely returns the reason why a key does not count at the relevant time. A later theft of the
// key does not matter if the receipt is shown to be older.
func (j *judge) untimely(key *Key) Code {
	dated := key.Revoked != nil && !j.existed.IsZero() && j.existed.Before(key.Revoked.At)
	return untimely(key, j.at, dated || slices.ContainsFunc(j.included, func(c *checkpoint) bool {
		return j.predates(c, key) && j.trusts(c)
	}))
}

// untimely implements the rules for a key's validity. Expiry and the revocation reason "superseded"
// are judged at a point in time. Any other revocation rejects the key at all times, unless evidence
// shows that the signed data is older.
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

// trusts reports whether any of the keys with which a log signed a checkpoint counts at the relevant
// time.
func (j *judge) trusts(c *checkpoint) bool {
	_, code := j.distrusts(c)
	return code == ""
}

// distrusts returns the first of the keys with which a log signed, and the reason why it does not
// count. If any of the keys counts, it returns no key and "". A log signs later than the issuer, so
// its key may be newer than the receipt. Therefore, nbf is judged only at a time that the policy
// names. A checkpoint signed with a log's stolen key proves nothing, unless a witness cosigned this
// checkpoint before the theft.
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
// must have different key material. Otherwise, the holder of a stolen key could be its own witness.
func (j *judge) predates(c *checkpoint, key *Key) bool {
	if key.Revoked == nil {
		return false
	}
	for i := range c.cosigned {
		s := &c.cosigned[i]
		// Equal times do not count, because the cosignature may have been made after the theft but
		// within the same second.
		if s.at.Before(key.Revoked.At) && s.witness.Thumbprint != key.Thumbprint && !j.isIssuers(s.witness) {
			return true
		}
	}
	return false
}

// isIssuers reports whether a witness shares its material with a key that may speak for the
// receipt's issuer.
func (j *judge) isIssuers(witness *Key) bool {
	for _, key := range j.kin()[witness.Thumbprint] {
		if j.speaks(key) == "" {
			return true
		}
	}
	return false
}

// cosigners appends to ids the IDs of a checkpoint's witnesses, one for each distinct key material
// that neither the log nor the issuer uses. It returns the reasons why the other witnesses do not
// count.
func (j *judge) cosigners(c *checkpoint, ids []string) (counted, others []string) {
	others = slices.Clip(c.discounted)
	for i := range c.cosigned {
		witness := c.cosigned[i].witness
		same := func(s cosignature) bool { return s.witness.Thumbprint == witness.Thumbprint }
		switch {
		case j.isIssuers(witness):
			others = append(others, quoted(witness.ID)+" is a key of the issuer, which is not its own witness")
		// Witnesses are counted by key material, not by name, as for receipts.
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
	var buffer [16]string // large enough to keep the witnesses of most checkpoints on the stack
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

// when describes the time for which keys are judged.
func (j *judge) when() string {
	if j.undated {
		return At(j.at).String() + ", which stands for a time of issue that the source did not tell"
	}
	return At(j.at).String()
}

// timeText describes a result from untimely.
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

// stolen reports whether a key was revoked for a reason other than being superseded. Anyone may
// have made the signatures that use a stolen key.
func (k *Key) stolen() bool { return k.Revoked != nil && k.Revoked.Reason != ReasonSuperseded }

// A kinship maps key material to the trusted issuer keys that have it. Material that speaks for an
// issuer cannot be a witness to that issuer's receipts, regardless of any other IDs for the same
// material.
type kinship map[[32]byte][]*Key

// kinOf returns the issuer keys in a trust that lists its keys.
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
