package schemas

import (
	"bytes"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// An acceptor recognizes documents that match a schema without building a tree of their values. An
// acceptor can accept documents, but never reject them. A document that it does not accept is
// passed to the JSON Schema library, which validates the document and describes the problems. An
// acceptor may therefore support less than the schema allows, but must never accept more. For
// example, it parses times only in their most common form.
//
// It supports the keywords that occur in the receipt schema. A schema that has any other keyword
// has no acceptor.
type acceptor struct {
	kinds   uint8 // bit k is set if values of kind k are accepted
	integer bool  // numbers must be integers
	minimum float64

	nonEmpty bool
	words    []string // accepted strings; nil accepts any string
	text     func([]byte) bool

	names    []string // of members
	members  []*acceptor
	required uint64 // bit i is set if names[i] is required
	closed   bool

	items *acceptor
	any   []*acceptor // at least one of these must also accept the value, unless the list is nil
}

const allKinds = 1<<canon.KindNull | 1<<canon.KindBool | 1<<canon.KindNumber | 1<<canon.KindString | 1<<canon.KindArray | 1<<canon.KindObject

// newAcceptor compiles a schema without the library, which would need milliseconds. Most programs
// check only documents that match. The result is nil for a schema with a keyword that acceptors do
// not support.
func newAcceptor(root canon.Node) *acceptor {
	c := acceptorCompiler{root: root, done: map[canon.Node]*acceptor{}}
	a := c.compile(root)
	if c.unknown {
		return nil
	}
	return a
}

type acceptorCompiler struct {
	root    canon.Node               // the schema in which references are resolved
	done    map[canon.Node]*acceptor // an entry is nil while it is being compiled
	unknown bool
}

func (c *acceptorCompiler) compile(s canon.Node) *acceptor {
	if s.IsZero() {
		return nil
	}
	a, begun := c.done[s]
	if c.unknown = c.unknown || begun && a == nil; begun || c.unknown { // a recursive schema
		return a
	}

	// In draft 2020-12, the keywords next to a $ref also apply.
	c.done[s] = nil
	if ref := s.Member("$ref"); !ref.IsZero() {
		c.unknown = c.asserts(s, "$ref")
		a = c.compile(c.target(ref))
	} else {
		a = c.keywords(s)
	}
	c.done[s] = a
	return a
}

// target returns the schema to which a reference refers. References to other texts are not
// supported.
func (c *acceptorCompiler) target(ref canon.Node) canon.Node {
	name, inside := strings.CutPrefix(ref.String(), "#/$defs/")
	s := c.root.Member("$defs").Member(name)
	c.unknown = c.unknown || !inside || s.IsZero()
	return s
}

func (c *acceptorCompiler) keywords(s canon.Node) *acceptor {
	// Every keyword listed here is compiled below. Any other keyword makes the schema unsupported.
	a := &acceptor{kinds: allKinds, minimum: math.Inf(-1)}
	c.unknown = s.Kind() != canon.KindObject || c.asserts(s, "type", "enum", "const", "pattern", "format", "minLength", "minimum",
		"properties", "required", "additionalProperties", "items", "anyOf")

	c.values(a, s)
	c.texts(a, s)
	c.object(a, s)
	a.items = c.compile(s.Member("items"))
	for _, branch := range s.Member("anyOf").Elements() {
		a.any = append(a.any, c.compile(branch))
	}
	return a
}

// asserts reports whether a schema has a keyword, other than the known keywords, that may reject
// values. Only the root may contain definitions, and thus change what references mean.
func (c *acceptorCompiler) asserts(s canon.Node, known ...string) bool {
	known = append(known, "title", "description", "default", "$comment")
	if s == c.root {
		known = append(known, "$schema", "$id", "$defs")
	}
	for name := range s.Members() {
		if !slices.Contains(known, name.String()) {
			return true
		}
	}
	return false
}

func (c *acceptorCompiler) values(a *acceptor, s canon.Node) {
	if types := textsOf(s.Member("type")); types != nil {
		a.kinds = 0
		for _, name := range types {
			a.kinds |= kindsOf(name)
			a.integer = a.integer || name == "integer"
		}
		c.unknown = c.unknown || a.integer && slices.Contains(types, "number")
	}
	// Numbers are compared as doubles (RFC 8785 section 3.2.2.3), so the bound must be a double.
	if least := s.Member("minimum"); !least.IsZero() {
		a.minimum = least.Float()
		c.unknown = c.unknown || a.minimum != math.Trunc(a.minimum)
	}

	// For enum and const, only string values are supported.
	enum, only := s.Member("enum"), s.Member("const")
	if enum.IsZero() && only.IsZero() {
		return
	}
	a.kinds &= 1 << canon.KindString
	a.words = append(textsOf(enum), textsOf(only)...)
	c.unknown = c.unknown || len(a.words) != max(enum.Len(), 1) || !enum.IsZero() && !only.IsZero() || only.Len() > 0
}

// textsOf returns a string, or the strings in an array.
func textsOf(n canon.Node) (texts []string) {
	if n.Kind() == canon.KindString {
		return []string{n.String()}
	}
	for _, e := range n.Elements() {
		if e.Kind() == canon.KindString {
			texts = append(texts, e.String())
		}
	}
	return texts
}

func kindsOf(typeName string) uint8 {
	if typeName == "integer" {
		typeName = "number"
	}
	names := [...]string{canon.KindNull: "null", canon.KindBool: "boolean", canon.KindNumber: "number",
		canon.KindString: "string", canon.KindArray: "array", canon.KindObject: "object"}
	return 1 << slices.Index(names[:], typeName) // the library rejects any other name
}

func (c *acceptorCompiler) texts(a *acceptor, s canon.Node) {
	least := s.Member("minLength")
	a.nonEmpty = least.Float() == 1
	c.unknown = c.unknown || !least.IsZero() && !a.nonEmpty

	pattern, format := s.Member("pattern"), s.Member("format")
	switch {
	case pattern.IsZero() && format.IsZero():
		return
	case format.IsZero():
		a.text = patternText(pattern.String())
	case pattern.IsZero() && format.String() == "date-time":
		a.text = isUsualTime
	}
	c.unknown = c.unknown || a.text == nil
}

// patternText returns a function that matches one of the patterns in the receipt schema, or nil for
// any other pattern.
func patternText(pattern string) func([]byte) bool {
	switch pattern {
	case "^sha256:[0-9a-f]{64}$":
		return func(t []byte) bool { _, err := canon.ParseDigest(t); return err == nil }
	case "^[A-Z]{3}$":
		return func(t []byte) bool {
			return len(t) == 3 && !bytes.ContainsFunc(t, func(r rune) bool { return r < 'A' || r > 'Z' })
		}
	}
	return nil
}

func (c *acceptorCompiler) object(a *acceptor, s canon.Node) {
	rest, properties := s.Member("additionalProperties"), s.Member("properties")
	a.closed = !rest.IsZero() && !rest.Bool()
	c.unknown = c.unknown || !rest.IsZero() && rest.Kind() != canon.KindBool

	// Required members are checked even if properties does not describe them.
	required := textsOf(s.Member("required"))
	for name := range properties.Members() {
		a.names = append(a.names, name.String())
	}
	for _, name := range required {
		if !slices.Contains(a.names, name) {
			a.names = append(a.names, name)
			c.unknown = c.unknown || a.closed
		}
	}

	// find requires sorted names, and required has one bit per name.
	slices.Sort(a.names)
	c.unknown = c.unknown || len(a.names) > bits.UintSize
	for i, name := range a.names {
		a.members = append(a.members, c.compile(properties.Member(name)))
		if slices.Contains(required, name) {
			a.required |= 1 << i
		}
	}
}

// accepts reports whether it is certain that n matches the schema.
func (a *acceptor) accepts(n canon.Node) bool {
	if a == nil { // without a schema, every value is accepted
		return true
	}

	kind := n.Kind()
	if a.kinds&(1<<kind) == 0 {
		return false
	}
	if a.any != nil && !slices.ContainsFunc(a.any, func(branch *acceptor) bool { return branch.accepts(n) }) {
		return false
	}

	switch kind {
	case canon.KindNumber:
		return a.acceptsNumber(n)
	case canon.KindString:
		return a.acceptsString(n)
	case canon.KindObject:
		return a.acceptsObject(n)
	case canon.KindArray:
		return a.acceptsArray(n)
	}

	// The kind of null, true, or false is sufficient.
	return true
}

func (a *acceptor) acceptsNumber(n canon.Node) bool {
	if !a.integer && math.IsInf(a.minimum, -1) {
		return true
	}
	if a.minimum <= 0 && isCount(n.Raw()) {
		return true
	}
	f := n.Float()
	return f >= a.minimum && (!a.integer || f == math.Trunc(f))
}

// isCount reports whether raw consists only of digits, which is true for most integers.
func isCount(raw []byte) bool {
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func (a *acceptor) acceptsString(n canon.Node) bool {
	if a.nonEmpty && len(n.Raw()) == len(`""`) {
		return false
	}
	if a.words == nil && a.text == nil {
		return true
	}
	text := n.Text()
	if a.words != nil && !slices.ContainsFunc(a.words, func(w string) bool { return w == string(text) }) {
		return false
	}
	return a.text == nil || a.text(text)
}

func (a *acceptor) acceptsArray(n canon.Node) bool {
	if a.items == nil {
		return true
	}
	for _, e := range n.Elements() {
		if !a.items.accepts(e) {
			return false
		}
	}
	return true
}

func (a *acceptor) acceptsObject(n canon.Node) bool {
	if a.names == nil {
		return !a.closed || n.Len() == 0
	}

	// The search for each name starts after the previous name, because members are usually in
	// order.
	var seen uint64
	i := -1
	for name, value := range n.Members() {
		i = a.find(name.Text(), i+1)
		if i < 0 {
			if a.closed {
				return false
			}
			continue
		}
		seen |= 1 << i
		if !a.members[i].accepts(value) {
			return false
		}
	}

	return seen&a.required == a.required
}

// find returns the index of a name, or -1. It starts at the expected index, because members are
// usually in canonical order, and so are the names.
func (a *acceptor) find(name []byte, expected int) int {
	for i := expected; i < len(a.names); i++ {
		if a.names[i] == string(name) {
			return i
		}
	}
	for i := range min(expected, len(a.names)) {
		if a.names[i] == string(name) {
			return i
		}
	}
	return -1
}

// isUsualTime reports whether text is a date-time (RFC 3339 section 5.6) in the form
// 2026-04-25T19:17:33Z or 2026-04-25T19:17:33.25Z. The library validates all other forms, including
// leap seconds.
func isUsualTime(text []byte) bool {
	const form = "0000-00-00T00:00:00"
	if len(text) < len(form)+1 || text[len(text)-1] != 'Z' {
		return false
	}

	// The form is full-date "T" partial-time (RFC 3339 section 5.6), in uppercase only.
	for i := range form {
		digit := text[i] >= '0' && text[i] <= '9'
		if form[i] == '0' && !digit || form[i] != '0' && text[i] != form[i] {
			return false
		}
	}

	// The month must have that day (RFC 3339 section 5.7). Leap seconds are left to the library.
	two := func(i int) int { return int(text[i]-'0')*10 + int(text[i+1]-'0') }
	year, month, day := two(0)*100+two(2), two(5), two(8)
	if month < 1 || month > 12 || day < 1 || day > daysOf(year, month) || two(11) > 23 || two(14) > 59 || two(17) > 59 {
		return false
	}

	// time-secfrac = "." 1*DIGIT
	fraction := text[len(form) : len(text)-1]
	return len(fraction) == 0 || len(fraction) > 1 && fraction[0] == '.' && isCount(fraction[1:])
}

// daysOf returns the number of days in a month of the Gregorian calendar.
func daysOf(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}
