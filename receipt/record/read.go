package record

import (
	"io"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/internal/bridge"
)

// A Form is what the lines of a file are.
type Form int

const (
	FormUnknown Form = iota // the first line tells
	FormEvents              // the protocol's events
	FormFrames              // frames of a bridge or of ACP, see [Read]
)

// String returns the name of the form.
func (f Form) String() string {
	switch f {
	case FormEvents:
		return "events"
	case FormFrames:
		return "frames"
	}
	return "unknown"
}

// A Log is what was read from a file.
type Log struct {
	Form   Form
	Lines  int // that are not blank
	Counts FrameCounts
	Draft  *receipt.Draft
}

// Read records a file, a JSON object a line, blank lines aside. In a log of events
// each line is an event. In a log of frames a line is one of
//
//	{"at": TIME, "from": "agent" or "client", "frame": {"jsonrpc": "2.0", …}}
//	{"jsonrpc": "2.0", …}                 passed when the line before it did
//	{"at": TIME, "event": KIND, "payload": {…}}   what no frame tells; replayed and replay as in an event
//
// where TIME is an RFC 3339 date-time and from may be left out. Errors of the
// input itself are returned as they are, errors of a line as a *[LineError], and
// those of the draft as [Recorder.Draft] returns them.
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

	// The first line decides what all are.
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

// EachLine calls do with each line of a log that is not blank: its number, from 1, and its
// document, or why it is not strict JSON within the limits of a recording. The document is valid
// until do returns.
func EachLine(in io.Reader, do func(line int, doc *canon.Document, wrong *Error) error) error {
	return event.Each(in, do)
}

// Tasks returns the IDs of the tasks that events of a log name, in the order in which they come.
// Lines that a recording refuses are skipped.
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

// finish makes the draft.
func (r *reader) finish() (*Log, error) {
	var err error
	switch {
	case r.frames != nil:
		r.log.Counts = r.frames.Counts()
		r.log.Draft, err = r.frames.Draft()
	case r.recorder != nil:
		r.log.Counts.Counts = r.recorder.Counts()
		r.log.Draft, err = r.recorder.Draft()
	default:
		err = ErrEmpty
	}

	if err != nil {
		return nil, err
	}
	return &r.log, nil
}
