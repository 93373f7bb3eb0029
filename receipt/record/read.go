package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
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

// A LineError is an error of [Read] at a line.
type LineError struct {
	Line int // from 1
	Err  error
}

// Error gives the line and the error.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the error, such as an *[Error].
func (e *LineError) Unwrap() error { return e.Err }

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
	lines := &lineReader{in: bufio.NewReader(in)}
	r := &reader{log: Log{Form: form}, options: o, doc: new(canon.Document)}
	for {
		text, err := lines.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}

		err = r.line(text)
		var refused *Error
		if errors.As(err, &refused) {
			return nil, &LineError{lines.number, refused}
		}
		if err != nil {
			return nil, err
		}
	}

	return r.finish()
}

// A lineReader yields the lines that are not blank.
type lineReader struct {
	in     *bufio.Reader
	number int
	buf    []byte
}

func (l *lineReader) next() ([]byte, error) {
	for {
		l.buf = l.buf[:0]
		var err error
		for more := true; more; {
			var part []byte
			part, err = l.in.ReadSlice('\n')
			l.buf = append(l.buf, part...)
			more = err == bufio.ErrBufferFull && len(l.buf) <= MaxLine
		}

		if len(l.buf) > 0 {
			l.number++
		}
		switch {
		case err == bufio.ErrBufferFull:
			limit := exceeded("MaxLine", int64(len(l.buf)))
			return nil, &LineError{l.number, &Error{Index: l.number, Code: CodeLimit, Detail: limit.Error(), err: limit}}
		case err != nil && err != io.EOF:
			return nil, err
		}

		if text := bytes.TrimSpace(l.buf); len(text) > 0 {
			return text, nil
		}
		if err == io.EOF {
			return nil, io.EOF
		}
	}
}

// A reader records the lines of a file.
type reader struct {
	log      Log
	options  Options
	doc      *canon.Document
	recorder *Recorder
	frames   *Frames
	at       time.Time // of the latest line that has a time
}

func (r *reader) line(text []byte) error {
	r.log.Lines++
	if err := parse(r.doc, text); err != nil {
		return unparsed(r.log.Lines, "", err)
	}

	// The first line decides what all are.
	if r.log.Form == FormUnknown {
		r.log.Form = FormEvents
		if isFrame(r.doc.Root()) {
			r.log.Form = FormFrames
		}
	}

	if err := r.begin(); err != nil {
		return err
	}
	if r.log.Form == FormFrames {
		return r.frame()
	}
	if isFrame(r.doc.Root()) {
		return &Error{Index: r.log.Lines, Code: CodeTwoFormats, Detail: "expected an event, found a line of a log of frames"}
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

// isFrame tells a line of a log of frames from an event, which has an id.
func isFrame(root canon.Node) bool {
	return !root.Member("jsonrpc").IsZero() || !root.Member("frame").IsZero() || !root.Member("at").IsZero() && root.Member("id").IsZero()
}

func (r *reader) frame() error {
	root := r.doc.Root()
	e := &event{index: r.log.Lines, root: root}
	if !isFrame(root) {
		return e.fail(CodeTwoFormats, root, "expected a line of a log of frames, found an event")
	}
	if !root.Member("jsonrpc").IsZero() {
		return r.frames.add(r.at, SenderUnknown, root)
	}

	// A line without a time passed when the one before it did.
	if at := e.time(root, "at"); !at.IsZero() {
		r.at = at
	}
	from := Sender(e.text(root, "from"))
	if from != SenderUnknown && from != SenderAgent && from != SenderClient {
		e.fail(CodeMalformed, root.Member("from"), `expected "agent" or "client"`)
	}

	kind := e.text(root, "event")
	if e.err != nil {
		return e.err
	}
	if frame := root.Member("frame"); !frame.IsZero() {
		return r.frames.add(r.at, from, frame)
	}
	if kind == "" {
		return e.fail(CodeMalformed, root, "expected a member frame or event")
	}

	// A replay marks what it tells again, here as in an event.
	r.frames.marks = [2]canon.Node{root.Member("replayed"), root.Member("replay")}
	return r.frames.event(r.at, kind, root.Member("payload"))
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
		err = errors.New("record: the input is empty: expected a line for each event")
	}

	if err != nil {
		return nil, err
	}
	return &r.log, nil
}
