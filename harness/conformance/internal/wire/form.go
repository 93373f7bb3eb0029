package wire

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A component is the named schema of an object.
type component struct {
	name    string
	members []member
}

// A member describes a member of a component, which may be optional.
type member struct {
	name            string
	optional, fixed bool
	types           []string
}

// forms returns the components, indexed by name.
var forms = sync.OnceValue(func() map[string]*component { return parseComponents(components()) })

// parseComponents parses the notation that the comment on components describes.
func parseComponents(text string) map[string]*component {
	all := map[string]*component{}
	for line := range strings.Lines(strings.TrimPrefix(text, "\n")) {
		title, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		name, base, inherits := strings.Cut(title, " < ")
		c := &component{name: name}
		if all[name] = c; inherits {
			c.members = slices.Clone(all[base].members)
		}
		for m := range strings.SplitSeq(list, "; ") {
			types := typesOf(m)
			c.add(types[0], types[1:])
		}
	}
	return all
}

// add adds a member, replacing an inherited member of the same name.
func (c *component) add(name string, types []string) {
	m := member{types: types}
	name, m.fixed = strings.CutSuffix(name, "!")
	m.name, m.optional = strings.CutSuffix(name, "?")
	for i := range c.members {
		if c.members[i].name == m.name {
			c.members[i] = m
			return
		}
	}
	c.members = append(c.members, m)
}

// typesOf splits a line at spaces outside brackets.
func typesOf(line string) (list []string) {
	open := 0
	for field := range strings.FieldsSeq(line) {
		if open > 0 {
			list[len(list)-1] += " " + field
		} else {
			list = append(list, field)
		}
		open += strings.Count(field, "[") - strings.Count(field, "]")
	}
	return list
}

// isResource reports whether a component has the members of the resource envelope.
func (c *component) isResource() bool {
	return len(c.members) > 0 && c.members[0].name == "id" && c.members[0].fixed
}

// object returns the discriminator of a resource.
func (c *component) object() string { return c.members[1].types[0] }

// A Fault describes the first value that does not match its component.
type Fault struct {
	Component string // the resource that contains the value, or the component of the body if there is none
	Text      string // describes the expected and the actual value
	mismatch  bool   // the value has the wrong type, so another alternative may match better
	node      canon.Node
}

// At returns the JSON Pointer to the value.
func (f *Fault) At() string {
	if f.node.IsZero() {
		return ""
	}
	return f.node.Pointer()
}

// CheckForm checks a value against a component. It calls seen for each resource in the value that
// matches its component.
func CheckForm(name string, n canon.Node, seen func(component string, resource canon.Node)) *Fault {
	c := checker{seen: seen}
	return c.component(forms()[name], n, name)
}

// CheckList checks that a value is a list whose elements match a component.
func CheckList(name string, n canon.Node, seen func(component string, resource canon.Node)) *Fault {
	if fault := CheckForm("List", n, nil); fault != nil {
		return fault
	}
	c := checker{seen: seen}
	return c.value([]string{"[" + name + "]"}, n.Member("data"), "List")
}

// A checker checks one body against its component. No component contains itself, so the depth is
// bounded.
type checker struct {
	seen func(string, canon.Node)
}

func fault(of string, n canon.Node, format string, args ...any) *Fault {
	return &Fault{Component: of, Text: fmt.Sprintf(format, args...), node: n}
}

// mismatch returns the fault for a value that has the wrong type.
func mismatch(of string, n canon.Node, want string) *Fault {
	f := fault(of, n, "expected %s, found %s", strings.TrimPrefix(want, "="), found(n))
	f.mismatch = true
	return f
}

func (c *checker) component(form *component, n canon.Node, of string) *Fault {
	if n.Kind() != canon.KindObject {
		return mismatch(of, n, "an object")
	}
	if form.isResource() && is(form.object(), n.Member("object")) {
		of = form.name
	}
	for _, m := range form.members {
		value := n.Member(m.name)
		if value.IsZero() {
			if m.optional {
				continue
			}
			return fault(of, n, "expected the member %s, found none", m.name)
		}
		if f := c.value(m.types, value, of); f != nil {
			return f
		}
	}
	if !form.isResource() {
		return nil
	}
	if c.seen != nil {
		c.seen(form.name, n)
	}
	return disorder(n, of)
}

// disorder returns a fault if a resource was updated before it was created, or ended before it
// started. Servers may round some times to seconds and others to milliseconds.
func disorder(n canon.Node, of string) *Fault {
	for _, pair := range [][2]string{{"created_at", "updated_at"}, {"started_at", "completed_at"}, {"started_at", "canceled_at"}} {
		first, err1 := receipt.ParseTime(n.Member(pair[0]).String())
		second, err2 := receipt.ParseTime(n.Member(pair[1]).String())
		if err1 == nil && err2 == nil && second.Unix() < first.Unix() {
			return fault(of, n, "expected %s not before %s, found %s", pair[1], pair[0], Quote(n.Member(pair[1]).String()))
		}
	}
	return nil
}

// value checks a value against several alternatives. It returns the fault for the closest
// alternative.
func (c *checker) value(types []string, n canon.Node, of string) (nearest *Fault) {
	for _, t := range types {
		f := c.typed(t, n, of)
		if f == nil {
			return nil
		}
		if nearest == nil || nearest.mismatch && !f.mismatch {
			nearest = f
		}
	}
	if nearest.mismatch && len(types) > 1 {
		nearest.Text = fmt.Sprintf("expected %s, found %s", strings.ReplaceAll(strings.Join(types, " or "), "=", ""), found(n))
	}
	return nearest
}

// found describes an unexpected value in an error.
func found(n canon.Node) string {
	if n.Kind() == canon.KindString {
		return Quote(n.String())
	}
	return KindName(n.Kind())
}

func (c *checker) typed(t string, n canon.Node, of string) *Fault {
	switch t[0] {
	case '[':
		return c.array(typesOf(t[1:len(t)-1]), n, of)
	case '{':
		return c.object(t[1:len(t)-1], n, of)
	}
	if form := forms()[t]; form != nil {
		return c.alternative(form, n, of)
	}
	if is(t, n) {
		return nil
	}
	return mismatch(of, n, t)
}

// alternative is like component, but reports a mismatch if the member "type" has another value.
func (c *checker) alternative(form *component, n canon.Node, of string) *Fault {
	if first := form.members[0]; first.name == "type" && !is(first.types[0], n.Member("type")) {
		return mismatch(of, n, "a part of the type "+first.types[0][1:])
	}
	return c.component(form, n, of)
}

func (c *checker) array(types []string, n canon.Node, of string) *Fault {
	if n.Kind() != canon.KindArray {
		return mismatch(of, n, "an array")
	}
	for _, element := range n.Elements() {
		if f := c.value(types, element, of); f != nil {
			return f
		}
	}
	return nil
}

func (c *checker) object(t string, n canon.Node, of string) *Fault {
	if n.Kind() != canon.KindObject {
		return mismatch(of, n, "an object")
	}
	for _, value := range n.Members() {
		if f := c.value([]string{t}, value, of); f != nil {
			return f
		}
	}
	return nil
}

// is reports whether a value has the given kind or is the given literal.
func is(t string, n canon.Node) bool {
	if literal, ok := strings.CutPrefix(t, "="); ok {
		return n.Kind() == canon.KindString && n.String() == literal
	}
	switch t {
	case "any":
		return !n.IsZero()
	case "null":
		return n.Kind() == canon.KindNull
	case "bool":
		return n.Kind() == canon.KindBool
	case "number":
		return n.Kind() == canon.KindNumber
	case "object":
		return n.Kind() == canon.KindObject
	case "word":
		return len(n.Text()) > 0
	case "text":
		return n.Kind() == canon.KindString
	case "time":
		return n.Kind() == canon.KindString && IsTime(n.String())
	case "digest":
		_, err := canon.ParseDigest("sha256:" + strings.ToLower(n.String()))
		return err == nil
	case "count":
		return isCount(n)
	}
	return false
}

// IsTime reports whether a string is an RFC 3339 time in UTC.
func IsTime(text string) bool {
	_, err := receipt.ParseTime(text)
	return err == nil && (strings.ContainsAny(text[len(text)-1:], "Zz") || strings.HasSuffix(text, "+00:00") || strings.HasSuffix(text, "-00:00"))
}
