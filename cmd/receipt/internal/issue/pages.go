package issue

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/schemas"
)

//go:embed record.md.tmpl
var recordPage string

// RecordPage returns docs/record.md, which describes how log entries map to receipt members. The
// content is generated from the tables that package record uses.
func RecordPage() ([]byte, error) {
	page, err := template.New("record").Parse(recordPage)
	if err != nil {
		return nil, err
	}

	tables := record.Tables()
	for _, rows := range tables {
		for _, cells := range rows {
			for i, text := range cells {
				cells[i] = cli.Cell(text)
			}
		}
	}

	var b bytes.Buffer
	err = page.Execute(&b, tables)
	return b.Bytes(), err
}

//go:embed events.md.tmpl
var eventsIntro string

// EventsPage returns docs/events.md, which describes every member of every kind of event that is
// read. The content is generated from the event schema.
func EventsPage() []byte {
	text, _ := schemas.Source("event")
	doc, err := canon.Parse(text)
	if err != nil {
		return nil // tests compile the schema
	}

	var b bytes.Buffer
	p := eventsPage{&b, doc.Root(), record.Tables()["events"], map[string]string{}}
	b.WriteString(eventsIntro)
	p.members(p.schema)
	for _, k := range p.kinds {
		p.receipt[k[0]] = k[1]
	}

	fmt.Fprint(&b, "\n## Kinds\n\nA payload is an object. Each form lists its kinds, and their effect on the receipt.\n")
	for _, rule := range p.schema.Member("allOf").Elements() {
		p.form(rule)
	}
	p.evidence()

	fmt.Fprint(&b, "\n## Values\n")
	for name, def := range p.schema.Member("$defs").Members() {
		if p.nested(def) && !p.isPayload(name.String()) {
			fmt.Fprintf(&b, "\n### %s\n\n%s\n", name, cli.Cell(def.Member("description").String()))
			p.members(p.element(def))
		}
	}
	return b.Bytes()
}

// An eventsPage writes the page based on the schema.
type eventsPage struct {
	w       io.Writer
	schema  canon.Node
	kinds   [][]string        // kinds of events and their effect on the receipt
	receipt map[string]string // effect on the receipt, indexed by kind
}

// def returns the name of the definition to which a $ref refers and the definition itself.
func (p *eventsPage) def(n canon.Node) (name string, def canon.Node) {
	name = strings.TrimPrefix(n.Member("$ref").String(), "#/$defs/")
	return name, p.schema.Member("$defs").Member(name)
}

// kindsOf returns the event kinds to which a rule applies, or nil if the rule only adds a
// condition.
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

// form writes the section for one form of payload, which lists its event kinds and its members.
func (p *eventsPage) form(rule canon.Node) {
	kinds := p.kindsOf(rule)
	if kinds == nil {
		return
	}

	_, form := p.def(rule.Member("then").Member("properties").Member("payload"))
	fmt.Fprintf(p.w, "\n### %s\n\n| event | in the receipt |\n|---|---|\n", strings.TrimSuffix(form.Member("description").String(), "."))
	for _, kind := range kinds {
		fmt.Fprintf(p.w, "| `%s` | %s |\n", kind, cli.Cell(p.receipt[kind]))
	}
	p.members(form)
}

// evidence lists the event kinds whose payload is not read.
func (p *eventsPage) evidence() {
	var list []string
	for _, k := range p.kinds {
		if k[1] == "" {
			list = append(list, k[0])
		}
	}
	fmt.Fprintf(p.w, "\n### Evidence only\n\nOnly the envelope of these events is read, and the digest of the log covers them: %s. Issuing creates `receipt.*` events, so no log that a receipt names contains them.\n",
		"`"+strings.Join(list, "`, `")+"`")
}

// isPayload reports whether the named definition is a form of payload.
func (p *eventsPage) isPayload(name string) bool {
	for _, rule := range p.schema.Member("allOf").Elements() {
		if of, _ := p.def(rule.Member("then").Member("properties").Member("payload")); of == name && p.kindsOf(rule) != nil {
			return true
		}
	}
	return false
}

// element returns the node that contains the members of a definition. If the definition is a list,
// this is the node for its elements; otherwise, it is the definition itself.
func (p *eventsPage) element(def canon.Node) canon.Node {
	if items := def.Member("items"); !items.IsZero() {
		return items
	}
	return def
}

// nested reports whether a definition has members to list. A definition that is only a condition
// has no such members.
func (p *eventsPage) nested(def canon.Node) bool {
	return !p.element(def).Member("properties").IsZero() && def.Member("if").IsZero()
}

func (p *eventsPage) members(of canon.Node) {
	fmt.Fprint(p.w, "\n| member | | type | contents |\n|---|---|---|---|\n")
	for name, member := range of.Member("properties").Members() {
		required := ""
		for _, r := range of.Member("required").Elements() {
			if r.String() == name.String() {
				required = "required"
			}
		}
		fmt.Fprintf(p.w, "| `%s` | %s | %s | %s |\n", name, required, p.is(member), cli.Cell(member.Member("description").String()))
	}
}

// is returns a phrase for the type of a value.
func (p *eventsPage) is(n canon.Node) string {
	name, def := p.def(n)
	if words := map[string]string{
		"text": "text", "name": "text", "texts": "texts", "flag": "true or false", "count": "integer", "time": "time", "digest": "SHA-256", "decimal": "number or text", "tier": "a tier",
	}[name]; words != "" {
		return words
	}
	if p.nested(def) {
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	}

	// Otherwise, the definition specifies the type inline.
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

// typeWord returns the first of several types. The other type is always null.
func typeWord(types canon.Node) string {
	for _, t := range types.Elements() {
		return strings.Replace(t.String(), "string", "text", 1)
	}
	return ""
}
