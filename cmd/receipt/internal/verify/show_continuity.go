package verify

import (
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/headline"
)

// A continuity prints rows about the listed writes: whether a write of a file starts with
// the content that the previous write left.
type continuity struct{ *Shown }

func (s continuity) write() {
	if n := s.Root.Member("metadata").Member("write_continuity"); n.Kind() == canon.KindObject {
		s.pairs(n)
		s.outside(n.Member("changed_outside"))
	}
}

// pairs prints the number of successive writes of one file.
func (s continuity) pairs(n canon.Node) {
	text := plural(n.Member("pairs"), "pair") + " of successive writes: "
	for i, name := range []string{"held", "broken", "unchecked"} {
		if i > 0 {
			text += ", "
		}
		text += cli.Number(n.Member(name)) + " " + name
	}
	s.b.Row("continuity", text)
}

// plural formats a stated number with its noun.
func plural(n canon.Node, noun string) string {
	if n.Kind() == canon.KindNumber && n.Float() == 1 {
		return "1 " + noun
	}
	return cli.Number(n) + " " + noun + "s"
}

// outside lists the files that changed between two listed writes.
func (s continuity) outside(list canon.Node) {
	var paths []string
	for _, n := range list.Elements() {
		paths = append(paths, s.text(n, "path"))
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	if len(paths) == 0 {
		return
	}

	s.b.Row("outside", headline.Plural(len(paths), "file", "changed outside the listed writes"))
	for i, path := range paths {
		if i == cli.MostUntold {
			s.b.Row("", fmt.Sprintf("and %d more", len(paths)-i))
			return
		}
		s.b.Row("", path)
	}
}
