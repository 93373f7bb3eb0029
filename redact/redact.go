package redact

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// An Entry says what was withheld: one element of redactions[].
type Entry struct {
	Field     string       // JSON Pointer (RFC 6901) into the unredacted form
	Reason    string       // the rules that withheld it, separated by commas
	ProofHash canon.Digest // the commitment, see [Commitment]
}

// A Result is a redacted draft and what was taken out of it.
type Result struct {
	Draft       []byte       // RFC 8785 form
	Entries     []Entry      // the new ones, in the order of redactions[]
	Disclosures *Disclosures // the withheld values: secret
}

// A Finding says where a policy would withhold something, and by which rules.
type Finding struct {
	Pointer string // RFC 6901
	Rule    string
}

// Redact withholds from a draft what the policy says. For each entry it reads 16
// bytes from salts, which must be random and secret: crypto/rand.Reader. Of what
// was redacted already nothing is withheld again; the result of redacting a
// result is the same.
//
// The error lists everything that keeps the draft from being redacted.
func (p *Policy) Redact(d *canon.Document, salts io.Reader) (*Result, error) {
	var refused refusedError
	if root := d.Root(); root.Kind() != canon.KindObject {
		refused.add(problem{Code: codeNotObject})
		return nil, &refused
	}

	// Redact, seal, sign: a hash or a signature would be over what is taken out here.
	for _, pointer := range sealedBy(d.Root()) {
		refused.add(problem{Code: codeAlreadySealed, Pointer: pointer})
	}
	if refused.Total > 0 {
		return nil, &refused
	}

	// All problems are told at once, so that a draft is mended once.
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

	// Entries need a list to stand in.
	if list := d.Root().Member("redactions"); len(hits) > 0 && !list.IsZero() && list.Kind() != canon.KindArray {
		refused.add(problem{codeSchemaBreak, "/redactions", ""})
	}
	if refused.Total > 0 {
		return nil, &refused
	}

	// RFC 6901 names the field, and a salt of its own keeps its value from being guessed.
	disclosures, err := disclose(hits, salts)
	if err != nil {
		return nil, err
	}

	r := &Result{Disclosures: disclosures}
	for i, f := range disclosures.Fields {
		r.Entries = append(r.Entries, Entry{f.Field, hits[i].rule, f.Commitment()})
	}

	// What is returned was parsed: it is strict JSON within the size of a receipt.
	redacted := new(canon.Document)
	if err := redacted.Parse(write(d, hits, r.Entries), canon.Limits{Depth: anyDepth}); err != nil {
		refused.add(problem{Code: codeSizeLimit}) // the one limit that is left; the error itself might quote a name
		return nil, &refused
	}
	r.Draft = redacted.AppendCanonical(nil)
	return r, nil
}

// Find says what the policy would withhold from a document, sealed or not, also
// where it cannot be withheld. Pointers name what stays; they hold no secret
// that the policy knows. They are in the order of redactions[]. When they are too
// long to list, one finding names the whole document, by size_limit.
func (p *Policy) Find(d *canon.Document) []Finding {
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

// sealedBy returns the members that only sealed receipts have.
func sealedBy(root canon.Node) (pointers []string) {
	if !root.Member("chain").Member("receipt_hash").IsZero() {
		pointers = append(pointers, "/chain/receipt_hash")
	}
	if !root.Member("signatures").IsZero() {
		pointers = append(pointers, "/signatures")
	}
	return pointers
}

// checkPaths refuses pointers that name nothing, unless an entry says that the
// value was withheld before.
func (p *Policy) checkPaths(d *canon.Document, refused *refusedError) {
	for _, pat := range p.patterns {
		if pat.wild() {
			continue
		}
		ptr, _ := canon.ParsePointer(pat.text) // Compile has
		if _, ok := d.Find(ptr); !ok && !listed(d.Root().Member("redactions"), ptr.String()) {
			refused.add(problem{Code: codeNoSuchPath, Pointer: pat.text})
		}
	}
}

// listed reports whether an entry is about a pointer, something in it or
// something around it.
func listed(redactions canon.Node, pointer string) bool {
	for _, e := range redactions.Elements() {
		field := e.Member("field").String()
		if field != "" && (field == pointer || below(field, pointer) || below(pointer, field)) {
			return true
		}
	}
	return false
}

// plan returns all that is withheld, in the order of the pointers. It reports
// false when the pointers alone are longer than a document may be: one long name
// can hold many values.
func (p *Policy) plan(d *canon.Document) ([]hit, bool) {
	w := find(p, d)
	if !w.point(0) {
		return nil, false
	}

	before := len(w.hits)
	if before == 0 {
		return nil, true
	}

	// A hash of what is withheld would tell it to whoever can guess.
	addHashes(w, d.Root())
	if !w.point(before) {
		return nil, false
	}

	// In this order, what lies below a value follows it.
	slices.SortFunc(w.hits, func(a, b hit) int { return comparePointers(a.pointer, b.pointer) })

	// A name that is a hash withholds an object in which more was found.
	outermost := w.hits[:0]
	for _, h := range w.hits {
		if n := len(outermost); n == 0 || !below(h.pointer, outermost[n-1].pointer) {
			outermost = append(outermost, h)
		}
	}

	return outermost, true
}

// Summary says on one line, for a person, how much was withheld by which rules.
func (r *Result) Summary() string {
	if len(r.Entries) == 0 {
		return "nothing to withhold"
	}

	// A value that several rules hit counts for each.
	counts := map[string]int{}
	for _, e := range r.Entries {
		for rule := range strings.SplitSeq(e.Reason, ", ") {
			counts[rule]++
		}
	}

	var rules []string
	for rule := range counts {
		rules = append(rules, rule)
	}

	slices.Sort(rules)
	for i, rule := range rules {
		rules[i] = fmt.Sprintf("%s %d", rule, counts[rule])
	}

	noun := "values"
	if len(r.Entries) == 1 {
		noun = "value"
	}

	return fmt.Sprintf("withheld %d %s: %s", len(r.Entries), noun, strings.Join(rules, ", "))
}

// A Policy says what is withheld from a draft. It comes from [Rules.Compile],
// does not change and is safe for concurrent use.
type Policy struct {
	memberRules
	patterns patterns
	reasons  map[string]bool // that the policy writes
	shape    *shape          // of a receipt
}

// everyReason lists the rules that can stand in a reason.
func (p *Policy) everyReason() map[string]bool {
	all := map[string]bool{rulePointer: true, ruleName: true, ruleHeader: true, ruleURL: true, ruleURL + inName: true, ruleHash: true, ruleHash + inName: true}
	for d := range p.detectors {
		all[ruleOf(d)], all[ruleOf(d)+inName] = true, true
	}
	return all
}

// wrote reports whether a reason is one that this policy writes. Such a text is
// no find of any pattern.
func (p *Policy) wrote(reason string) bool {
	for rule := range strings.SplitSeq(reason, ", ") {
		if !p.reasons[rule] {
			return false
		}
	}
	return true
}

// append writes the entry as an element of redactions[].
func (e Entry) append(b []byte) []byte {
	b = canon.AppendString(append(b, `{"field":`...), e.Field)
	b = canon.AppendString(append(b, `,"proof_hash":`...), e.ProofHash.String())
	return append(canon.AppendString(append(b, `,"reason":`...), e.Reason), '}')
}
