package source

import (
	"crypto/sha256"
	"io"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// An Outline is what a log tells at first sight: of which session it is, and where the
// tasks begin. It takes some sixty bytes for each line.
type Outline struct {
	Name    string // as the log was given
	Kind    Kind
	Session string       // that its latest line names; "" is not told
	Bytes   int64        // that were read
	Digest  canon.Digest // of those
	Cut     bool         // the last line has no end

	whole  bool         // it is one task
	head   canon.Digest // of its first line
	over   bool         // and whether it ended
	first  time.Time    // of its lines
	last   time.Time
	begun  time.Time // of the first line that names Session
	parent string    // session from which it was forked
	agents []string  // of which it has lines
	main   bool      // some line is of the session itself

	lines  []mark
	begins []beginning
	calls  []reference
}

// A mark is a line.
type mark struct {
	end  int64     // where the line after it begins
	at   time.Time // of it, or of the one before it that has a time; zero: none has
	key  key
	what what
}

// A key tells whether two lines are copies of each other. The zero key is like no other.
type key [16]byte

// What is said of a line besides, bits.
type what uint8

const (
	unique    what = 1 << iota
	ofSession      // whichever task it stands in
	counts         // what the session took so far
)

// A beginning is a line with which a task begins.
type beginning struct {
	line int
	id   string
}

// A reference is to a call, from the line that asks for it or that answers.
type reference struct {
	line   int
	call   key
	answer bool
}

// Survey reads a log once and tells its outline. From is as in [Options]. Errors of the
// input are returned as they are.
func Survey(in Input, from string) (*Outline, error) {
	kind, _ := Named(from)
	r := &reading{kind: kind, from: from, doc: new(canon.Document)}
	text := newLines(in)
	head, err := r.begin(in.Name, text)
	if err != nil {
		return nil, err
	}

	o := &Outline{Name: in.Name, Kind: r.kind}
	row, _ := rowOf(r.kind)
	whole := row.glances == nil || text.whole
	line := func(text []byte, overlong bool, _ int64) error { return r.line(text, overlong) }
	if whole {
		r.story.Begin(event.Shorten(in.Name))
	} else {
		line = (&survey{Outline: o, look: row.glances(), reading: r}).line
	}
	if len(head) > 0 {
		o.head = canon.Sum(head[0].text)
	}
	for _, h := range head {
		if err := line(h.text, h.overlong, h.end); err != nil {
			return nil, err
		}
	}
	for {
		next, overlong, err := text.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			if o.head.IsZero() {
				o.head = canon.Sum(next)
			}
			err = line(next, overlong, text.bytes)
		}
		if err != nil {
			return nil, err
		}
	}

	o.Digest, o.Bytes = text.read(in)
	o.Cut = text.count > 0 && !text.ended
	if whole {
		o.tell(r, text.count)
	}
	return o, nil
}

// tell notes what all lines of a log that is one task do.
func (o *Outline) tell(r *reading, lines int) {
	s := r.story
	s.Read(o.Digest, o.Bytes, lines)
	if lines > 0 && !r.read {
		s.Endless()
	}
	r.reader.End()
	o.whole, o.main = true, true
	o.Session, o.over = s.Session(), s.Ended() != story.EndUnknown
	o.first, o.last = s.Span()
	o.begun = o.first
}

// A survey makes an outline.
type survey struct {
	*Outline
	look func(canon.Node) story.Glance
	*reading
	perhaps *beginning // waits for a model's answer
	latest  time.Time
}

// line looks at a line that ends before the byte end.
func (s *survey) line(text []byte, overlong bool, end int64) error {
	m := mark{end: end}
	if n := len(s.lines); n > 0 {
		m.at = s.lines[n-1].at
	}
	if _, err := s.parse(text); !overlong && err == nil && s.doc.Root().Kind() == canon.KindObject {
		s.glance(&m, s.look(s.doc.Root()))
	}
	s.lines = append(s.lines, m)
	return nil
}

// glance notes what a line tells.
func (s *survey) glance(m *mark, g story.Glance) {
	here := len(s.lines)
	if !g.At.IsZero() {
		m.at = g.At
	}
	m.key, m.what = keyOf(g.Key), whatOf(&g)

	// Of a session that is forked the first line says which it is.
	if g.Session != "" && (s.Session == "" || !g.Whole && !g.At.IsZero() && !g.At.Before(s.latest)) {
		if s.Session != g.Session {
			s.Session, s.begun = g.Session, g.At
		}
		s.latest, s.parent = g.At, g.Parent
	}
	if g.Aside {
		s.agents = story.Once(s.agents, g.Agent)
	} else if g.Spoke || g.Begins != "" || g.Whole {
		s.main = true
	}

	if g.Spoke && s.perhaps != nil {
		s.begins = append(s.begins, *s.perhaps)
		s.perhaps = nil
	}
	if g.Begins != "" {
		b := beginning{here, g.Begins}
		if s.perhaps = nil; g.Perhaps {
			s.perhaps = &b
		} else {
			s.begins = append(s.begins, b)
		}
	}
	for _, id := range g.Asks {
		s.calls = append(s.calls, reference{here, keyOf(id), false})
	}
	for _, id := range g.Answers {
		s.calls = append(s.calls, reference{here, keyOf(id), true})
	}
}

func whatOf(g *story.Glance) (w what) {
	if g.Unique {
		w |= unique
	}
	if g.Whole {
		w |= ofSession
	}
	if g.Count {
		w |= counts
	}
	return w
}

// keyOf is zero for "".
func keyOf(text string) (k key) {
	if text != "" {
		sum := sha256.Sum256([]byte(text))
		copy(k[:], sum[:])
	}
	return k
}

// name is that of the session. Without one it is made of the first line, so that a log that
// grows keeps its name.
func (o *Outline) name() string {
	if o.Session != "" {
		return o.Session
	}
	return story.Unnamed(o.head[:])
}

// Forget gives up what only [Tasks] needs, so that many outlines may be kept.
func (o *Outline) Forget() { o.lines, o.begins, o.calls = nil, nil, nil }
