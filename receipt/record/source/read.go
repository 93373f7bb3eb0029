package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	kinds "github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// Options supplies information that logs do not contain. In record.Options, only Issuer.ID is
// required. If no line names a task, the session is the task.
type Options struct {
	record.Options
	From string // name of a kind or a family, see Names; "" detects the kind from the first lines
}

// An Input is a log. Several inputs can form one task: the log of a session, and the logs of the
// agents to which the session delegated work.
type Input struct {
	Name string // name in the draft: the last element of a path
	io.Reader

	// If Sum is not nil, it returns the digest and the size of the stored file. It is called after
	// Reader has been read to its end, and is needed if the file was decompressed. If Sum is nil,
	// both are computed from the bytes that Reader returns.
	Sum func() (canon.Digest, int64)

	// Asides is the number of lines at the beginning that belong to the session and not to the
	// task, as in [Part.Aside].
	Asides int
}

// Passed lists the parts of the logs that were not read.
type Passed = story.Passed

// A Log is the result of reading logs.
type Log struct {
	Kind   Kind
	Counts record.Counts
	Passed Passed // parts that were not read
	Draft  *receipt.Draft
}

// ErrUnknown indicates that no line belongs to a supported source.
var ErrUnknown = errors.New("source: no line belongs to a supported agent log")

// ErrEmpty indicates that no line contains any information.
var ErrEmpty = errors.New("source: the log records nothing: no line has a time, a message, or a call")

// A SessionError indicates that a log was recognized but is not supported.
type SessionError struct {
	Name string // of the log
	What string // such as "a session of Qwen Code"
	Next string // what to do
}

// Error names the log and the agent.
func (e *SessionError) Error() string {
	return fmt.Sprintf("source: %s is %s, which is not supported", event.Quote(e.Name), e.What)
}

// Unwrap returns ErrUnknown.
func (e *SessionError) Unwrap() error { return ErrUnknown }

// A MixedError indicates that the logs of one task are of two kinds.
type MixedError struct {
	Name      string
	Is, Other Kind
}

// Error names the log and both kinds.
func (e *MixedError) Error() string {
	return fmt.Sprintf("source: %s: expected a log of the kind %s, as the one before, found %s", event.Quote(e.Name), e.Other, e.Is)
}

// Read records the logs of one task. Errors from an input are returned unchanged. If the draft
// cannot be created, Read returns the error from record.Recorder.Draft.
func Read(inputs []Input, o Options) (*Log, error) {
	// If no kind is named, the first lines determine it.
	if o.From != "" && !slices.Contains(Names(), o.From) {
		return nil, fmt.Errorf("source: expected one of %s, found %s", strings.Join(Names(), ", "), event.Quote(o.From))
	}
	r := newReading(o.From)

	for _, in := range inputs {
		if err := r.log(in); err != nil {
			return nil, err
		}
	}
	if r.reader == nil {
		return nil, ErrUnknown
	}
	r.reader.End()
	if r.story.Empty() {
		return nil, ErrEmpty
	}

	rec, err := record.New(o.Options)
	if err != nil {
		return nil, err
	}
	if err := r.story.Tell(o.TaskID, rec.Add); err != nil {
		return nil, err
	}
	d, err := rec.Draft()
	if err != nil {
		return nil, err
	}

	return &Log{r.kind, rec.Counts(), r.story.Passed(), d}, nil
}

// A reading reads the logs of one task.
type reading struct {
	kind   Kind   // Unknown until the first log is recognized, unless the caller named the kind
	from   string // the name that the caller passed
	arrays bool   // for this kind, a line may be an array of objects
	story  *story.Story
	reader story.Reader
	doc    *canon.Document
	now    *story.Log // that is read
	read   bool       // the latest line was read
	asides int        // remaining lines that do not belong to the task
}

func newReading(from string) *reading {
	r := &reading{from: from, doc: new(canon.Document)}
	if k, known := rowOf(Kind(from)); known {
		r.kind = k.kind
	}
	return r
}

// log reads one log.
func (r *reading) log(in Input) error {
	text, err := r.scan(in, func(*lines) func(rawLine) error {
		r.now, r.asides = r.story.Begin(event.Shorten(in.Name)), in.Asides
		return r.line
	})
	if err != nil {
		return err
	}
	r.ended(text, in)
	return nil
}

// ended records the size and the digest of a log. A log that is still growing, or that was
// truncated, ends in the middle of a line. If that line cannot be read, it may have recorded a
// different outcome than the earlier lines.
func (r *reading) ended(text *lines, in Input) {
	r.story.Endless = r.story.Endless || text.count > 0 && !r.read
	r.now.Cut = !text.ended && !r.read
	r.now.Digest, r.now.Bytes = text.read(in)
	r.now.Lines = text.count
}

// Limits for the beginning of a log from which its source is recognized; lines of other programs
// may come first.
const (
	maxHeadLines = 50
	maxHead      = 4 << 20
	maxLook      = 64 << 10 // limit for text whose values may span lines
)

// scan recognizes a log, and passes its lines to the function returned by begin.
func (r *reading) scan(in Input, begin func(*lines) func(rawLine) error) (*lines, error) {
	text := newLines(in)
	head, err := r.begin(in.Name, text)
	if err != nil {
		return nil, err
	}
	line := begin(text)

	for _, l := range head {
		if err := line(l); err != nil {
			return nil, err
		}
	}

	// The rest is read line by line, because logs may be larger than memory.
	for {
		l, err := text.next()
		if err == io.EOF {
			return text, nil
		}
		if err == nil {
			err = line(l)
		}
		if err != nil {
			return nil, err
		}
	}
}

// begin reads as many lines as necessary to recognize the source, and returns them.
func (r *reading) begin(name string, text *lines) (head []rawLine, err error) {
	declined := func(f kinds.Found) error { return &SessionError{name, f.What, f.Next} }
	kind, size := Unknown, 0
	for len(head) < maxHeadLines && size < maxHead && kind == Unknown {
		line, err := text.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		size += len(line.text)
		line.text = slices.Clone(line.text) // the next line reuses the same memory
		form, found := formOf(r.from, line.text)
		if found.Kind == kinds.Session {
			return nil, declined(found)
		}

		// The first line may be the beginning of a value that spans several lines.
		if _, err := r.parse(line.text); err == nil {
			kind = cmp.Or(form, kindOf(r.from, r.doc.Root()))
		} else if len(head) == 0 {
			start := text.from(line.text)
			form, found := formOf(r.from, start)
			if found.Kind == kinds.Session {
				return nil, declined(found)
			}
			if k := cmp.Or(form, looksLike(r.from, start)); k != Unknown {
				text.whole, text.rest = true, append(line.text, '\n')
				return nil, r.choose(name, k)
			}
		}
		head = append(head, line)
	}

	if kind == Unknown {
		if f := kinds.Of(joined(head), false); f.Kind == kinds.Session {
			return nil, declined(f)
		}
	}

	return head, r.choose(name, kind)
}

// joined returns the lines, each followed by a line feed.
func joined(head []rawLine) (text []byte) {
	for _, l := range head {
		text = append(append(text, l.text...), '\n')
	}
	return text
}

// choose starts reading logs of a kind, or continues if it is the kind of the earlier logs.
func (r *reading) choose(name string, kind Kind) error {
	if r.kind != Unknown && (r.reader == nil || kind == Unknown) {
		kind = r.kind
	}
	x, ok := rowOf(kind)

	// All logs of a task are of the same kind, which the first log determines.
	switch {
	case !ok:
		return ErrUnknown
	case r.reader != nil && kind != r.kind:
		return &MixedError{name, kind, r.kind}
	case r.reader == nil:
		r.kind, r.arrays, r.story = kind, x.arrays, story.New(string(kind))
		r.reader = x.new(r.story)
	}

	return nil
}

// parse parses a line, and reports whether lone surrogates were replaced in it.
func (r *reading) parse(text []byte) (repaired bool, err error) {
	limits := canon.Limits{Bytes: maxValue}
	if err = r.doc.Parse(text, limits); err == nil {
		return false, nil
	}
	if again := whole(text); again != nil {
		return true, r.doc.Parse(again, limits)
	}
	return false, err
}

// line reads a line. Lines that are not JSON objects are counted.
func (r *reading) line(l rawLine) error {
	r.read = false
	if l.overlong {
		r.now.Overlong++
		return nil
	}
	if c := l.text[0]; c != '{' && !(r.arrays && c == '[') {
		r.now.Unreadable++
		return nil
	}
	repaired, err := r.parse(l.text)
	root := r.doc.Root()
	if list := r.arrays && root.Kind() == canon.KindArray; err != nil || root.Kind() != canon.KindObject && !list {
		r.now.Unreadable++
		return nil
	}
	if repaired {
		r.now.Repaired++
	}

	r.read = true

	// Lines that describe the session do not belong to the task.
	if r.asides--; r.asides >= 0 {
		if reader, ok := r.reader.(story.AsideReader); ok {
			reader.Aside(root)
		}
		return r.story.Err()
	}
	r.story.Inexact = repaired

	// Some exporters write arrays.
	for _, n := range root.Elements() {
		if n.Kind() == canon.KindObject {
			r.reader.Line(n)
		}
	}
	if root.Kind() == canon.KindObject {
		r.reader.Line(root)
	}

	return r.story.Err()
}
