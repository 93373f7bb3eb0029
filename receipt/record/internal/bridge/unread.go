package bridge

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Unread contains the frames that no rule reads and that are not known to be harmless. Each may be
// an action. They are recorded in one event before the end of the task.
type unread struct {
	counts   map[string]int64 // by type
	sum      canon.Digest     // digest of their contents, in order
	mentions mentions         // calls named by frames without an event
}

// otherTypes is the type under which the remaining types are counted.
const otherTypes = "other"

// note counts an unread frame.
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
