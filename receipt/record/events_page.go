package record

import (
	"fmt"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/schemas"
)

// pageEvents has ~ where the page has `.
const pageEvents = `# The events of a task

A log of events is a JSON object a line (UTF-8, strict I-JSON), in the order in which
things happened. [events.jsonl](events.jsonl) is one, of a night's work: three answers of a
model, a file read, a download, a question that somebody answered, two files written, a
pull request. This checks each line of it, and makes a draft of it:

~~~sh
receipt schema event --check docs/events.jsonl
receipt record docs/events.jsonl --issuer my_harness
~~~

The JSON Schema that the first reads (~receipt schema event~) says the same as this page:
both are kept true to the recorder by tests. Only the members marked as required have to be
there; null is the same as no member. A member that is here and holds something else is
refused in every event, also where nothing would read it. Kinds and members that are not here are ignored, and
counted: the digest of the log covers them. What becomes of all this in a receipt is in
[record.md](record.md).

A line alone does not show its place. ~receipt record~ also refuses an event out of order, a
number of the task's sequence that is left out, one id with two contents, a state that the
task cannot go to, costs in two currencies, and what is beyond the
[limits](record.md#limits), which count bytes where the schema counts characters.

## The envelope

What every event has, whatever its kind.
`

// WriteEventsPage writes docs/events.md: every member of every kind of event that is
// read, from the schema of events.
func WriteEventsPage(w io.Writer) {
	text, _ := schemas.Source("event")
	doc, err := canon.Parse(text)
	if err != nil {
		return // tests compile it
	}

	p := eventsPage{w, doc.Root(), map[string]string{}}
	fmt.Fprint(w, strings.ReplaceAll(pageEvents, "~", "`"))
	p.members(p.schema)
	for _, k := range eventKinds() {
		p.receipt[k.Event] = k.Receipt
	}

	fmt.Fprint(w, "\n## Kinds\n\nA payload is an object. Under each form are the kinds that have it, and what they become in the receipt.\n")
	for _, rule := range p.schema.Member("allOf").Elements() {
		p.kinds(rule)
	}
	p.evidence()

	fmt.Fprint(w, "\n## Values\n")
	for name, def := range p.schema.Member("$defs").Members() {
		if p.nested(def) && !p.isPayload(name.String()) {
			fmt.Fprintf(w, "\n### %s\n\n%s\n", name, cell(def.Member("description").String()))
			p.members(p.element(def))
		}
	}
}

// An eventsPage is written from the schema.
type eventsPage struct {
	w       io.Writer
	schema  canon.Node
	receipt map[string]string // what becomes of a kind
}

// def is what a $ref refers to.
func (p *eventsPage) def(n canon.Node) (name string, def canon.Node) {
	name = strings.TrimPrefix(n.Member("$ref").String(), "#/$defs/")
	return name, p.schema.Member("$defs").Member(name)
}

// kindsOf are the kinds that a rule is for; none of a rule that only adds a condition.
func (p *eventsPage) kindsOf(rule canon.Node) (kinds []string) {
	if !rule.Member("$comment").IsZero() {
		return nil
	}
	of := rule.Member("if").Member("properties").Member("event")
	for _, kind := range of.Member("enum").Elements() {
		kinds = append(kinds, kind.String())
	}
	if one := of.Member("const"); !one.IsZero() {
		kinds = append(kinds, one.String())
	}
	return kinds
}

func (p *eventsPage) kinds(rule canon.Node) {
	kinds := p.kindsOf(rule)
	if kinds == nil {
		return
	}

	_, form := p.def(rule.Member("then").Member("properties").Member("payload"))
	fmt.Fprintf(p.w, "\n### %s\n\n| event | in the receipt |\n|---|---|\n", strings.TrimSuffix(form.Member("description").String(), "."))
	for _, kind := range kinds {
		fmt.Fprintf(p.w, "| `%s` | %s |\n", kind, cell(p.receipt[kind]))
	}
	p.members(form)
}

// evidence lists the kinds of which nothing is read.
func (p *eventsPage) evidence() {
	var list []string
	for _, k := range eventKinds() {
		if k.Payload == nil {
			list = append(list, k.Event)
		}
	}
	fmt.Fprintf(p.w, "\n### Evidence alone\n\nOf these nothing is read but the envelope; the digest of the log covers them: %s. `receipt.*` is made by issuing, and in no log that a receipt names.\n",
		"`"+strings.Join(list, "`, `")+"`")
}

// isPayload reports whether a definition is the form of payloads.
func (p *eventsPage) isPayload(name string) bool {
	for _, rule := range p.schema.Member("allOf").Elements() {
		if of, _ := p.def(rule.Member("then").Member("properties").Member("payload")); of == name && p.kindsOf(rule) != nil {
			return true
		}
	}
	return false
}

// element is what has the members of a definition: itself, or an element of its list.
func (p *eventsPage) element(def canon.Node) canon.Node {
	if items := def.Member("items"); !items.IsZero() {
		return items
	}
	return def
}

// nested reports whether a definition has members to tell, and is not only a condition.
func (p *eventsPage) nested(def canon.Node) bool {
	return !p.element(def).Member("properties").IsZero() && def.Member("if").IsZero()
}

func (p *eventsPage) members(of canon.Node) {
	fmt.Fprint(p.w, "\n| member | | is | holds |\n|---|---|---|---|\n")
	for name, member := range of.Member("properties").Members() {
		required := ""
		for _, r := range of.Member("required").Elements() {
			if r.String() == name.String() {
				required = "required"
			}
		}
		fmt.Fprintf(p.w, "| `%s` | %s | %s | %s |\n", name, required, p.is(member), cell(member.Member("description").String()))
	}
}

// is says what a value may be.
func (p *eventsPage) is(n canon.Node) string {
	name, def := p.def(n)
	switch name {
	case "text", "name":
		return "text"
	case "texts":
		return "texts"
	case "flag":
		return "true or false"
	case "count":
		return "integer"
	case "time":
		return "time"
	case "digest":
		return "SHA-256"
	case "decimal":
		return "number or text"
	case "tier":
		return "a tier"
	}
	if p.nested(def) {
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	}

	// What is said in place.
	switch {
	case !n.Member("enum").IsZero():
		return "text"
	case n.Member("type").Kind() == canon.KindArray:
		return typeWord(n.Member("type"))
	case n.Member("type").IsZero():
		return "anything"
	}
	if word := n.Member("type").String(); n.Member("format").IsZero() {
		return strings.Replace(word, "string", "text", 1)
	}
	return "time"
}

// typeWord is the first of several types: null is always one.
func typeWord(types canon.Node) string {
	for _, t := range types.Elements() {
		return strings.Replace(t.String(), "string", "text", 1)
	}
	return ""
}
