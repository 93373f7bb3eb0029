package redact

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// A place is the location of a value in a document. Places are created only for values that are, or
// may be, withheld.
type place struct {
	parent *place // nil: the root
	node   canon.Node
	name   string // of a member
	index  int    // index of the element; -1 for a member
	shape  *shape
}

// appendPointer appends the JSON Pointer of the place to b.
func (p *place) appendPointer(b []byte) []byte {
	switch {
	case p.parent == nil:
		return b
	case p.index >= 0:
		return strconv.AppendInt(append(p.parent.appendPointer(b), '/'), int64(p.index), 10)
	}
	return canon.AppendToken(p.parent.appendPointer(b), p.name)
}

// A hit is a value that is withheld, either entirely or, if text is not nil, in part.
type hit struct {
	at      *place
	rule    string
	text    []byte   // the string after cleaning
	secrets [][]byte // the parts that were removed from the string
	pointer string
}

// A frame is one step on the path to the current value. Its place is created only when it is
// needed.
type frame struct {
	node  canon.Node
	name  canon.Node
	index int
	shape *shape
	kept  *place
	prior canon.Node // the preceding element
}

// A mention is the location of a string that contains 64 consecutive hexadecimal digits.
type mention struct {
	at     *place
	inName bool // the text is in the name of a member
}

// A walk finds the values in a document that a policy withholds.
type walk struct {
	policy   *Policy
	stack    []frame
	hits     []hit
	mentions map[canon.Digest][]mention
}

// find returns a walk that has visited the entire document.
func find(p *Policy, d *canon.Document) *walk {
	w := &walk{policy: p, mentions: map[canon.Digest][]mention{}}
	root := d.Root()
	w.stack = append(w.stack, frame{node: root, index: -1, shape: p.shape})
	w.visit(p.patterns.start(), false)
	return w
}

// keep returns the place of the current value.
func (w *walk) keep() *place { return w.keepAt(len(w.stack) - 1) }

func (w *walk) keepAt(i int) *place {
	f := &w.stack[i]
	if f.kept == nil {
		f.kept = &place{node: f.node, name: f.name.String(), index: f.index, shape: f.shape}
		if i > 0 {
			f.kept.parent = w.keepAt(i - 1)
		}
	}
	return f.kept
}

// withhold records that a rule withholds the current value. It returns false if there is nothing to
// withhold, because the value is null or is already withheld.
func (w *walk) withhold(rule string) bool {
	f := &w.stack[len(w.stack)-1]
	if w.shows(f.node, f.shape) {
		w.hits = append(w.hits, hit{at: w.keep(), rule: rule})
		return true
	}
	return false
}

// shows reports whether withholding the value would hide anything. A null value is kept, because it
// states that there is no value.
func (w *walk) shows(n canon.Node, s *shape) bool {
	switch n.Kind() {
	case canon.KindNull:
		return false
	case canon.KindString:
		return !w.policy.isPlaceholder(n.Text())
	case canon.KindArray, canon.KindObject:
		return s == nil || s.form != formLiteral || len(n.Raw()) > 2*maxLiteral || string(n.AppendCanonical(nil)) != s.literal
	}
	return true
}

// maxLiteral is greater than the length of any literal in the table.
const maxLiteral = 256

// visit visits the value on top of the stack. The parameter headers is true if the value is an
// object that contains headers.
func (w *walk) visit(states []state, headers bool) {
	f := w.stack[len(w.stack)-1]
	switch f.node.Kind() {
	case canon.KindString:
		w.visitText(f)
	case canon.KindObject:
		if rule := w.dirtyName(f.node); rule != "" {
			w.withhold(rule)
			return
		}
		for name, value := range f.node.Members() {
			if len(w.stack) == 1 && name.String() == "signatures" {
				continue // present in sealed receipts, which Find accepts
			}
			w.visitChild(frame{node: value, name: name, index: -1}, name.String(), states, headers)
		}
	case canon.KindArray:
		// A list of strings may be a command and its arguments.
		var prior canon.Node
		secrets := secretArguments(w.policy, f.node)
		for i, value := range f.node.Elements() {
			if rule := secrets[i]; rule != "" {
				w.withholdElement(frame{node: value, index: i}, rule)
				prior = value
				continue
			}
			w.visitChild(frame{node: value, index: i, prior: prior}, strconv.Itoa(i), states, headers)
			prior = value
		}
	}
}

// withholdElement withholds an element of the current list.
func (w *walk) withholdElement(f frame, rule string) {
	f.shape = w.stack[len(w.stack)-1].shape.child(strconv.Itoa(f.index))
	w.stack = append(w.stack, f)
	w.withhold(rule)
	w.stack = w.stack[:len(w.stack)-1]
}

// visitChild visits a member or an element of the current value. A value that is withheld entirely
// is not visited, because the outermost rule applies.
func (w *walk) visitChild(f frame, token string, states []state, headers bool) {
	object := w.stack[len(w.stack)-1].node
	parent := w.stack[len(w.stack)-1].shape
	f.shape = parent.child(token)
	w.stack = append(w.stack, f)
	defer func() { w.stack = w.stack[:len(w.stack)-1] }()

	// Different rules apply to entries from earlier redactions.
	if f.shape.inList() || parent.inList() {
		w.visitEntry(f, token)
		return
	}

	// The first match determines the reason. Pointers are compared first, followed by names,
	// private keys, and the enclosing object.
	next, named := w.policy.patterns.step(states, token)
	if named {
		w.withhold(rulePointer)
		return
	}
	if f.index < 0 {
		if rule, ok := w.policy.named(token, headers, f.node); ok && f.node.Kind() != canon.KindNull {
			w.withhold(rule)
			return
		}
		if isPrivateJWK(object, token, f.node) && w.policy.detectors[secret.PrivateJWK] {
			w.withhold(ruleOf(secret.PrivateJWK))
			return
		}
		headers = f.node.Kind() == canon.KindObject && isHeaders(foldName(token))
	}

	if rule, ok := w.policy.memberRule(w, object, f, token); ok {
		w.withhold(rule)
		return
	}
	w.visit(next, headers)
}

// visitEntry visits a value in an entry of redactions[]. Rules for pointers and names do not apply
// to entries. A field is searched token by token, because each name in it was searched separately.
// A reason that this policy may have written is not searched at all.
func (w *walk) visitEntry(f frame, token string) {
	switch {
	case f.node.Kind() != canon.KindString:
		w.visit(nil, false)
	case token == "reason" && w.policy.wrote(f.node.String()):
	case token == "field" && w.cleanField(f.node.String()):
	default:
		w.visitText(f)
	}
}

func (w *walk) cleanField(field string) bool {
	ptr, err := canon.ParsePointer(field)
	if err != nil {
		return false
	}

	for _, t := range ptr.Tokens() {
		if len(w.policy.clean([]byte(t)).rules) > 0 {
			return false
		}
	}
	return true
}

// visitText visits a string.
func (w *walk) visitText(f frame) {
	text := f.node.Text()
	digestsIn(text, func(d canon.Digest) {
		w.mentions[d] = append(w.mentions[d], mention{at: w.keep()})
	})
	if len(text) == len("sha256:")+2*len(canon.Digest{}) && isDigest(text) {
		return // detectors do not search digests
	}

	// At a location that does not accept a placeholder, the entire text is withheld.
	switch c := w.cleanLeaf(f); {
	case len(c.rules) == 0:
	case f.shape != nil && f.shape.form != formText:
		w.withhold(strings.Join(c.rules, ", "))
	default:
		w.hits = append(w.hits, hit{w.keep(), strings.Join(c.rules, ", "), c.text, c.secrets, ""})
	}
}

// cleanLeaf cleans the current string. For the bytes_base64 of a material, it cleans the decoded
// bytes.
func (w *walk) cleanLeaf(f frame) cleaned {
	text := f.node.Text()
	if f.shape != nil && f.shape.form == formDrop && f.name.String() == "bytes_base64" {
		if content, err := base64.StdEncoding.AppendDecode(nil, text); err == nil {
			text = content
		}
	}
	return w.policy.clean(text)
}

// dirtyName returns the rule that finds a secret in the name of a member, if there is one.
func (w *walk) dirtyName(object canon.Node) string {
	for name := range object.Members() {
		text := name.Text()
		if len(text) >= 2*len(canon.Digest{}) {
			digestsIn(text, func(d canon.Digest) {
				w.mentions[d] = append(w.mentions[d], mention{w.keep(), true})
			})
		}

		if c := w.policy.clean(text); len(c.rules) > 0 {
			rules := make([]string, len(c.rules))
			for i, r := range c.rules {
				rules[i] = r + inName
			}
			return strings.Join(rules, ", ")
		}
	}
	return ""
}

// guarded reports whether the value of a hit must not be replaced, because the value is a protected
// member or contains one.
func (h *hit) guarded() bool {
	s := h.at.shape
	return s != nil && (s.protected || h.text == nil && (s.holds || s.list))
}

// blocked reports whether no valid value can replace the withheld value.
func (h *hit) blocked() bool {
	return h.text == nil && h.at.shape != nil && h.at.shape.form == formRefuse
}

// replacement returns the value that replaces the withheld value, or nil if the member is to be
// removed.
func (h *hit) replacement() []byte {
	switch {
	case h.text != nil:
		return canon.AppendString(nil, h.text)
	case h.at.shape == nil || h.at.shape.form == formText:
		return canon.AppendString(nil, placeholder)
	case h.at.shape.form == formLiteral:
		return []byte(h.at.shape.literal)
	}
	return nil
}

func isDigest(text []byte) bool {
	_, err := canon.ParseDigest(text)
	return err == nil
}

// point sets the pointers of the hits, starting at the given index.
func (w *walk) point(from int) bool {
	size := 0
	for i := range w.hits[:from] {
		size += len(w.hits[i].pointer)
	}
	var b []byte
	for i := from; i < len(w.hits); i++ {
		b = w.hits[i].at.appendPointer(b[:0])
		if size += len(b); size > canon.MaxBytes {
			return false
		}
		w.hits[i].pointer = string(b)
	}
	return true
}

// listName returns the folded name of the value at the given depth of the stack, where 1 is the
// top.
func (w *walk) listName(depth int) string {
	if depth > len(w.stack) {
		return ""
	}
	return foldName(w.stack[len(w.stack)-depth].name.String())
}
