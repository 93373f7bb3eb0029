package receipt

import "fmt"

// trusts reports whether one of the keys by which a log signed a checkpoint may
// do so at the time in question.
func (t *tally) trusts(c *checkpoint) bool {
	_, code := t.distrusts(c)
	return code == ""
}

// distrusts reports why none of the keys by which a log signed may do so, of the
// first. A log signs later than the issuer, so its key may be younger than the
// receipt: nbf is judged only at a time that the policy names. A stolen key of a
// log proves nothing, unless a witness saw this very checkpoint before.
func (t *tally) distrusts(c *checkpoint) (key *Key, code Code) {
	for _, k := range c.logs {
		found := untimely(k, t.at, t.predates(c, k))
		if found == CodeKeyNotYetValid && t.v.policy.At.IsZero() {
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

// predates reports whether a witness saw a checkpoint before a key was revoked.
// The witness has to have other key material: whoever holds a stolen key would
// otherwise be its own witness.
func (t *tally) predates(c *checkpoint, key *Key) bool {
	if key.Revoked == nil {
		return false
	}
	for i := range c.cosigned {
		s := &c.cosigned[i]
		if s.at.Before(key.Revoked.At) && s.witness.Thumbprint != key.Thumbprint && !t.isIssuers(s) {
			return true
		}
	}
	return false
}

// isIssuers reports whether a witness has the material of a key that may speak
// for the receipt's issuer.
func (t *tally) isIssuers(s *cosignature) bool {
	for _, key := range s.kin {
		if t.speaks(key) == "" {
			return true
		}
	}
	return false
}

// cosigners counts the witnesses of a checkpoint by distinct material, none of
// it the log's or the issuer's.
func (t *tally) cosigners(c *checkpoint) (n int) {
next:
	for i := range c.cosigned {
		if t.isIssuers(&c.cosigned[i]) {
			continue
		}
		for j := range i {
			if c.cosigned[j].witness.Thumbprint == c.cosigned[i].witness.Thumbprint {
				continue next
			}
		}
		n++
	}
	return n
}

// stand lets a checkpoint stand for a signature: one by a key that has both
// roles, may speak for the receipt's issuer and is the key that the receipt
// names, if it names one. Any other log's checkpoint shows inclusion, not who
// wrote the receipt. Of several the first that counts is reported.
func (t *tally) stand() {
	var best SignatureResult
	var why *Key
	for _, c := range t.included {
		for _, key := range c.logs {
			if t.named != nil && string(t.named) != key.ID {
				continue
			}
			code := t.speaks(key)
			if code == CodeRoleMismatch || code == CodeIssuerMismatch {
				continue
			}
			if code == "" { // a signature of the log: only this checkpoint tells how old it is
				code = untimely(key, t.at, t.predates(c, key))
			}
			if best.Algorithm != "" && code != "" {
				continue
			}
			best = SignatureResult{KeyID: key.ID, Algorithm: AlgorithmCheckpoint, Code: code}
			why = key
			if code == "" {
				t.stands(best, key)
				return
			}
		}
	}
	if why != nil {
		t.fallsShort(best, why)
	}
}

func (t *tally) stands(result SignatureResult, key *Key) {
	result.Status, result.Role = SignatureValid, RoleIssuer
	t.issuers, t.issued = append(t.issuers, key.Thumbprint), true
	t.rep.Signatures = append(t.rep.Signatures, result)
}

// fallsShort tells of a checkpoint that would stand for a signature if its key
// counted, as of a signature whose key does not.
func (t *tally) fallsShort(result SignatureResult, key *Key) {
	result.Status, result.Detail = SignatureInvalid, fmt.Sprintf("checkpoint of %s: %s", quoted(excerpt([]byte(key.Origin))), t.discounted(key, result.Code))
	why := Check{Step: StepSignatures, Code: result.Code, Detail: result.Detail}
	if result.Code == CodeIssuerUnbound {
		result.Status = SignatureNotChecked
		first(&t.unbound, why)
	} else {
		first(&t.uncounted, why)
	}
	t.rep.Signatures = append(t.rep.Signatures, result)
}
