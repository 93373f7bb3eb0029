package bridge

import (
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// unread contains the frames that no rule translates and that are not known to be harmless. Each of
// these frames may be an action. One event records them before the task ends.
type unread struct {
	counts   map[string]int64 // by type
	sum      canon.Digest     // digest of the frames' contents, in order
	mentions mentions         // calls that are named in frames without an event
}

// otherTypes is the name under which all further types are counted.
const otherTypes = "other"

// note counts a frame that was not read.
func (u *unread) note(f *Translator, fr *frame, kind string, said canon.Node) {
	if u.counts == nil {
		u.counts = map[string]int64{}
	}

	kind = event.Shorten(kind)
	if _, known := u.counts[kind]; !known {
		if len(u.counts) >= event.MaxPaths {
			kind = otherTypes
		}
		f.budget.Charge(&fr.Event, fr.Root, len(kind)+event.PartCost)
	}

	u.counts[kind]++
	u.sum = canon.Sum(append(u.sum[:], said.AppendCanonical(nil)...))
}

// tell records the counts so far.
func (u *unread) tell(f *Translator, fr *frame) {
	if len(u.counts) == 0 {
		return
	}
	ignored := members{}
	for kind, n := range u.counts {
		ignored[kind] = n
	}
	p := members{"ignored_records": ignored, "content_sha256": u.sum.String()}
	u.counts, u.sum = nil, canon.Digest{}
	f.emit(fr, "source.unread", p)
}

// mentions contains the calls that are named in frames without an event.
type mentions struct {
	kinds map[string]string // type of the first frame that names each call
}

// callIDs returns the members that contain the ID of a call. callLists returns the members that
// contain several IDs, or objects with IDs.
func callIDs() []string { return []string{"toolCallId", "tool_call_id", "callId", "call_id"} }

func callLists() []string {
	return []string{"toolCallIds", "tool_call_ids", "callIds", "call_ids", "toolCalls", "tool_calls", "calls"}
}

// add records the calls that are named in a frame without an event.
func (m *mentions) add(f *Translator, fr *frame) {
	n := fr.about()
	if id := Own(n, callIDs()...); !id.IsZero() {
		m.name(f, fr, id)
	}
	for _, name := range callLists() {
		list := Own(n, name)
		for _, e := range list.Elements() {
			m.name(f, fr, e)
		}
		if !list.IsZero() && list.Kind() != canon.KindArray && list.Kind() != canon.KindNumber {
			f.unread.note(f, fr, fr.Kind+" "+name, list)
		}
	}
}

// name records one call, given by its ID or by an object that contains the ID.
func (m *mentions) name(f *Translator, fr *frame, n canon.Node) {
	if n.Kind() == canon.KindObject {
		n = Own(n, append(callIDs(), "id")...)
	}
	if n.Kind() != canon.KindString || len(n.Text()) == 0 || len(n.Text()) > event.MaxText {
		f.unread.note(f, fr, fr.Kind+" call without an ID", fr.Root)
		return
	}

	id := string(n.Text())
	if _, again := m.kinds[id]; again {
		return
	}
	if m.kinds == nil {
		m.kinds = map[string]string{}
	}
	m.kinds[id] = fr.Kind
	f.budget.Charge(&fr.Event, fr.params, len(id)+event.TextCost)
}

// unstated records the approved or mentioned calls for which there is no frame, because any of
// these calls may have been executed.
func (m *mentions) unstated(f *Translator, fr *frame) {
	for _, c := range f.calls.order {
		if c.approved && !c.told {
			f.unread.note(f, fr, "approved call without an update", fr.Root)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.kinds)) {
		if f.calls.byID[id] == nil {
			f.unread.note(f, fr, m.kinds[id]+" of a call without an update", fr.Root)
		}
	}
}
