package record

import (
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// KindNames returns the names of all kinds in the table.
func KindNames() (names []string) {
	for _, k := range eventKinds() {
		names = append(names, k.Event)
	}
	return names
}

// KindMembers returns, for each kind in the table, the payload members that are read.
func KindMembers() map[string][]string {
	all := map[string][]string{}
	for _, k := range eventKinds() {
		all[k.Event] = slices.Sorted(maps.Keys(forms()[k.Event]))
	}
	return all
}

// Unfit checks an event against only the types of its members, and returns the error.
func Unfit(line *canon.Document) error {
	root := line.Root()
	e := &event.Event{Root: root, Payload: root.Member("payload"), Kind: root.Member("event").String()}
	r := newRecorder(Options{}, kindsByName())
	if r.fit(e); e.Err != nil {
		return e.Err
	}
	return nil
}
