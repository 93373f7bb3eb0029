package story

import (
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Reader reads the lines of one source and records their statements in a story.
type Reader interface {
	// Line reads a line, a JSON object that is valid until Line returns. A reader counts
	// unknown records, and rejects nothing.
	Line(canon.Node)

	// End is called after the last line of the last log.
	End()
}

// An AsideReader is a Reader of a source whose lines state facts about the session that each
// of its tasks needs. Aside reads a line that is not of the task: nothing in it was done there.
type AsideReader interface {
	Reader
	Aside(canon.Node)
}

// A Glance locates one line, without the lines around it.
type Glance struct {
	At      time.Time // when it was written; zero is not stated
	Session string    // that it names
	Parent  string    // the session from which that session was forked
	Key     string    // identifies copies of the line in other logs; "" identifies none
	Unique  bool      // only copies have the same key, in all logs
	Agent   string    // of which the line is, unless it is of the session itself
	Aside   bool      // it is of an agent

	// Begins is the ID of a task that begins with the line, if the log has one. With Perhaps,
	// the task begins only if a model answers before another task begins.
	Begins  string
	Perhaps bool

	Spoke         bool     // a model wrote it, for the session itself
	Asks, Answers []string // IDs of calls

	Whole bool // it is of the session, whichever task it stands in
	Count bool // it states the usage of the session so far
}

// Known returns the text of a log that can be a name, "" if there is none or it is too long.
func Known(n canon.Node) string {
	if n.Kind() != canon.KindString || len(n.Text()) > event.MaxText {
		return ""
	}
	return string(n.Text())
}
