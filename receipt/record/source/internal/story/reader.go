package story

import (
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A Reader reads the lines of one source, and records their statements in a story.
type Reader interface {
	// Line reads a line, which is a JSON object that is valid until Line returns. A reader counts
	// unknown records, and rejects nothing.
	Line(canon.Node)

	// End is called after the last line of the last log.
	End()
}

// An AsideReader is a Reader for a source in which some lines describe the session, and every task
// needs them. Aside reads a line that does not belong to the task, and ignores the actions in it.
type AsideReader interface {
	Reader
	Aside(canon.Node)
}

// A Glance describes one line, without considering other lines.
type Glance struct {
	At      time.Time // time at which the line was written; zero if it is not stated
	Session string    // that it names
	Parent  string    // session from which the named session was forked
	Key     string    // key that identifies copies of the line in other logs, or ""
	Unique  bool      // in all logs, only copies of the line have the same key
	Agent   string    // agent to which the line belongs; "" if it belongs to the session itself
	Aside   bool      // the line belongs to an agent

	// Begins is the ID of the task that begins with the line, if the log contains an ID. If Perhaps
	// is set, the task begins only if a model answers before another task begins.
	Begins  string
	Perhaps bool

	Spoke         bool     // a model wrote the line in the session itself
	Asks, Answers []string // IDs of calls

	Whole bool // the line applies to the entire session, regardless of the task that contains it
	Count bool // the line records the cumulative usage of the session
}

// Known returns text from a log that can be used as a name, or "" if the text is absent or too
// long.
func Known(n canon.Node) string {
	if n.Kind() != canon.KindString || len(n.Text()) > event.MaxText {
		return ""
	}
	return string(n.Text())
}
