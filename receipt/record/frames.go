package record

import (
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record/internal/bridge"
)

// Frames consumes the JSON-RPC frames of a bridge, in all its dialects, or of ACP: a
// translator makes events of them, and a [Recorder] gets those. The events have decimal
// ids and sequences that count from 1. It is not safe for concurrent use.
type Frames struct {
	recorder   *Recorder
	translator *bridge.Translator
}

// FrameCounts say what became of the frames that were added without an error, and of the
// events that they became.
type FrameCounts struct {
	Counts
	Frames bridge.Counts
}

// NewFrames returns Frames. Options.TaskID is required, as no frame names a task.
// Options.Keep gets the events that the frames became.
func NewFrames(o Options) (*Frames, error) {
	if o.TaskID == "" {
		return nil, &OptionError{"TaskID", "is empty: no frame names the task"}
	}
	r, err := New(o)
	if err != nil {
		return nil, err
	}
	return newFrames(r), nil
}

func newFrames(r *Recorder) *Frames {
	o := bridge.Options{TaskID: r.options.TaskID, SessionID: r.options.SessionID, WorkspaceRef: r.options.WorkspaceRef, WorkspaceRoot: r.options.WorkspaceRoot}
	return &Frames{r, bridge.New(o, taker{r}, r.run.Budget)}
}

// A taker gives a recorder the events that frames became.
type taker struct{ *Recorder }

// Artifact reports whether an event told of an artifact.
func (t taker) Artifact(id string) bool {
	_, known := t.run.artifacts.ByID[id]
	return known
}

// Add consumes one frame, which passed at a time. The error is an *[Error], or
// what Options.Keep returned; it is final, like that of [Recorder.Add].
func (f *Frames) Add(at time.Time, from bridge.Sender, text []byte) error {
	return f.translator.Add(at, from, text)
}

// Event records what no frame tells, such as that the task began or what a model
// cost: an event of a kind, with its payload, a JSON object.
func (f *Frames) Event(at time.Time, kind string, payload []byte) error {
	return f.translator.Event(at, kind, payload)
}

// Ended reports whether the terminal event has come.
func (f *Frames) Ended() bool { return f.recorder.Ended() }

// Draft returns the draft of the receipt, as [Recorder.Draft] does.
func (f *Frames) Draft() (*receipt.Draft, error) {
	if err := f.translator.Err(); err != nil {
		return nil, err
	}
	return f.recorder.Draft()
}

// Counts returns what became of the frames so far.
func (f *Frames) Counts() FrameCounts {
	return FrameCounts{f.recorder.Counts(), f.translator.Counts()}
}
