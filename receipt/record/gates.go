package record

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A gate is what all questions about one call came to.
type gate struct {
	approved, refused, open bool
	inputs                  []canon.Digest // that were approved
	blank                   bool           // something was approved of which nobody tells the input
	declared                []string
	notes                   map[string]string
	differ                  map[string]bool // notes of which two values were told
}

// gatesOf returns those of the calls that questions name.
func gatesOf(r *run) map[string]gate {
	all := map[string]gate{}
	for _, a := range r.approvals.Order {
		if a.call == "" {
			continue
		}
		g := all[a.call]

		// A question that ran out did not refuse; only a word does.
		switch decision, _, _ := a.decision(r); {
		case decision == event.Approved:
			g.approved = true
			input := a.input
			last(&input, a.args)
			if g.blank = g.blank || input.IsZero(); !input.IsZero() {
				g.inputs = append(g.inputs, input)
			}
		case a.open() || decision == event.TimedOut:
			g.open = true
		default:
			g.refused = true
		}

		// What the questions told of the call is kept, whatever was decided.
		g.declared = append(g.declared, a.declared...)
		if g.notes == nil {
			g.notes, g.differ = map[string]string{}, map[string]bool{}
		}

		for name, value := range a.notes {
			if have := g.notes[name]; a.differ[name] || have != "" && disagree(name, have, value) {
				g.differ[name] = true
			}
			g.notes[name] = value
		}
		all[a.call] = g
	}

	return all
}

// allows reports whether an input is one of those that were approved. What nobody
// tells is not denied.
func (g gate) allows(input canon.Digest) bool {
	return g.blank || len(g.inputs) == 0 || input.IsZero() || slices.Contains(g.inputs, input)
}
