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

// An AsideReader is a Reader for a source whose lines state facts about the session that each task
// needs. Aside reads a line that does not belong to the task; its actions are not part of the task.
type AsideReader interface {
	Reader
	Aside(canon.Node)
}

// A Glance describes one line, without the surrounding lines.
type Glance struct {
	At      time.Time // when the line was written; zero if it is not stated
	Session string    // that it names
	Parent  string    // the session from which that session was forked
	Key     string    // identifies copies of the line in other logs, or ""
	Unique  bool      // only copies have the same key, across all logs
	Agent   string    // agent to which the line belongs, unless it belongs to the session itself
	Aside   bool      // it belongs to an agent

	// Begins is the ID of a task that begins with the line, if the log contains an ID. With
	// Perhaps, the task begins only if a model answers before another task begins.
	Begins  string
	Perhaps bool

	Spoke         bool     // a model wrote the line, for the session itself
	Asks, Answers []string // IDs of calls

	Whole bool // the line belongs to the session, regardless of the task that contains it
	Count bool // the line states the session's cumulative usage
}

// Known returns text from a log that can be used as a name, or "" if there is no text or it is too
// long.
func Known(n canon.Node) string {
	if n.Kind() != canon.KindString || len(n.Text()) > event.MaxText {
		return ""
	}
	return string(n.Text())
}
