package source

import (
	"bytes"

	"github.com/receiptkit/receiptkit/canon"
)

// A Sighting is what the first lines of a log tell of it.
type Sighting struct {
	Kind            Kind
	Session, Parent string // that the first line names which names one; "" is not told
}

// Sight says what a log is by its first bytes, as [Recognize] does, and of which session.
func Sight(head []byte) (s Sighting) {
	if s.Kind = Recognize(head); s.Kind == Unknown {
		return s
	}
	row, _ := rowOf(s.Kind)
	if row.glances == nil {
		return s
	}
	look, doc := row.glances(), new(canon.Document)
	for n := 0; n < maxHeadLines && len(head) > 0; n++ {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		head = rest
		if doc.Parse(bytes.TrimSpace(line), canon.Limits{Bytes: MaxLine}) != nil || doc.Root().Kind() != canon.KindObject {
			continue
		}
		if g := look(doc.Root()); g.Session != "" {
			s.Session, s.Parent = g.Session, g.Parent
			return s
		}
	}
	return s
}

// IsOf reports whether a kind is the one that a name means, or of the family.
func IsOf(k Kind, name string) bool {
	row, known := rowOf(k)
	return known && (string(k) == name || row.Family == name)
}
