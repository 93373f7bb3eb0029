package source

import (
	"crypto/sha256"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// An Outline is the result of a first pass over a log: its session, and the positions at which
// tasks begin. It uses about 60 bytes of memory per line. It can be stored with encoding/gob.
type Outline struct {
	Name    string // name of the log, as passed by the caller
	Kind    Kind
	Session string       // session named in the latest line that names a session, or ""
	Bytes   int64        // that were read
	Digest  canon.Digest // of those bytes
	Cut     bool         // the last line has no line ending

	Whole  bool         // the log is a single task
	Head   canon.Digest // digest of the first line
	Over   bool         // the log is a single task that has ended
	First  time.Time    // of its lines
	Last   time.Time
	Begun  time.Time // time of the first line that names Session
	Parent string    // session from which Session was forked
	Agents []string  // agents for which the log contains lines
	Main   bool      // some lines belong to the session itself

	// Only Tasks needs the following fields.
	Lines  []mark
	Begins []beginning
	Calls  []reference
}

// A mark describes a line.
type mark struct {
	End int64     // offset of the next line
	At  time.Time // time of the line or of the latest earlier line that has a time; zero if there is none
	Key key

	Unique    bool // in all logs, only copies of the line have the same key
	OfSession bool // the line applies to all tasks of the session
	Counts    bool // the line records the cumulative usage of the session
}

// A key identifies copies of a line. The zero key does not match any other key.
type key [16]byte

// A beginning is the first line of a task.
type beginning struct {
	Line int
	ID   string
}

// A reference links a call to a line that requests the call or answers it.
type reference struct {
	Line   int
	Call   key
	Answer bool
}

// Sound reports whether a stored outline refers only to its own lines.
func (o *Outline) Sound() bool {
	for _, b := range o.Begins {
		if b.Line < 0 || b.Line >= len(o.Lines) {
			return false
		}
	}

	for _, c := range o.Calls {
		if c.Line < 0 || c.Line >= len(o.Lines) {
			return false
		}
	}
	return true
}

// Forget discards the fields that only [Tasks] uses, so that many outlines fit into memory.
func (o *Outline) Forget() { o.Lines, o.Begins, o.Calls = nil, nil, nil }

// name returns the ID of the session. If there is no session, the name depends only on the first
// line, so that the name does not change as the log grows.
func (o *Outline) name() string {
	if o.Session != "" {
		return o.Session
	}
	return story.Unnamed(o.Head[:])
}

// Survey reads a log once and returns its outline. The argument "from" has the same meaning as in
// [Options]. Errors from the input are returned unchanged.
func Survey(in Input, from string) (*Outline, error) {
	r, o := newReading(from), &Outline{Name: in.Name}
	text, err := r.scan(in, func(text *lines) func(rawLine) error {
		x, _ := rowOf(r.kind)
		each := r.line
		if o.Whole = x.glances == nil || text.whole; o.Whole {
			r.now = r.story.Begin(event.Shorten(in.Name))
		} else {
			each = (&survey{Outline: o, look: x.glances(), reading: r}).line
		}

		// The first line, whether or not it is valid, identifies a log that is growing.
		return func(l rawLine) error {
			if o.Head.IsZero() {
				o.Head = canon.Sum(l.text)
			}
			return each(l)
		}
	})
	if err != nil {
		return nil, err
	}

	o.Kind, o.Cut = r.kind, text.count > 0 && !text.ended

	// If a log is a single task, its reader has read the entire log.
	if o.Whole {
		r.ended(text, in)
		r.reader.End()
		o.Digest, o.Bytes, o.Main = r.now.Digest, r.now.Bytes, true
		o.Session, o.Over = r.story.Session(), r.story.Ended() != story.EndUnknown
		o.First, o.Last = r.story.Span()
		o.Begun = o.First
		return o, nil
	}
	o.Digest, o.Bytes = text.read(in)
	return o, nil
}

// A survey fills in an outline.
type survey struct {
	*Outline
	look func(canon.Node) story.Glance
	*reading
	perhaps *beginning // a task that begins only if a model answers
	latest  time.Time
}

// line examines a line.
func (s *survey) line(l rawLine) error {
	m := mark{End: l.end}
	if n := len(s.Lines); n > 0 {
		m.At = s.Lines[n-1].At
	}
	if _, err := s.parse(l.text); !l.overlong && err == nil && s.doc.Root().Kind() == canon.KindObject {
		s.glance(&m, s.look(s.doc.Root()))
	}
	s.Lines = append(s.Lines, m)
	return nil
}

// glance records the statements in a line.
func (s *survey) glance(m *mark, g story.Glance) {
	here := len(s.Lines)
	if !g.At.IsZero() {
		m.At = g.At
	}
	m.Key, m.Unique, m.OfSession, m.Counts = keyOf(g.Key), g.Unique, g.Whole, g.Count

	// In the log of a forked session, the first line names the session, and copies of its parent's
	// lines follow.
	if g.Session != "" && (s.Session == "" || !g.Whole && !g.At.IsZero() && !g.At.Before(s.latest)) {
		if s.Session != g.Session {
			s.Session, s.Begun = g.Session, g.At
		}
		s.latest, s.Parent = g.At, g.Parent
	}
	if g.Aside {
		s.Agents = story.Once(s.Agents, g.Agent)
	} else if g.Spoke || g.Begins != "" || g.Whole {
		s.Main = true
	}

	// A possible task is discarded if another task begins before a model answers.
	if g.Spoke && s.perhaps != nil {
		s.Begins = append(s.Begins, *s.perhaps)
		s.perhaps = nil
	}
	if g.Begins != "" {
		b := beginning{here, g.Begins}
		if s.perhaps = nil; g.Perhaps {
			s.perhaps = &b
		} else {
			s.Begins = append(s.Begins, b)
		}
	}

	for _, id := range g.Asks {
		s.Calls = append(s.Calls, reference{here, keyOf(id), false})
	}

	for _, id := range g.Answers {
		s.Calls = append(s.Calls, reference{here, keyOf(id), true})
	}
}

// keyOf returns the key for a string. The key for "" is the zero key.
func keyOf(text string) (k key) {
	if text != "" {
		sum := sha256.Sum256([]byte(text))
		copy(k[:], sum[:])
	}
	return k
}
