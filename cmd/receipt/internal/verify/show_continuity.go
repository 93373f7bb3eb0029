package verify

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// continuity prints whether successive writes of one file start with the content that the previous
// write left.
func (s *Shown) continuity(n canon.Node) {
	if n.Kind() != canon.KindObject {
		return
	}
	number := func(name string) string { return cli.Number(n.Member(name)) + " " + name }
	s.b.Row("continuity", "of "+number("pairs")+" of successive writes: "+number("held")+", "+number("broken")+", "+number("unchecked"))
}
