package keys

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// MaxPolicyBytes is the maximum size of a policy file, in bytes.
const MaxPolicyBytes = 1 << 20

// ParsePolicy parses a policy file:
//
//	{"issuer": "harness_burin_cloud",
//	 "witnesses": {"threshold": 2, "keys": ["w1", "w2", "w3"]},
//	 "checkpoint": {"required": true, "cosigners": {"threshold": 1}},
//	 "timestamp": {"required": true}}
//
// All members are optional, but the file and checkpoint must each have at least one member. If
// required is present, it must be true. threshold is at least 1 and at most the number of keys. If
// keys is absent, all trusted witnesses are counted. Unknown members are rejected, because they
// could be requirements that would not be checked.
//
// The file can also be a tlog-policy (C2SP). In this case, the keys of its logs and witnesses are
// trusted in addition to the keys in the trust file. The ID of each key consists of its name and
// key ID. If the syntax of a tlog-policy is invalid, the error is a *[tlog.PolicyError].
func ParsePolicy(data []byte) (receipt.Policy, []*PublicKey, error) {
	if isLogPolicy(data) {
		p, err := tlog.ParsePolicy(data)
		if err != nil {
			return receipt.Policy{}, nil, err
		}
		rule, trusted, err := logPolicy(p)
		return receipt.Policy{Checkpoint: rule}, trusted, err
	}

	doc := new(canon.Document)
	if err := doc.Parse(data, canon.Limits{Bytes: MaxPolicyBytes, Depth: maxDepth}); err != nil {
		return receipt.Policy{}, nil, fmt.Errorf("policy file: %w", err)
	}
	policy, err := parsePolicy(doc.Root())
	if err != nil {
		return receipt.Policy{}, nil, err
	}
	return policy, nil, nil
}

// isLogPolicy reports whether any line begins with a keyword of tlog-policy.
func isLogPolicy(data []byte) bool {
	for line := range bytes.Lines(data) {
		words := bytes.Fields(line)
		if len(words) > 0 && slices.Contains([]string{"log", "witness", "group", "quorum"}, string(words[0])) {
			return true
		}
	}
	return false
}

func logPolicy(p *tlog.Policy) (rule receipt.CheckpointRule, trusted []*PublicKey, err error) {
	add := func(v tlog.Verifier, role receipt.Role) {
		k, invalid := FromPublic(v.Public(), verifierID(v), "")
		if invalid != nil {
			err = invalid
			return
		}
		k.Roles, k.Origin = []receipt.Role{role}, v.Name()
		trusted = append(trusted, k)
	}

	rule.Required = true
	for _, l := range p.Logs {
		rule.Logs = append(rule.Logs, verifierID(l))
		add(l, receipt.RoleCheckpoint)
	}
	for _, w := range p.Witnesses {
		add(w.Witness, receipt.RoleWitness)
	}
	if err != nil {
		return receipt.CheckpointRule{}, nil, err
	}
	if p.Quorum != nil {
		rule.Cosigners = quorumOf(p.Quorum)
	}
	return rule, trusted, nil
}

func verifierID(v tlog.Verifier) string { return fmt.Sprintf("%s+%08x", v.Name(), v.KeyHash()) }

func quorumOf(g *tlog.Group) receipt.Quorum {
	q := receipt.Quorum{Threshold: g.Threshold}
	for _, w := range g.Witnesses {
		q.Keys = append(q.Keys, verifierID(w))
	}
	for _, sub := range g.Groups {
		q.Groups = append(q.Groups, quorumOf(sub))
	}
	return q
}

func parsePolicy(root canon.Node) (p receipt.Policy, err error) {
	if root.Kind() != canon.KindObject || root.Len() == 0 {
		return p, badPolicy("", `expected an object with "issuer", "witnesses", "checkpoint" or "timestamp"`)
	}
	if err := onlyMembers(root, "", "issuer", "witnesses", "checkpoint", "timestamp"); err != nil {
		return p, err
	}

	if issuer := root.Member("issuer"); !issuer.IsZero() {
		if p.Issuer = issuer.String(); p.Issuer == "" {
			return p, badPolicy("/issuer", "expected the issuer.id as a string that is not empty")
		}
	}
	if witnesses := root.Member("witnesses"); !witnesses.IsZero() {
		if p.Witnesses, err = parseQuorum(witnesses, "/witnesses"); err != nil {
			return p, err
		}
	}
	if timestamp := root.Member("timestamp"); !timestamp.IsZero() {
		if p.Timestamp = timestamp.Len() == 1 && timestamp.Member("required").Bool(); !p.Timestamp {
			return p, badPolicy("/timestamp", `expected {"required": true}`)
		}
	}
	if checkpoint := root.Member("checkpoint"); !checkpoint.IsZero() {
		p.Checkpoint, err = parseCheckpointRule(checkpoint)
	}
	return p, err
}

func parseCheckpointRule(n canon.Node) (r receipt.CheckpointRule, err error) {
	const at = "/checkpoint"
	if n.Kind() != canon.KindObject || n.Len() == 0 {
		return r, badPolicy(at, `expected an object with "required" or "cosigners"`)
	}
	if err := onlyMembers(n, at, "required", "cosigners"); err != nil {
		return r, err
	}

	if required := n.Member("required"); !required.IsZero() {
		if r.Required = required.Bool(); !r.Required { // false would not require anything
			return r, badPolicy(at+"/required", "expected true, or no such member")
		}
	}
	if cosigners := n.Member("cosigners"); !cosigners.IsZero() {
		r.Cosigners, err = parseQuorum(cosigners, at+"/cosigners")
	}
	return r, err
}

func parseQuorum(n canon.Node, at string) (q receipt.Quorum, err error) {
	if n.Kind() != canon.KindObject {
		return q, badPolicy(at, `expected an object with "threshold"`)
	}
	if err := onlyMembers(n, at, "threshold", "keys"); err != nil {
		return q, err
	}

	f := n.Member("threshold").Float() // 0 if it is not a number
	if f < 1 || f > MaxKeys || f != math.Trunc(f) {
		return q, badPolicy(at+"/threshold", "expected a whole number from 1 to %d", MaxKeys)
	}
	q.Threshold = int(f)

	// If there is no list, all trusted witnesses are counted.
	list := n.Member("keys")
	if list.IsZero() {
		return q, nil
	}

	// A threshold greater than the number of keys could never be reached.
	keys, bad := stringList(list, "keys")
	if bad != nil {
		return q, badPolicy(at+"/keys", "%s", bad.Detail)
	}
	if q.Keys = keys; q.Threshold > len(keys) {
		return q, badPolicy(at+"/threshold", "the threshold is %d, but %d keys are listed", q.Threshold, len(keys))
	}

	return q, nil
}

func onlyMembers(n canon.Node, pointer string, known ...string) error {
	if others := otherMembers(n, known...); len(others) > 0 {
		return badPolicy(pointer, "unknown member %s; expected one of %s", quote(others[0].name), strings.Join(known, ", "))
	}
	return nil
}

func badPolicy(pointer, format string, args ...any) error {
	where := "policy file: "
	if pointer != "" {
		where += "at " + pointer + ": "
	}
	return errors.New(where + fmt.Sprintf(format, args...))
}
