package record

import (
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// KindNames returns the names of the kinds in the table.
func KindNames() (names []string) {
	for _, k := range eventKinds() {
		names = append(names, k.Event)
	}
	return names
}

// KindMembers returns the members of the payload that are read, for each kind in the table.
func KindMembers() map[string][]string {
	all := map[string][]string{}
	for _, k := range eventKinds() {
		all[k.Event] = slices.Sorted(maps.Keys(forms()[k.Event]))
	}
	return all
}

// Unfit returns the error that the types of the members alone produce for an event.
func Unfit(line *canon.Document) error {
	root := line.Root()
	e := &event.Event{Root: root, Payload: root.Member("payload"), Kind: root.Member("event").String()}
	r := newRecorder(Options{}, kindsByName())
	if r.fit(e); e.Err != nil {
		return e.Err
	}
	return nil
}
