package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// A Log is the record of one task that has ended. It lists the answers without their values,
// which are read from the log on demand.
type Log struct {
	TaskID       string
	Digest       canon.Digest        // of the event_log of the task's receipt
	Events       int                 // that the digest covers
	Dependencies []record.Dependency // in the order of the events that recorded the answers

	in      io.ReaderAt
	offsets map[int]int64 // where the lines of these events begin
}

// ErrReplay indicates that a log is that of a replay. Replay the log of its source instead.
var ErrReplay = errors.New("replay: task is itself a replay: expected the log of its source")

// ReadLog reads the log of a task, an event a line. A log of several needs its id; "" is
// the one task of the log. The rules are those of a recording: events come in the order of
// their sequence, none is missing, each id has one content. Errors are of package event,
// [record.ErrNotEnded], [ErrReplay], and those of the reader.
//
// The log is read again when answers or events are asked for, and has to stay as it is:
// what is not what was read the first time is refused.
func ReadLog(in io.ReaderAt, task string) (*Log, error) {
	l := &Log{in: in, offsets: map[int]int64{}}
	rec, err := l.pass(task, nil)
	switch {
	case err != nil:
		return nil, err
	case !rec.Ended():
		return nil, record.ErrNotEnded
	case rec.IsReplay():
		return nil, ErrReplay
	}

	l.TaskID, l.Digest, l.Events = rec.TaskID(), rec.Digest(), rec.Counts().Events

	l.Dependencies = rec.Dependencies()
	return l, l.locate()
}

// pass reads the log once, as it would be recorded. Keep gets the events of the task that
// the digest covers, in canonical form with a line feed.
func (l *Log) pass(task string, keep func(line []byte) error) (*record.Recorder, error) {
	rec, err := record.New(record.Options{Issuer: receipt.Issuer{ID: "replay"}, TaskID: task, Keep: keep})
	if err != nil {
		return nil, err
	}

	err = event.Each(l.from(0), func(_ int, doc *canon.Document, wrong *event.Error) error {
		if wrong != nil {
			return wrong
		}
		return rec.AddDocument(doc)
	})
	if err != nil {
		return nil, err
	}
	return rec, nil
}

// from returns a reader of the log from an offset on.
func (l *Log) from(offset int64) io.Reader {
	return io.NewSectionReader(l.in, offset, math.MaxInt64-offset)
}

// locate finds where the lines of the answers begin.
func (l *Log) locate() error {
	wanted := map[int]bool{}
	last := 0
	for _, d := range l.Dependencies {
		if d.Pointer != "" {
			wanted[d.Index], last = true, max(last, d.Index)
		}
	}

	lines := event.NewLines(l.from(0))
	for n := 1; n <= last; n++ {
		if _, err := lines.Next(); err != nil {
			return fmt.Errorf("replay: log changed while it was read: %w", err)
		}
		if wanted[n] {
			l.offsets[n] = lines.Offset()
		}
	}
	return nil
}

// answer reads a recorded answer in canonical form; nil where the log has its digest alone.
func (l *Log) answer(d record.Dependency) ([]byte, error) {
	if d.Pointer == "" {
		return nil, nil
	}

	at, err := canon.ParsePointer(d.Pointer)
	if err != nil {
		return nil, err
	}

	lines := event.NewLines(l.from(l.offsets[d.Index]))
	text, err := lines.Next()
	if err != nil {
		return nil, fmt.Errorf("replay: log has changed since it was read: %w", err)
	}
	doc := new(canon.Document)
	if err := event.Parse(doc, bytes.Clone(text)); err != nil {
		return nil, fmt.Errorf("replay: log has changed since it was read: %w", err)
	}

	// A log that changed since it was read is refused.
	value, found := doc.Find(at)
	answer := value.AppendCanonical(nil)
	if !found || canon.Sum(answer) != d.SHA256 {
		return nil, errors.New("replay: log has changed since it was read: the answer of " + quote(d.Key) + " has another digest")
	}
	return answer, nil
}

// each passes the events of the task to do, in the order and the form that the digest covers.
func (l *Log) each(do func(line []byte) error) error {
	rec, err := l.pass(l.TaskID, do)
	if err != nil {
		return err
	}
	if rec.Digest() != l.Digest {
		return errors.New("replay: log has changed since it was read: its events have another digest")
	}
	return nil
}

// life returns the events from which the times of the task come, in their order and in
// canonical form. The last one ends it.
func (l *Log) life() (lines [][]byte, err error) {
	for _, d := range l.Dependencies {
		if d.Kind != record.KindTime {
			continue
		}
		in := event.NewLines(l.from(l.offsets[d.Index]))
		text, err := in.Next()
		if err != nil {
			return nil, fmt.Errorf("replay: log has changed since it was read: %w", err)
		}
		line, err := canon.Transform(text)
		if err != nil {
			return nil, fmt.Errorf("replay: log has changed since it was read: %w", err)
		}
		lines = append(lines, line)
	}
	return lines, nil
}
