package record

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// KindTime is the kind of a [Dependency] on the clock: the others are kinds of materials.
const KindTime = "time"

// A Dependency is something that answered the task: a replay has to answer the same. All
// but those on the clock are materials of the draft.
type Dependency struct {
	Key     string // the id of the material, or time: and the name of the time
	Kind    string // of the material, or KindTime
	EventID string // of the event that told the answer
	Index   int    // which event that was, of those that were added, from 1
	Pointer string // RFC 6901, to the answer in that event; "": the event does not have it
	SHA256  canon.Digest
	URI     string // where the answer is kept; "": nobody tells
}

// An answer is the place where a log tells what something answered.
type answer struct {
	event   string
	index   int
	pointer string // "": the answer itself is not there
}

// answerOf is the place of a value; a zero one is not there.
func answerOf(e *event.Event, value canon.Node) answer {
	a := answer{event: e.ID, index: e.Index}
	if !value.IsZero() {
		a.pointer = value.Pointer()
	}
	return a
}

// Dependencies returns what answered the task so far, in the order of the events that
// told the answers. Where a task is a replay, those on the clock are its own and not its source's.
func (r *Recorder) Dependencies() []Dependency {
	list := slices.Clone(r.run.life.clock)
	for _, x := range r.run.materials.order {
		m, returned := x.entry(r.run)
		if !returned {
			continue
		}

		told := x.told
		if x.call != nil {
			told = x.call.output.told
		}
		list = append(list, Dependency{m.ID, m.Kind, told.event, told.index, told.pointer, m.SHA256, m.URI})
	}

	slices.SortStableFunc(list, func(a, b Dependency) int { return a.Index - b.Index })
	return list
}

// TaskID is the task whose events are read, "" as long as none named it.
func (r *Recorder) TaskID() string { return r.log.TaskID() }

// Digest is the SHA-256 of the events of the task: the event_log of its draft.
func (r *Recorder) Digest() canon.Digest { return r.log.Digest() }

// IsReplay reports whether the task is the replay of another.
func (r *Recorder) IsReplay() bool { return r.run.replay.is }
