package bridge

import (
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// callIDs are the members that contain the ID of a call, and callLists are the members that
// contain several IDs, or objects with IDs.
func callIDs() []string { return []string{"toolCallId", "tool_call_id", "callId", "call_id"} }

func callLists() []string {
	return []string{"toolCallIds", "tool_call_ids", "callIds", "call_ids", "toolCalls", "tool_calls", "calls"}
}

// mention notes the calls that a frame without an event names.
func (s *calls) mention(f *Translator, fr *frame) {
	n := fr.about()
	if id := Own(n, callIDs()...); !id.IsZero() {
		s.name(f, fr, id)
	}
	for _, name := range callLists() {
		list := Own(n, name)
		for _, e := range list.Elements() {
			s.name(f, fr, e)
		}
		if !list.IsZero() && list.Kind() != canon.KindArray && list.Kind() != canon.KindNumber {
			f.unread.note(f, fr, fr.Kind+" "+name, list)
		}
	}
}

// name notes one call, given by its ID or by an object that contains the ID.
func (s *calls) name(f *Translator, fr *frame, n canon.Node) {
	if n.Kind() == canon.KindObject {
		n = Own(n, append(callIDs(), "id")...)
	}
	if n.Kind() != canon.KindString || len(n.Text()) == 0 || len(n.Text()) > event.MaxText {
		f.unread.note(f, fr, fr.Kind+" call without an ID", fr.Root)
		return
	}

	id := string(n.Text())
	if _, again := s.mentioned[id]; again {
		return
	}
	if s.mentioned == nil {
		s.mentioned = map[string]string{}
	}
	s.mentioned[id] = fr.Kind
	s.budget.Charge(&fr.Event, fr.params, len(id)+event.TextCost)
}

// unstated notes the calls that were approved, or that a frame mentions, and that no frame
// states: each may have been made.
func (s *calls) unstated(f *Translator, fr *frame) {
	for _, c := range s.order {
		if c.approved && !c.told {
			f.unread.note(f, fr, "approved call without an update", fr.Root)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.mentioned)) {
		if c := s.byID[id]; c == nil {
			f.unread.note(f, fr, s.mentioned[id]+" of a call without an update", fr.Root)
		}
	}
}
