package issue

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/schemas"
)

//go:embed record.md.tmpl
var recordPage string

// RecordPage returns docs/record.md: what becomes what, from the tables that a recording follows.
func RecordPage() ([]byte, error) {
	page, err := template.New("record").Parse(recordPage)
	if err != nil {
		return nil, err
	}

	tables := record.Tables()
	for _, rows := range tables {
		for _, cells := range rows {
			for i, text := range cells {
				cells[i] = cell(text)
			}
		}
	}

	var b bytes.Buffer
	err = page.Execute(&b, tables)
	return b.Bytes(), err
}

// cell returns a text as a cell of a table has it.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

//go:embed events.md.tmpl
var eventsIntro string

// EventsPage returns docs/events.md: every member of every kind of event that is read, from the
// schema of events.
func EventsPage() []byte {
	text, _ := schemas.Source("event")
	doc, err := canon.Parse(text)
	if err != nil {
		return nil // tests compile it
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
			fmt.Fprintf(&b, "\n### %s\n\n%s\n", name, cell(def.Member("description").String()))
			p.members(p.element(def))
		}
	}
	return b.Bytes()
}

// An eventsPage is written from the schema.
type eventsPage struct {
	w       io.Writer
	schema  canon.Node
	kinds   [][]string        // of events, and what becomes of them
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

// form writes the kinds that have a form of payloads, and its members.
func (p *eventsPage) form(rule canon.Node) {
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
	for _, k := range p.kinds {
		if k[1] == "" {
			list = append(list, k[0])
		}
	}
	fmt.Fprintf(p.w, "\n### Evidence only\n\nOnly the envelope of these events is read, and the digest of the log covers them: %s. Issuing creates `receipt.*` events, so no log that a receipt names contains them.\n",
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
	fmt.Fprint(p.w, "\n| member | | type | contents |\n|---|---|---|---|\n")
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
