package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A subject is a receipt that is compared.
type subject struct {
	doc *canon.Document
	got receipt.Draft
}

// subjectOf decodes a receipt.
func subjectOf(doc *canon.Document) (*subject, error) {
	s := &subject{doc: doc}
	return s, json.Unmarshal(doc.AppendCanonical(nil), &s.got)
}

func (s *subject) hash() string {
	return s.doc.Root().Member("chain").Member("receipt_hash").String()
}

// withheld reports whether the receipt states that a value, or one that it is in, was
// withheld, and the value is gone.
func (s *subject) withheld(at string) bool {
	return slices.ContainsFunc(s.got.Redactions, func(r receipt.Redaction) bool { return within(at, r.Field) && s.gone(r.Field) })
}

// gone reports whether nothing but a placeholder is in a place.
func (s *subject) gone(at string) bool {
	n, found := s.find(at)
	return !found || n.Kind() == canon.KindString && placeholder(n.String())
}

func (s *subject) find(at string) (canon.Node, bool) {
	p, err := canon.ParsePointer(at)
	if err != nil || at == "" {
		return s.doc.Root(), true
	}
	return s.doc.Find(p)
}

// within reports whether a place is another one or in it.
func within(at, of string) bool {
	return at == of || of != "" && strings.HasPrefix(at, of+"/")
}

// placeholder reports whether something was withheld from a text. The placeholders are those
// of package redact and of session bundles.
func placeholder(text string) bool {
	for _, mark := range [...]string{"[redacted]", "[withheld]", "<redacted:", "%5Bredacted%5D"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}
