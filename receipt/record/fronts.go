package record

import (
	"io"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/internal/bridge"
)

// A Form is the format of the lines in a log.
type Form string

const (
	FormUnknown Form = ""       // the first line determines the form
	FormEvents  Form = "events" // the protocol's events
	FormFrames  Form = "frames" // frames of a bridge or of ACP, see [Read]
)

// A Log is the result of reading a file.
type Log struct {
	Form   Form
	Lines  int // number of nonblank lines
	Counts Counts
	Draft  *receipt.Draft
}

// Read records a file with one JSON object per line; blank lines are ignored. In a log of events,
// each line is an event. In a log of frames, a line is one of
//
//	{"at": TIME, "from": "agent" or "client", "frame": {"jsonrpc": "2.0", …}}
//	{"jsonrpc": "2.0", …}                 passed at the time of the line before it
//	{"at": TIME, "event": KIND, "payload": {…}}   an event that no frame contains; replayed and replay as in an event
//
// where TIME is an RFC 3339 date-time and from is optional. Errors from the input are returned
// unchanged, and errors in a line are returned as a *[LineError]. If the draft cannot be created,
// Read returns the error from [Recorder.Draft].
func Read(in io.Reader, o Options, form Form) (*Log, error) {
	r := &reader{log: Log{Form: form}, options: o}
	if err := event.Each(in, r.line); err != nil {
		return nil, err
	}
	return r.finish()
}

// A reader records the lines of a file.
type reader struct {
	log      Log
	options  Options
	recorder *Recorder
	frames   *Frames
}

func (r *reader) line(_ int, doc *canon.Document, wrong *Error) error {
	r.log.Lines++
	if wrong != nil {
		return wrong
	}

	// The first line determines the form of all lines.
	if r.log.Form == FormUnknown {
		r.log.Form = FormEvents
		if bridge.IsLine(doc.Root()) {
			r.log.Form = FormFrames
		}
	}

	if err := r.begin(); err != nil {
		return err
	}
	if r.log.Form == FormFrames {
		return r.frames.translator.Line(r.log.Lines, doc.Root())
	}
	if bridge.IsLine(doc.Root()) {
		return &event.Error{Index: r.log.Lines, Code: event.CodeTwoFormats, Detail: "expected an event, found a line of a log of frames"}
	}

	return r.recorder.AddDocument(doc)
}

func (r *reader) begin() (err error) {
	switch {
	case r.recorder != nil || r.frames != nil:
	case r.log.Form == FormFrames:
		r.frames, err = NewFrames(r.options)
	default:
		r.recorder, err = New(r.options)
	}
	return err
}

// EachLine calls do for each nonblank line of a log. It passes the line number, counting from 1,
// and the document. If the line is not strict JSON, or exceeds the limits of a recording, the
// function do receives an error instead of the document. The document is valid until do returns.
func EachLine(in io.Reader, do func(line int, doc *canon.Document, wrong *Error) error) error {
	return event.Each(in, do)
}

// Tasks returns the distinct task IDs in the events of a log, in order of appearance. Lines that a
// recording would refuse are skipped.
func Tasks(in io.Reader) (ids []string, err error) {
	seen := map[string]bool{}
	err = event.Each(in, func(_ int, doc *canon.Document, wrong *Error) error {
		if wrong != nil {
			return nil
		}
		if id := doc.Root().Member("task_id").String(); id != "" && len(id) <= event.MaxText && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}

// finish returns the log with its draft.
func (r *reader) finish() (*Log, error) {
	var of interface {
		Counts() Counts
		Draft() (*receipt.Draft, error)
	} = r.recorder
	switch {
	case r.frames != nil:
		of = r.frames
	case r.recorder == nil:
		return nil, ErrEmpty
	}

	d, err := of.Draft()
	if err != nil {
		return nil, err
	}
	r.log.Counts, r.log.Draft = of.Counts(), d
	return &r.log, nil
}

// Frames records the JSON-RPC frames of a bridge, in all its dialects, or of ACP. It converts the
// frames to events for a [Recorder]. The IDs of the events are decimal numbers, and both IDs and
// sequences start at 1. Frames is not safe for concurrent use.
type Frames struct {
	recorder   *Recorder
	translator *bridge.Translator
}

// NewFrames returns Frames. Options.TaskID is required, because frames do not contain task IDs.
// Options.Keep receives the events.
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

// A taker passes the events of a Translator to a recorder.
type taker struct{ *Recorder }

// Artifact reports whether an event recorded an artifact.
func (t taker) Artifact(id string) bool {
	_, known := t.run.artifacts.ByID[id]
	return known
}

// Add records a frame and the time at which it was sent. The error is an *[Error], or the error
// that Options.Keep returned. It is permanent, like the error of [Recorder.Add].
func (f *Frames) Add(at time.Time, from bridge.Sender, text []byte) error {
	return f.translator.Add(at, from, text)
}

// Event records an event that is not in a frame, such as the start of the task or the cost of a
// model call. The payload is a JSON object.
func (f *Frames) Event(at time.Time, kind string, payload []byte) error {
	return f.translator.Event(at, kind, payload)
}

// Ended reports whether the terminal event has been recorded.
func (f *Frames) Ended() bool { return f.recorder.Ended() }

// Draft returns the draft of the receipt, like [Recorder.Draft].
func (f *Frames) Draft() (*receipt.Draft, error) {
	if err := f.translator.Err(); err != nil {
		return nil, err
	}
	return f.recorder.Draft()
}

// Counts returns the current counts of the frames and their events.
func (f *Frames) Counts() Counts {
	c := f.recorder.Counts()
	c.Frames = f.translator.Counts()
	return c
}
