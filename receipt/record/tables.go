package record

import (
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/internal/bridge"
	"github.com/receiptkit/receiptkit/receipt/record/turn"
)

// Tables returns the tables that a recording follows, by their names, as rows of cells. The
// documentation of the command shows them.
func Tables() map[string][][]string {
	words := func(w event.Word) []string { return []string{w.Word, w.Means} }
	tables := bridge.Tables()
	for name, rows := range map[string][][]string{
		"events":         event.Rows(eventKinds(), func(k eventKind) []string { return []string{k.Event, k.Receipt} }),
		"transitions":    event.Rows(transitions(), func(t transition) []string { return []string{t.From, strings.Join(t.To, ", ")} }),
		"endings":        event.Rows(endings(), func(e ending) []string { return []string{e.Task, e.Receipt} }),
		"contradictions": event.Rows(contradictionWords(), func(c contradictionWord) []string { return []string{c.What, c.Means} }),
		"decisions":      event.Rows(event.Decisions(), words),
		"results":        event.Rows(toolStatuses(), words),
		"handoffs":       event.Rows(event.HandoffStatuses(), words),
		"limits":         event.Rows(event.Limits(), func(l event.Limit) []string { return []string{strconv.FormatInt(l.Most, 10), l.Name, l.Of} }),
		"categories":     event.Rows(turn.Categories(), func(c turn.Category) []string { return []string{c.Name, string(c.Bucket)} }),
	} {
		tables[name] = rows
	}
	return tables
}
