package redact

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// An Entry is an element of redactions[], which describes a withheld value.
type Entry struct {
	Field     string       // JSON Pointer (RFC 6901) to the value in the unredacted form
	Reason    string       // the rules that withheld the value, separated by commas
	ProofHash canon.Digest // the commitment; see [Disclosure.Commitment]
}

// A Result consists of a redacted draft and the values that were withheld from it.
type Result struct {
	Draft       *canon.Document // the redacted draft, whose source is in RFC 8785 form
	Entries     []Entry         // the new entries, in the order of redactions[]
	Disclosures *Disclosures    // the withheld values, which must be kept secret
}

// A Finding is a location at which a policy would withhold a value, together with the rules that
// apply.
type Finding struct {
	Pointer string // RFC 6901
	Rule    string
}

// errNoRules means that a policy was not compiled from rules.
var errNoRules = errors.New("redact: policy was not compiled; Rules.Compile and Everyday return policies")

// Redact withholds the values in a draft that the policy matches. For each entry, it reads 16 bytes
// from salts, which must return random and secret bytes, as crypto/rand.Reader does. Redacting the
// result again changes nothing.
//
// If the draft cannot be redacted, the error lists the first 20 problems and contains the total
// number of problems.
func (p *Policy) Redact(d *canon.Document, salts io.Reader) (*Result, error) {
	if p == nil || p.shape == nil {
		return nil, errNoRules
	}
	if salts == nil {
		return nil, errors.New("redact: source of salts is missing")
	}

	var refused refusedError
	if root := d.Root(); root.Kind() != canon.KindObject {
		refused.add(problem{Code: codeNotObject})
		return nil, &refused
	}

	// A hash or a signature would cover the values that are to be withheld.
	for _, pointer := range sealedBy(d.Root()) {
		refused.add(problem{Code: codeAlreadySealed, Pointer: pointer})
	}
	if refused.Total > 0 {
		return nil, &refused
	}

	// All problems are reported together, so that they can be corrected in one pass.
	p.checkPaths(d, &refused)
	hits, ok := p.plan(d)
	if !ok {
		refused.add(problem{Code: codeSizeLimit})
	}

	for _, h := range hits {
		switch {
		case h.guarded():
			refused.add(problem{codeProtectedField, h.pointer, h.rule})
		case h.blocked():
			refused.add(problem{codeSchemaBreak, h.pointer, h.rule})
		case lossy(h.at.node.Raw()):
			refused.add(problem{codePrecision, h.pointer, h.rule})
		}
	}

	// If redactions is present, it must be a list, because entries are added to it.
	if list := d.Root().Member("redactions"); len(hits) > 0 && !list.IsZero() && list.Kind() != canon.KindArray {
		refused.add(problem{codeSchemaBreak, "/redactions", ""})
	}
	if refused.Total > 0 {
		return nil, &refused
	}

	// Each value has its own salt, which prevents guesses of the value from being confirmed.
	disclosures, err := disclose(hits, salts)
	if err != nil {
		return nil, err
	}

	r := &Result{Disclosures: disclosures}
	for i, f := range disclosures.Fields {
		r.Entries = append(r.Entries, Entry{f.Field, hits[i].rule, f.Commitment()})
	}

	// The result is parsed, so it is strict JSON and within the size limit for receipts.
	redacted, limits := new(canon.Document), canon.Limits{Depth: anyDepth}
	err = redacted.Parse(write(d, hits, r.Entries), limits)
	if err == nil {
		r.Draft = new(canon.Document)
		err = r.Draft.Parse(redacted.AppendCanonical(nil), limits)
	}
	if err != nil {
		refused.add(problem{Code: codeSizeLimit}) // no other error is possible, and the error itself might quote a name
		return nil, &refused
	}

	return r, nil
}

// Find returns the locations of all values that the policy would withhold from a document,
// including values that cannot be withheld. The document may be sealed. The pointers in the result
// contain no secret that the policy can detect. Findings are in the order of redactions[]. If the
// findings would be too long, there is only one finding: the entire document, with the rule
// size_limit. The zero Policy also finds the entire document, with the rule policy_empty.
func (p *Policy) Find(d *canon.Document) []Finding {
	if p == nil || p.shape == nil {
		return []Finding{{"", ruleEmpty}}
	}
	hits, ok := p.plan(d)
	if !ok {
		return []Finding{{"", string(codeSizeLimit)}}
	}
	var found []Finding
	for _, h := range hits {
		found = append(found, Finding{h.pointer, h.rule})
	}
	return found
}

// sealedBy returns pointers to those members of a document that only sealed receipts have.
func sealedBy(root canon.Node) (pointers []string) {
	if !root.Member("chain").Member("receipt_hash").IsZero() {
		pointers = append(pointers, "/chain/receipt_hash")
	}
	if !root.Member("signatures").IsZero() {
		pointers = append(pointers, "/signatures")
	}
	return pointers
}

// checkPaths reports pointers of the policy that refer to no value, unless an entry states that the
// value was already withheld.
func (p *Policy) checkPaths(d *canon.Document, refused *refusedError) {
	for _, pat := range p.patterns {
		if pat.wild() {
			continue
		}
		ptr, _ := canon.ParsePointer(pat.text) // Compile has checked the pointer
		if _, ok := d.Find(ptr); !ok && !listed(d.Root().Member("redactions"), ptr.String()) {
			refused.add(problem{Code: codeNoSuchPath, Pointer: pat.text})
		}
	}
}

// listed reports whether an entry refers to the value at a pointer, to a value within it, or to a
// value that contains it.
func listed(redactions canon.Node, pointer string) bool {
	for _, e := range redactions.Elements() {
		field := e.Member("field").String()
		if field != "" && (field == pointer || below(field, pointer) || below(pointer, field)) {
			return true
		}
	}
	return false
}

// plan returns all values that are to be withheld, in the order of their pointers. It returns false
// if the pointers alone would be longer than a document may be, which is possible if many pointers
// contain the same long name.
func (p *Policy) plan(d *canon.Document) ([]hit, bool) {
	w := find(p, d)
	if !w.point(0) {
		return nil, false
	}

	before := len(w.hits)
	if before == 0 {
		return nil, true
	}

	// Hashes are included, because they allow guesses of a withheld value to be checked.
	addHashes(w, d.Root())
	if !w.point(before) {
		return nil, false
	}

	// In this order, each value is directly followed by the values within it.
	slices.SortFunc(w.hits, func(a, b hit) int { return comparePointers(a.pointer, b.pointer) })

	// If a name contains a hash, the object with that name is withheld, including all other hits in
	// the object.
	outermost := w.hits[:0]
	for _, h := range w.hits {
		if n := len(outermost); n == 0 || !below(h.pointer, outermost[n-1].pointer) {
			outermost = append(outermost, h)
		}
	}

	return outermost, true
}

// Summary describes, in one line, how many values were withheld by each rule.
func (r *Result) Summary() string {
	if len(r.Entries) == 0 {
		return "nothing to withhold"
	}

	// If several rules match a value, the value is counted for each of them.
	counts := map[string]int{}
	for _, e := range r.Entries {
		for rule := range strings.SplitSeq(e.Reason, ", ") {
			counts[rule]++
		}
	}

	var rules []string
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		rules = append(rules, fmt.Sprintf("%s %d", rule, counts[rule]))
	}

	noun := "values"
	if len(r.Entries) == 1 {
		noun = "value"
	}

	return fmt.Sprintf("withheld %d %s by rule: %s", len(r.Entries), noun, strings.Join(rules, ", "))
}

// A Policy determines which values are withheld from a draft. [Rules.Compile] returns one. A Policy
// is immutable and safe for concurrent use.
type Policy struct {
	memberRules
	patterns patterns
	reasons  map[string]bool // the reasons that this policy can write
	shape    *shape          // of a receipt
}

// everyReason returns the set of rules that a reason may contain.
func (p *Policy) everyReason() map[string]bool {
	all := map[string]bool{rulePointer: true, ruleName: true, ruleHeader: true, ruleURL: true, ruleURL + inName: true, ruleHash: true, ruleHash + inName: true}
	for d := range p.detectors {
		all[ruleOf(d)], all[ruleOf(d)+inName] = true, true
	}
	return all
}

// wrote reports whether this policy can have written a reason. Such a reason is not searched for
// secrets.
func (p *Policy) wrote(reason string) bool {
	for rule := range strings.SplitSeq(reason, ", ") {
		if !p.reasons[rule] {
			return false
		}
	}
	return true
}

// append appends the entry, as an element of redactions[], to b.
func (e Entry) append(b []byte) []byte {
	b = canon.AppendString(append(b, `{"field":`...), e.Field)
	b = canon.AppendString(append(b, `,"proof_hash":`...), e.ProofHash.String())
	return append(canon.AppendString(append(b, `,"reason":`...), e.Reason), '}')
}
