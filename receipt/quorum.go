package receipt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A Quorum is a number of witnesses, counted by distinct key material.
type Quorum struct {
	Threshold int      // how many must have signed; 0: none are asked for
	Keys      []string // key ids that count; empty: every trusted witness
}

func (q *Quorum) validate(who string) error {
	switch {
	case q.Threshold < 0:
		return fmt.Errorf("receipt: a threshold of %s is at least 1, found %d", who, q.Threshold)
	case q.Threshold == 0 && len(q.Keys) > 0:
		return fmt.Errorf("receipt: %s are named, but the threshold is 0", who)
	case len(q.Keys) > 0 && q.Threshold > len(q.Keys):
		return fmt.Errorf("receipt: %d %s are asked for, but only %d are named", q.Threshold, who, len(q.Keys))
	}
	return nil
}

func (q *Quorum) admits(id string) bool {
	return len(q.Keys) == 0 || slices.Contains(q.Keys, id)
}

// reachable checks that enough of the trusted keys can count as witnesses. Otherwise, every
// receipt would be undecided for a reason that no sender can remove. Only a [LogTrust]
// lists its keys.
func reachable(p *Policy, trust Trust) error {
	listed, ok := trust.(LogTrust)
	if !ok || p.Witnesses.Threshold == 0 && p.Checkpoint.Cosigners.Threshold == 0 {
		return nil
	}

	keys := listed.NoteKeys()
	signs := func(NoteKey) string { return "" }
	if err := p.Witnesses.reachable("witnesses", p.Issuer, keys, signs); err != nil {
		return err
	}
	return p.Checkpoint.Cosigners.reachable("cosigners", p.Issuer, keys, cannotCosign)
}

// cannotCosign says why a key can sign no cosignature; "" if it can.
func cannotCosign(k NoteKey) string {
	if _, err := tlog.NewWitness(cmp.Or(k.Origin, k.ID), k.Public); err == nil {
		return ""
	}
	if k.Public == nil {
		return "is for " + k.Algorithm + ", and checkpoints are cosigned with Ed25519 keys"
	}
	return "has a name that no note allows"
}

// reachable counts the trusted keys that can be among the witnesses, by distinct material.
// unfit says why a key can never sign as one.
func (q *Quorum) reachable(who, issuer string, keys []NoteKey, unfit func(NoteKey) string) error {
	if q.Threshold == 0 {
		return nil
	}

	byID, material := map[string]NoteKey{}, map[[32]byte]string{}
	ids := slices.Clone(q.Keys)
	for _, k := range keys {
		if byID[k.ID] = k; len(q.Keys) == 0 && k.Has(RoleWitness) {
			ids = append(ids, k.ID)
		}
	}

	var why []string
	for _, id := range ids {
		k, known := byID[id]
		if !known {
			why = append(why, quoted(id)+" is not a trusted key")
			continue
		}

		other, again := material[k.Thumbprint]
		switch reason := unfit(k); {
		case !k.Has(RoleWitness):
			why = append(why, fmt.Sprintf("%s does not have the role witness (its roles: %s)", quoted(id), roleList(k.Roles)))
		case reason != "":
			why = append(why, quoted(id)+" "+reason)
		case issuer != "" && slices.ContainsFunc(keys, func(o NoteKey) bool { return o.Thumbprint == k.Thumbprint && o.speaksFor(issuer) }):
			why = append(why, fmt.Sprintf("%s is a key of the issuer %s", quoted(id), quoted(issuer)))
		case again:
			why = append(why, fmt.Sprintf("%s is the same key as %s", quoted(id), quoted(other)))
		default:
			material[k.Thumbprint] = id
		}
	}

	if len(material) >= q.Threshold {
		return nil
	}
	if len(why) == 0 {
		why = append(why, "no other trusted key has the role witness")
	}
	return fmt.Errorf("receipt: the policy can never be met: the threshold of %s is %d, but only %d of the trusted keys can count: %s",
		who, q.Threshold, len(material), strings.Join(why, "; "))
}
