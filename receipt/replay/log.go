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

// A Log is the record of one task that has ended. It lists the answers without their values, which
// are read from the log when they are needed.
type Log struct {
	TaskID       string
	Digest       canon.Digest        // digest of the log, as stated in the event_log material of the task's receipt
	Events       int                 // number of events that the digest covers
	Dependencies []record.Dependency // in the order of the events that recorded the answers

	in      io.ReaderAt
	offsets map[int]int64 // byte offset of each line that contains an answer, by the number of the event
}

// ErrReplay indicates that a log records a replay. Replay the log of that replay's source instead.
var ErrReplay = errors.New("replay: task is itself a replay: expected the log of its source")

// ReadLog reads the log of a task, with one event per line. If the log contains several tasks, the
// task parameter is required; "" selects the only task in the log. The log must meet the
// requirements for recording: events are in sequence order without gaps, and events with the same
// ID have the same content. The error is an error from package event, [record.ErrNotEnded],
// [ErrReplay], or an error from the reader.
//
// The returned Log reads the input again for answers and events, so the input must not change. A
// line that has changed is rejected.
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

// pass reads the log once, in the same way as a recording does. It calls keep with each event that
// the digest covers, in canonical form and followed by a line feed.
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

// from returns a reader that starts at the given offset of the log.
func (l *Log) from(offset int64) io.Reader {
	return io.NewSectionReader(l.in, offset, math.MaxInt64-offset)
}

// locate finds the offsets of the lines that contain the answers.
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

// answer returns a recorded answer in canonical form, or nil if the log contains only its digest.
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

	// A log that has changed since ReadLog is rejected.
	value, found := doc.Find(at)
	answer := value.AppendCanonical(nil)
	if !found || canon.Sum(answer) != d.SHA256 {
		return nil, errors.New("replay: log has changed since it was read: the answer of " + quote(d.Key) + " has another digest")
	}
	return answer, nil
}

// each calls do with the events of the task, in the order and form that the digest covers.
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

// life returns the events that record the task's times, in order and in canonical form. The last of
// these events ends the task.
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
