package record

import (
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// KindNames are the names of the kinds of the table.
func KindNames() (names []string) {
	for _, k := range eventKinds() {
		names = append(names, k.Event)
	}
	return names
}

// KindMembers are the members of the payload that are read, of each kind of the table.
func KindMembers() map[string][]string {
	all := map[string][]string{}
	for _, k := range eventKinds() {
		all[k.Event] = slices.Sorted(maps.Keys(forms()[k.Event]))
	}
	return all
}

// Unfit returns why the type of a member refuses an event, whatever reads the member.
func Unfit(line *canon.Document) error {
	root := line.Root()
	e := &event.Event{Root: root, Payload: root.Member("payload"), Kind: root.Member("event").String()}
	r := newRecorder(Options{}, kindsByName())
	if r.fit(e); e.Err != nil {
		return e.Err
	}
	return nil
}
