package record

import (
	"io"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/turn"
)

// A Turn records one turn of a chat: its task is the invocation, and its methods are what
// happens in it. They make events, and a [Recorder] gets those. A turn that is suspended
// has no draft until it was resumed and has ended. It is not safe for concurrent use.
type Turn struct {
	*turn.Translator
	recorder *Recorder
}

// NewTurn returns a Turn. Options.TaskID, the invocation's id, and Options.SessionID, the
// chat's, are required. Options.Keep gets the events that the turn became: who writes them
// out can go on with [ResumeTurn].
func NewTurn(o Options) (*Turn, error) {
	switch {
	case o.TaskID == "":
		return nil, &OptionError{"TaskID", "is empty: no message names the invocation"}
	case o.SessionID == "":
		return nil, &OptionError{"SessionID", "is empty: no message names the chat"}
	}
	r, err := New(o)
	if err != nil {
		return nil, err
	}
	to := turn.Options{TaskID: o.TaskID, SessionID: o.SessionID, WorkspaceRef: o.WorkspaceRef}
	return &Turn{turn.New(to, r.AddDocument, r.run.Budget), r}, nil
}

// ResumeTurn returns the Turn that wrote a log, where the log ends. A part of the turn of
// which the log has only some events is done again; a last line that was cut is left out by
// whoever kept it. Options.Keep gets what comes after the log. Errors of the input are returned as they are, errors of a line as a
// *[LineError].
func ResumeTurn(o Options, log io.Reader) (*Turn, error) {
	keep, live := o.Keep, false
	o.Keep = func(line []byte) error {
		if !live || keep == nil {
			return nil
		}
		return keep(line)
	}
	t, err := NewTurn(o)
	if err != nil {
		return nil, err
	}

	err = event.Each(log, func(line int, doc *canon.Document, wrong *Error) error {
		if wrong != nil {
			wrong.Index = line
			return wrong
		}
		return t.Take(doc)
	})
	if err != nil {
		return nil, err
	}
	live = true
	return t, nil
}

// Ended reports whether the turn was completed or has failed.
func (t *Turn) Ended() bool { return t.recorder.Ended() }

// Draft returns the draft of the receipt, as [Recorder.Draft] does: [ErrNotEnded] while the
// turn goes on or is suspended.
func (t *Turn) Draft() (*receipt.Draft, error) {
	if err := t.Err(); err != nil {
		return nil, err
	}
	return t.recorder.Draft()
}

// Counts returns what became of the events so far.
func (t *Turn) Counts() Counts { return t.recorder.Counts() }
