package record

import (
	"errors"
	"io"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record/bridge"
	"github.com/receiptkit/receiptkit/receipt/record/event"
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
// input itself are returned as they are, errors of a line as a *[event.LineError], and
// those of the draft as [Recorder.Draft] returns them.
func Read(in io.Reader, o Options, form Form) (*Log, error) {
	lines := event.NewLines(in)
	r := &reader{log: Log{Form: form}, options: o, doc: new(canon.Document)}
	for {
		text, err := lines.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}

		err = r.line(text)
		var refused *event.Error
		if errors.As(err, &refused) {
			return nil, &event.LineError{Line: lines.Line(), Err: refused}
		}
		if err != nil {
			return nil, err
		}
	}

	return r.finish()
}

// A reader records the lines of a file.
type reader struct {
	log      Log
	options  Options
	doc      *canon.Document
	recorder *Recorder
	frames   *Frames
}

func (r *reader) line(text []byte) error {
	r.log.Lines++
	if err := event.Parse(r.doc, text); err != nil {
		return event.Unparsed(r.log.Lines, "", err)
	}

	// The first line decides what all are.
	if r.log.Form == FormUnknown {
		r.log.Form = FormEvents
		if bridge.IsLine(r.doc.Root()) {
			r.log.Form = FormFrames
		}
	}

	if err := r.begin(); err != nil {
		return err
	}
	if r.log.Form == FormFrames {
		return r.frames.translator.Line(r.log.Lines, r.doc.Root())
	}
	if bridge.IsLine(r.doc.Root()) {
		return &event.Error{Index: r.log.Lines, Code: event.CodeTwoFormats, Detail: "expected an event, found a line of a log of frames"}
	}

	return r.recorder.AddDocument(r.doc)
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
