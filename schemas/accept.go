package schemas

import (
	"bytes"
	"math"
	"math/bits"
	"reflect"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/receiptkit/receiptkit/canon"
)

// An acceptor recognizes documents that match a schema without building a tree of their values. It
// can only accept a document, never reject it. A document that it does not accept is passed to the
// JSON Schema library, which validates the document and describes the problems. An acceptor may
// therefore support less than the schema allows, but must never accept more. For example, it parses
// times only in their most common form.
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

// newAcceptor returns an acceptor for a schema, or nil if the schema has an unsupported keyword.
func newAcceptor(s *jsonschema.Schema) *acceptor {
	c := acceptorCompiler{done: map[*jsonschema.Schema]*acceptor{}, open: map[*jsonschema.Schema]bool{}}
	a := c.compile(s)
	if c.unknown {
		return nil
	}
	return a
}

type acceptorCompiler struct {
	done    map[*jsonschema.Schema]*acceptor
	open    map[*jsonschema.Schema]bool // being compiled
	unknown bool
}

func (c *acceptorCompiler) compile(s *jsonschema.Schema) *acceptor {
	if s == nil {
		return nil
	}
	if a := c.done[s]; a != nil {
		return a
	}
	if c.unknown = c.unknown || c.open[s]; c.unknown { // a recursive schema
		return nil
	}

	c.open[s] = true
	defer delete(c.open, s)

	// In draft 2020-12, keywords next to a $ref also apply.
	if s.Ref != nil {
		c.unknown = asserts(s, "Ref")
		return c.compile(s.Ref)
	}

	// All keywords that are listed here are compiled below. With any other keyword, the schema is
	// not supported.
	a := &acceptor{kinds: allKinds, minimum: math.Inf(-1)}
	defer func() { c.done[s] = a }()
	c.unknown = asserts(s, "Types", "Enum", "Const", "Pattern", "Format", "MinLength", "Minimum",
		"Properties", "Required", "AdditionalProperties", "Items2020", "AnyOf")

	c.values(a, s)
	c.texts(a, s)
	c.object(a, s)
	a.items = c.compile(s.Items2020)
	for _, branch := range s.AnyOf {
		a.any = append(a.any, c.compile(branch))
	}
	return a
}

// asserts reports whether a schema has an assertion other than those that are listed.
func asserts(s *jsonschema.Schema, known ...string) bool {
	silent := []string{"DraftVersion", "Location", "ID", "Anchor", "Title", "Description", "Default", "Comment"}
	v := reflect.ValueOf(*s)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.IsExported() && !v.Field(i).IsZero() && !slices.Contains(known, f.Name) && !slices.Contains(silent, f.Name) {
			return true
		}
	}
	return false
}

func (c *acceptorCompiler) values(a *acceptor, s *jsonschema.Schema) {
	if s.Types != nil {
		a.kinds = 0
		for _, name := range s.Types.ToStrings() {
			a.kinds |= kindsOf(name)
			a.integer = a.integer || name == "integer"
		}
		c.unknown = c.unknown || a.integer && slices.Contains(s.Types.ToStrings(), "number")
	}

	// Numbers are compared as doubles (RFC 8785 section 3.2.2.3), so the bound must be exactly
	// representable as a double.
	if s.Minimum != nil {
		least, exact := s.Minimum.Float64()
		a.minimum = least
		c.unknown = c.unknown || !exact
	}

	// In enum and const, only strings are supported.
	var words []any
	if s.Enum != nil {
		words = s.Enum.Values
	}
	if s.Const != nil {
		c.unknown = c.unknown || s.Enum != nil
		words = []any{*s.Const}
	}
	if s.Enum != nil || s.Const != nil {
		a.words = []string{} // no string is accepted
		a.kinds &= 1 << canon.KindString
	}

	for _, w := range words {
		text, ok := w.(string)
		c.unknown = c.unknown || !ok
		a.words = append(a.words, text)
	}
}

func kindsOf(typeName string) uint8 {
	switch typeName {
	case "null":
		return 1 << canon.KindNull
	case "boolean":
		return 1 << canon.KindBool
	case "number", "integer":
		return 1 << canon.KindNumber
	case "string":
		return 1 << canon.KindString
	case "array":
		return 1 << canon.KindArray
	case "object":
		return 1 << canon.KindObject
	}
	return 0
}

func (c *acceptorCompiler) texts(a *acceptor, s *jsonschema.Schema) {
	if s.MinLength != nil {
		a.nonEmpty = *s.MinLength == 1
		c.unknown = c.unknown || *s.MinLength > 1
	}
	switch {
	case s.Pattern != nil && s.Format != nil:
		c.unknown = true
	case s.Pattern != nil:
		a.text = patternText(s.Pattern.String())
	case s.Format != nil && s.Format.Name == "date-time":
		a.text = isUsualTime
	}
	c.unknown = c.unknown || (s.Pattern != nil || s.Format != nil) && a.text == nil
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

func (c *acceptorCompiler) object(a *acceptor, s *jsonschema.Schema) {
	a.closed = s.AdditionalProperties == false
	if open, ok := s.AdditionalProperties.(bool); s.AdditionalProperties != nil && (!ok || open == a.closed) {
		c.unknown = true
	}

	// Required members are checked even if properties does not contain them.
	for name := range s.Properties {
		a.names = append(a.names, name)
	}
	for _, name := range s.Required {
		if !slices.Contains(a.names, name) {
			a.names = append(a.names, name)
			c.unknown = c.unknown || a.closed
		}
	}

	// find requires sorted names, and required has one bit per name.
	slices.Sort(a.names)
	if c.unknown = c.unknown || len(a.names) > bits.UintSize; c.unknown {
		return
	}

	for i, name := range a.names {
		a.members = append(a.members, c.compile(s.Properties[name]))
		if slices.Contains(s.Required, name) {
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
// usually in canonical order, which is also the order of names.
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
