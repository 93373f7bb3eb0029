package bridge

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Unread are the frames that no rule reads and that are not known to be harmless. Each may
// state an action. They are recorded together, before the end of the task.
type unread struct {
	counts   map[string]int64 // by type
	sum      canon.Digest     // of what they said, in their order
	mentions mentions         // calls that frames without an event name
}

// otherTypes stands for the types of frames that are not counted apart.
const otherTypes = "other"

// note counts what is not read.
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

// tell records what was counted so far.
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
