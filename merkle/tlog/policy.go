package tlog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/merkle"
)

// A Policy specifies which checkpoints are accepted (C2SP tlog-policy). A checkpoint must be signed
// by one of the logs and cosigned by a quorum of the witnesses. A policy has one item per line:
//
//	log VKEY [URL]
//	witness NAME VKEY [URL]
//	group NAME all|any|K MEMBER…     K members, which are witnesses and groups
//	quorum NAME|none                 exactly one
//
// Lines end with LF. The words in a line are separated by spaces and tabs. A line that begins with
// # is a comment. A name must be defined before it is used, and it may be a member of at most one
// group.
type Policy struct {
	Logs      []PolicyLog // empty if the caller knows the log from another source
	Witnesses []PolicyWitness
	Quorum    *Group // nil for quorum none
}

// A PolicyLog is a log named in a [Policy].
type PolicyLog struct {
	*Log
	URL string // "" if absent
}

// A PolicyWitness is a witness named in a [Policy].
type PolicyWitness struct {
	Name string
	*Witness
	URL string // "" if absent
}

// A Group is a set of witnesses and groups in a [Policy], together with the number of members that
// must cosign. If the quorum is a single witness, it is represented by a group with only that
// witness.
type Group struct {
	Threshold int
	Witnesses []*Witness
	Groups    []*Group
}

// A PolicyError describes why a policy is not valid.
type PolicyError struct {
	Line   int // line number, from 1; 0 if a line is missing
	Detail string
}

// Error returns the line number, if known, and the detail.
func (e *PolicyError) Error() string {
	if e.Line == 0 {
		return "merkle: policy: " + e.Detail
	}
	return fmt.Sprintf("merkle: policy, line %d: %s", e.Line, e.Detail)
}

// ParsePolicy parses the text of a policy. The error is a *[PolicyError].
func ParsePolicy(text []byte) (*Policy, error) {
	p := &policyParser{policy: new(Policy), names: map[string]*policyName{}, keys: map[string]bool{}}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return nil, &PolicyError{strings.Count(string(text), "\n") + 1, "the line does not end with LF"}
	}

	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if err := p.line(strings.TrimSuffix(line, "\n")); err != nil {
			return nil, &PolicyError{number, err.Error()}
		}
	}
	if !p.decided {
		return nil, &PolicyError{0, "expected exactly one quorum line, found none"}
	}
	return p.policy, nil
}

// A policyParser contains the definitions from the lines that have been parsed.
type policyParser struct {
	policy  *Policy
	names   map[string]*policyName
	keys    map[string]bool // roles and public keys that have occurred
	decided bool            // a quorum line has been read
}

// A policyName is the name of a witness or a group.
type policyName struct {
	witness *Witness
	group   *Group
	member  bool // a group has this name as a member
}

func (p *policyParser) line(line string) error {
	for i := range len(line) {
		if c := line[i]; c < 0x20 && c != '\t' || c == 0x7f {
			return fmt.Errorf("the octet 0x%02x is not allowed", c)
		}
	}

	// Only spaces and tabs separate words, and # begins a comment only as the first character of
	// the first word.
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 || words[0][0] == '#' {
		return nil
	}
	switch rest := words[1:]; words[0] {
	case "log":
		return p.log(rest)
	case "witness":
		return p.witness(rest)
	case "group":
		return p.group(rest)
	case "quorum":
		return p.quorum(rest)
	}
	return fmt.Errorf("expected log, witness, group, or quorum, found %.40q", words[0])
}

func (p *policyParser) log(words []string) error {
	if len(words) != 1 && len(words) != 2 {
		return errors.New("expected log VKEY [URL]")
	}
	k, err := p.key("log", words[0], logType)
	if err != nil {
		return err
	}
	p.policy.Logs = append(p.policy.Logs, PolicyLog{&Log{*k}, strings.Join(words[1:], "")})
	return nil
}

func (p *policyParser) witness(words []string) error {
	if len(words) != 2 && len(words) != 3 {
		return errors.New("expected witness NAME VKEY [URL]")
	}
	k, err := p.key("witness", words[1], cosignatureType)
	if err != nil {
		return err
	}
	witness := &Witness{*k}
	p.policy.Witnesses = append(p.policy.Witnesses, PolicyWitness{words[0], witness, strings.Join(words[2:], "")})
	return p.define(words[0], &policyName{witness: witness})
}

// key parses a verifier key. The type of the key must be the Ed25519 type of the role, or the
// ML-DSA-44 type. The same public key must not occur twice in the same role, even under different
// names.
func (p *policyParser) key(role, text string, kind byte) (*noteKey, error) {
	k, err := parseNoteKey(text)
	if bad := (*VerifierError)(nil); errors.As(err, &bad) {
		return nil, errors.New(bad.Detail)
	}
	if k.kind != kind && k.kind != postQuantumType {
		return nil, fmt.Errorf("the verifier key of a %s has the type 0x%02x or 0x06, and this key has 0x%02x", role, kind, k.kind)
	}
	id := role + " " + string(k.raw())
	if p.keys[id] {
		return nil, fmt.Errorf("the %s key %.80q is on an earlier line, too", role, k.name)
	}
	p.keys[id] = true
	return k, nil
}

func (p *policyParser) group(words []string) error {
	if len(words) < 3 {
		return errors.New("expected group NAME all|any|K MEMBER…")
	}
	name, number, members := words[0], words[1], words[2:]
	g := new(Group)
	switch number {
	case "all":
		g.Threshold = len(members)
	case "any":
		g.Threshold = 1
	default:
		k, err := strconv.Atoi(number)
		if err != nil || strconv.Itoa(k) != number || k < 1 || k > len(members) {
			return fmt.Errorf("expected all, any, or a number from 1 to %d, found %.40q", len(members), number)
		}
		g.Threshold = k
	}

	for _, m := range members {
		n, known := p.names[m]
		if !known {
			return fmt.Errorf("the member %.80q is not defined on an earlier line", m)
		}
		if n.member {
			return fmt.Errorf("%.80q is listed twice as a member", m)
		}
		n.member = true
		n.join(g)
	}
	return p.define(name, &policyName{group: g})
}

// join makes the witness or group a member of g.
func (n *policyName) join(g *Group) {
	if n.group != nil {
		g.Groups = append(g.Groups, n.group)
	} else {
		g.Witnesses = append(g.Witnesses, n.witness)
	}
}

// define defines a name for a witness or a group. Witnesses and groups share a namespace.
func (p *policyParser) define(name string, n *policyName) error {
	if p.names[name] != nil || name == "none" {
		return fmt.Errorf("the name %.80q is reserved or defined on an earlier line", name)
	}
	p.names[name] = n
	return nil
}

func (p *policyParser) quorum(words []string) error {
	if len(words) != 1 || p.decided {
		return errors.New("expected one line quorum NAME|none")
	}
	p.decided = true
	if words[0] == "none" {
		return nil
	}

	n, known := p.names[words[0]]
	if !known {
		return fmt.Errorf("the quorum %.80q is not defined on an earlier line", words[0])
	}
	if p.policy.Quorum = n.group; n.group == nil {
		p.policy.Quorum = &Group{Threshold: 1, Witnesses: []*Witness{n.witness}}
	}
	return nil
}

// ErrUnmet indicates that no log of a policy has signed a checkpoint, or that the quorum of the
// policy has not cosigned it. Nothing is invalid.
var ErrUnmet = errors.New("merkle: the policy is not met")

// Open opens a signed checkpoint, using the keys in the policy. It returns the checkpoint only if
// the policy is met. Otherwise, the error is [ErrUnmet], an error from [OpenSigned], or a
// *[SignatureError] if one of the logs in the policy has signed a checkpoint with another origin.
func (p *Policy) Open(msg []byte) (*Signed, error) {
	s, err := p.open(msg)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// open is like Open, but it also returns the checkpoint if one of the logs has signed it and only
// the quorum is not met.
func (p *Policy) open(msg []byte) (*Signed, error) {
	s, err := OpenSigned(msg, p.logs(), p.witnesses())
	if err == nil { // a log cannot be its own witness
		s.Cosignatures = slices.DeleteFunc(s.Cosignatures, func(c Cosignature) bool {
			return slices.ContainsFunc(p.Logs, func(l PolicyLog) bool { return l.HasKey(c.Witness.Public()) })
		})
	}
	switch {
	case err != nil:
		return nil, err
	case len(s.Logs) == 0 && len(s.strangers) > 0: // the key belongs to another origin (C2SP tlog-policy)
		return nil, &SignatureError{s.strangers[0].name, s.strangers[0].hash, s.Checkpoint}
	case len(s.Logs) == 0:
		return nil, fmt.Errorf("%w: none of its %d logs signed the checkpoint of %.80q", ErrUnmet, len(p.Logs), s.Origin)
	case !p.Quorum.Met(cosigners(s)):
		return s, fmt.Errorf("%w: its quorum needs cosignatures of more witnesses than the %d that signed", ErrUnmet, len(s.Cosignatures))
	}
	return s, nil
}

func (p *Policy) logs() (list []*Log) {
	for _, l := range p.Logs {
		list = append(list, l.Log)
	}
	return list
}

func (p *Policy) witnesses() (list []*Witness) {
	for _, w := range p.Witnesses {
		list = append(list, w.Witness)
	}
	return list
}

// cosigners returns the witnesses that have cosigned the checkpoint.
func cosigners(s *Signed) map[*Witness]bool {
	all := map[*Witness]bool{}
	for _, c := range s.Cosignatures {
		all[c.Witness] = true
	}
	return all
}

// Met reports whether cosignatures by the given witnesses are sufficient. They always are if g is
// nil. A witness is never in two groups, and two witnesses never have the same key.
func (g *Group) Met(signed map[*Witness]bool) bool {
	if g == nil {
		return true
	}
	n := 0
	for _, w := range g.Witnesses {
		if signed[w] {
			n++
		}
	}
	for _, sub := range g.Groups {
		if sub.Met(signed) {
			n++
		}
	}
	return n >= g.Threshold
}

// CheckProof checks that a tlog-proof proves the inclusion of an entry in a checkpoint that meets
// the policy, and returns that checkpoint. The error is from [merkle.CheckInclusion] or
// [Policy.Open]. If a log has signed the checkpoint, an invalid path takes precedence over missing
// cosignatures.
func (p *Policy) CheckProof(proof *Proof, entry []byte) (*Signed, error) {
	s, unmet := p.open(proof.Checkpoint)
	if s == nil {
		return nil, unmet
	}
	if err := merkle.CheckInclusion(merkle.LeafHash(entry), proof.Index, s.Size, proof.Hashes, s.Root); err != nil {
		return nil, err
	}
	if unmet != nil {
		return nil, unmet
	}
	return s, nil
}
