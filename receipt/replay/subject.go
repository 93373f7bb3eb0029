package replay

import (
	"encoding/json"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A subject is a receipt that is compared.
type subject struct {
	doc  *canon.Document
	got  receipt.Draft
	keys map[string]bool // of its deltas
	gone map[string]bool // for each redacted field, whether its value is absent or a placeholder
}

// subjectOf decodes a receipt for comparison.
func subjectOf(doc *canon.Document) (*subject, error) {
	s := &subject{doc: doc, keys: map[string]bool{}, gone: map[string]bool{}}
	if err := json.Unmarshal(doc.AppendCanonical(nil), &s.got); err != nil {
		return nil, err
	}
	for _, d := range s.got.Deltas {
		s.keys[d.OverrideKey] = true
	}

	above := map[string]bool{} // the ancestors of the redacted fields

	// An invalid pointer, or a pointer to the entire receipt, does not identify a value that could
	// be absent.
	for _, r := range s.got.Redactions {
		if _, err := canon.ParsePointer(r.Field); err != nil || r.Field == "" {
			continue
		}
		s.gone[r.Field] = true
		for at := r.Field; at != "" && !above[at[:strings.LastIndexByte(at, '/')]]; {
			at = at[:strings.LastIndexByte(at, '/')]
			above[at] = true
		}
	}
	s.look("", doc.Root(), above)
	return s, nil
}

// look finds redacted fields whose values are still present.
func (s *subject) look(at string, n canon.Node, above map[string]bool) {
	if s.gone[at] {
		s.gone[at] = n.Kind() == canon.KindString && placeholder(n.String())
	}

	// No redacted field is below this location.
	if !above[at] {
		return
	}

	for name, value := range n.Members() {
		s.look(string(canon.AppendToken([]byte(at), name.String())), value, above)
	}
	for i, value := range n.Elements() {
		s.look(indexed(at, i), value, above)
	}
}

func (s *subject) hash() string {
	return s.doc.Root().Member("chain").Member("receipt_hash").String()
}

// withheld reports whether the receipt lists a redaction at or above a location, and whether the
// redacted value is absent or a placeholder.
func (s *subject) withheld(at string) bool {
	for ; at != ""; at = at[:strings.LastIndexByte(at, '/')] {
		if s.gone[at] {
			return true
		}
	}
	return false
}

// within reports whether a location is equal to another location or below it.
func within(at, of string) bool {
	return at == of || of != "" && strings.HasPrefix(at, of+"/")
}

// placeholder reports whether a string contains a placeholder of package redact or package bundle.
func placeholder(text string) bool {
	for _, mark := range [...]string{"[redacted]", "[withheld]", "<redacted:", "%5Bredacted%5D"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}
