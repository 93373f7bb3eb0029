package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	kinds "github.com/receiptkit/receiptkit/receipt/kind"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// Options say what logs do not. Of record.Options only Issuer.ID is required: where no
// line names a task, the session is one.
type Options struct {
	record.Options
	From string // name of a kind or of a family, see Names; "": the first lines say which
}

// An Input is a log. Several are one task: a session, and the logs of the agents to which
// it gave work.
type Input struct {
	Name string // as the draft has it: the last part of a path
	io.Reader

	// Sum, when it is not nil, gives the digest and the size of the file as it lies, after
	// Reader was read to its end: of one that was decompressed. nil: what Reader gave.
	Sum func() (canon.Digest, int64)

	// Asides is how many lines, the first, tell of the session and not of the task, as
	// [Part.Aside] has them.
	Asides int
}

// Passed lists what of the logs was not read.
type Passed = story.Passed

// A Log is what was read.
type Log struct {
	Kind   Kind
	Counts record.Counts
	Passed Passed // what was not read
	Draft  *receipt.Draft
}

// ErrUnknown says that no line is of a source that is read.
var ErrUnknown = errors.New("source: no line is of an agent's log that is read")

// ErrEmpty says that no line told anything.
var ErrEmpty = errors.New("source: the log tells nothing: no line has a time, a message or a call")

// A SessionError reports a log of an agent that is known by name and not read.
type SessionError struct {
	Name string // of the log
	What string // such as "a session of Qwen Code"
	Next string // what to do
}

// Error names the agent.
func (e *SessionError) Error() string {
	return fmt.Sprintf("source: %s is %s, which is not supported", event.Quote(e.Name), e.What)
}

// Unwrap makes the error one of ErrUnknown.
func (e *SessionError) Unwrap() error { return ErrUnknown }

// A MixedError says that logs of two kinds were given for one task.
type MixedError struct {
	Name      string
	Is, Other Kind
}

// Error gives both.
func (e *MixedError) Error() string {
	return fmt.Sprintf("source: %s: expected a log of the kind %s, as the one before, found %s", event.Quote(e.Name), e.Other, e.Is)
}

// Read records logs of one task. Errors of an input are returned as they are, those of the
// draft as record.Recorder.Draft returns them.
func Read(inputs []Input, o Options) (*Log, error) {
	kind, known := Named(o.From)
	if o.From != "" && !known {
		return nil, fmt.Errorf("source: expected one of %s, found %s", strings.Join(Names(), ", "), event.Quote(o.From))
	}
	r := &reading{kind: kind, from: o.From, doc: new(canon.Document)}
	for _, in := range inputs {
		if err := r.log(in); err != nil {
			return nil, err
		}
	}
	if r.reader == nil {
		return nil, ErrUnknown
	}
	r.reader.End()
	return r.finish(o.Options)
}

// A reading is that of the logs of one task.
type reading struct {
	kind   Kind
	arrays bool // of the kind: a line may be an array of objects
	from   string
	story  *story.Story
	reader story.Reader
	doc    *canon.Document
	read   bool // the latest line was
	asides int  // lines that are left of those that tell nothing of the task
}

// log reads one log.
func (r *reading) log(in Input) error {
	text := newLines(in)
	head, err := r.begin(in.Name, text)
	if err != nil {
		return err
	}
	r.story.Begin(event.Shorten(in.Name))
	r.asides = in.Asides
	for _, h := range head {
		if err := r.line(h.text, h.overlong); err != nil {
			return err
		}
	}
	for {
		line, overlong, err := text.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = r.line(line, overlong)
		}
		if err != nil {
			return err
		}
	}

	// A log that grows, or that was cut off, ends within a line. What the last line tells
	// when it is not read is behind the end that others tell.
	if text.count > 0 && !r.read {
		r.story.Endless()
	}
	if !text.ended && !r.read {
		r.story.Cut()
	}
	digest, size := text.read(in)
	r.story.Read(digest, size, text.count)
	return nil
}

// A headLine is one that was read before it was known of which source it is.
type headLine struct {
	text     []byte
	overlong bool
	end      int64 // how many bytes were read with it
}

// Lines, and bytes, that are looked at to find the source: others may stand first.
const (
	maxHeadLines = 50
	maxHead      = 4 << 20
)

// begin reads as many lines as it takes to know the source, and returns them.
func (r *reading) begin(name string, text *lines) (head []headLine, err error) {
	kind, size := Unknown, 0
	for len(head) < maxHeadLines && size < maxHead && kind == Unknown {
		line, overlong, err := text.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		size += len(line)
		line = append([]byte(nil), line...)
		if f, ok := kinds.SessionOf(line); ok {
			return nil, &SessionError{name, f.What, f.Next}
		}
		if _, err := r.parse(line); err == nil {
			kind = r.kindOf(r.doc.Root())
		} else if len(head) == 0 {
			start := text.from(line)
			if f, ok := kinds.SessionOf(start); ok {
				return nil, &SessionError{name, f.What, f.Next}
			}
			if k := r.looksLike(start); k != Unknown {
				text.whole, text.rest = true, append(line, '\n')
				return nil, r.choose(name, k)
			}
		}
		head = append(head, headLine{line, overlong, text.bytes})
	}
	if kind == Unknown {
		if f := kinds.Of(joined(head), false); f.Kind == kinds.Session {
			return nil, &SessionError{name, f.What, f.Next}
		}
	}
	return head, r.choose(name, kind)
}

// joined are lines as they were read.
func joined(head []headLine) (text []byte) {
	for _, h := range head {
		text = append(append(text, h.text...), '\n')
	}
	return text
}

// choose begins to read logs of a kind, or goes on with it.
func (r *reading) choose(name string, kind Kind) error {
	if r.kind != Unknown && r.reader == nil || kind == Unknown && r.reader != nil {
		kind = r.kind
	}
	switch {
	case kind == Unknown:
		return ErrUnknown
	case r.reader != nil && kind != r.kind:
		return &MixedError{name, kind, r.kind}
	case r.reader == nil:
		row, ok := rowOf(kind)
		if !ok {
			return ErrUnknown
		}
		r.kind, r.arrays, r.story = kind, row.arrays, story.New(string(kind))
		r.reader = row.new(r.story)
	}
	return nil
}

// reads reports whether logs of a kind may be read.
func (r *reading) reads(row Row) bool {
	return r.from == "" || r.from == row.Family || r.from == string(row.Kind)
}

// kindOf says of which source a line is, of those that may be read.
func (r *reading) kindOf(line canon.Node) Kind {
	for _, row := range Kinds() {
		if !r.reads(row) {
			continue
		}
		if line.Kind() == canon.KindObject && row.is(line) {
			return row.Kind
		}
		if first := elementOf(line); row.arrays && first.Kind() == canon.KindObject && row.is(first) {
			return row.Kind
		}
	}
	return Unknown
}

// looksLike says of which kind a text begins as one, of those that may be values wherever
// lines end.
func (r *reading) looksLike(head []byte) Kind {
	for _, row := range Kinds() {
		if row.looks != nil && r.reads(row) && row.looks(head[:min(len(head), maxLook)]) {
			return row.Kind
		}
	}
	return Unknown
}

// elementOf is the first element of an array.
func elementOf(n canon.Node) canon.Node {
	for _, x := range n.Elements() {
		return x
	}
	return canon.Node{}
}

// Recognize says of which source a log is, by its first bytes, at most its first 50 lines.
func Recognize(head []byte) Kind {
	r := &reading{doc: new(canon.Document)}
	if _, ok := kinds.SessionOf(head); ok {
		return Unknown
	}
	if k := r.looksLike(head); k != Unknown {
		return k
	}
	for n := 0; n < maxHeadLines && len(head) > 0; n++ {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		head = rest
		if _, ok := kinds.SessionOf(line); ok {
			return Unknown
		}
		if _, err := r.parse(bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))); err == nil {
			if k := r.kindOf(r.doc.Root()); k != Unknown {
				return k
			}
		}
	}
	return Unknown
}

// maxLook is how much of a text that is no lines is looked at.
const maxLook = 64 << 10

// parse parses a line, and says whether halves of characters were replaced in it.
func (r *reading) parse(text []byte) (repaired bool, err error) {
	limits := canon.Limits{Bytes: MaxLine}
	if err = r.doc.Parse(text, limits); err == nil {
		return false, nil
	}
	if again := whole(text); again != nil {
		return true, r.doc.Parse(again, limits)
	}
	return false, err
}

// line takes a line. What is no JSON object is counted.
func (r *reading) line(text []byte, overlong bool) error {
	r.read = false
	if overlong {
		r.story.Overlong()
		return nil
	}
	if c := text[0]; c != '{' && !(r.arrays && c == '[') {
		r.story.Unreadable()
		return nil
	}
	repaired, err := r.parse(text)
	root := r.doc.Root()
	if list := r.arrays && root.Kind() == canon.KindArray; err != nil || root.Kind() != canon.KindObject && !list {
		r.story.Unreadable()
		return nil
	}

	if repaired {
		r.story.Repaired()
	}
	r.read = true
	if r.asides--; r.asides >= 0 {
		if reader, ok := r.reader.(story.AsideReader); ok {
			reader.Aside(root)
		}
		return r.story.Err()
	}
	r.story.Inexact(repaired)
	for _, n := range root.Elements() { // exports come in arrays, too
		if n.Kind() == canon.KindObject {
			r.reader.Line(n)
		}
	}
	if root.Kind() == canon.KindObject {
		r.reader.Line(root)
	}
	return r.story.Err()
}

// finish tells the story to a recorder.
func (r *reading) finish(o record.Options) (*Log, error) {
	if r.story.Empty() {
		return nil, ErrEmpty
	}
	rec, err := record.New(o)
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
