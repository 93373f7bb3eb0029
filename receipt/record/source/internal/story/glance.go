package story

import (
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Glance is what one line tells of where it belongs, without the lines around it.
type Glance struct {
	At      time.Time // when it was written; zero is not told
	Session string    // that it names
	Parent  string    // the session from which that one was forked
	Key     string    // by which a copy of the line in another log is known; "": by nothing
	Unique  bool      // no two lines of all logs have the key, but for copies
	Agent   string    // of which it is, when it is not of the session itself
	Aside   bool      // it is of an agent

	// Begins is the id of a task that begins with the line, as far as the log gives it one.
	// One that begins Perhaps does when a model answers before another one begins.
	Begins  string
	Perhaps bool

	Spoke         bool     // a model wrote it, for the session itself
	Asks, Answers []string // ids of calls

	Whole bool // it is of the session, whichever task it stands in
	Count bool // it tells what the session took so far
}

// Known is a text of a log that can be a name, "" when there is none or it is too long.
func Known(n canon.Node) string {
	if n.Kind() != canon.KindString || len(n.Text()) > event.MaxText {
		return ""
	}
	return string(n.Text())
}
