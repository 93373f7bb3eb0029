package source

import (
	"cmp"
	"slices"
	"time"
)

// A Task is what a person asked an agent for, with all that came of it until they asked
// again; or a session.
type Task struct {
	ID          string
	Session     string    // "" is not told
	First, Last time.Time // of its lines; zero: none tells a time
	Parts       []Part    // the lines, by the logs in which they are

	Over     bool      // the logs say that it ended, and it is all that they tell
	Latest   time.Time // of all lines of its session
	Followed bool      // another task of its session began after it
	Open     int       // calls without an answer
	Cut      bool      // its last line has no end
}

// A Part is the lines of a task in one log.
type Part struct {
	Log   *Outline
	Aside []Span // lines of the session that tell nothing of the task itself, each one, in their order
	Spans []Span // those of the task
}

// A Span is bytes of a log, whole lines.
type Span struct{ From, Until int64 }

// add adds the bytes of a line.
func (p *Part) add(s Span) {
	if n := len(p.Spans); n > 0 && p.Spans[n-1].Until == s.From {
		p.Spans[n-1].Until = s.Until
		return
	}
	p.Spans = append(p.Spans, s)
}

// tell adds a line of the session.
func (p *Part) tell(o *Outline, line int) {
	if line < 0 {
		return
	}
	s := Span{0, o.Lines[line].End}
	if line > 0 {
		s.From = o.Lines[line-1].End
	}
	p.Aside = append(p.Aside, s)
}

// stretch notes when a line was written.
func (t *Task) stretch(at time.Time) {
	if at.IsZero() {
		return
	}
	if t.First.IsZero() || at.Before(t.First) {
		t.First = at
	}
	if at.After(t.Last) {
		t.Last = at
	}
}

// Tasks tells the tasks of logs, one after the other of each session, or, unless they are to
// be told apart, the sessions. Logs in which lines of one another may be copied are given
// together: such a line is of the session that began first.
func Tasks(logs []*Outline, apart bool) (tasks []*Task) {
	order := slices.Clone(logs)
	slices.SortStableFunc(order, func(a, b *Outline) int {
		return cmp.Or(a.Begun.Compare(b.Begun), cmp.Compare(len(b.Lines), len(a.Lines)), cmp.Compare(a.Name, b.Name))
	})

	var groups [][]*owned
	at := map[sessionOf]int{}
	seen := newCopies()
	for _, o := range order {
		own := &owned{Outline: o}
		if !o.Whole {
			if own = seen.own(o); !slices.Contains(own.is, true) {
				continue
			}
		}
		id := sessionOf{o.Kind, o.name()}
		if n, have := at[id]; have {
			groups[n] = append(groups[n], own)
			continue
		}
		at[id] = len(groups)
		groups = append(groups, []*owned{own})
	}

	for _, g := range groups {
		if g[0].Whole {
			tasks = append(tasks, wholeOf(g))
		} else {
			tasks = append(tasks, tasksOf(g, apart)...)
		}
	}
	return tasks
}

// wholeOf is the task that logs tell of which each is one.
func wholeOf(logs []*owned) *Task {
	t := &Task{ID: logs[0].name(), Session: logs[0].Session}
	for _, l := range logs {
		t.Parts = append(t.Parts, Part{Log: l.Outline, Spans: []Span{{0, l.Bytes}}})
		t.stretch(l.First)
		t.stretch(l.Last)
		t.Over, t.Cut = l.Over, t.Cut || l.Cut
	}
	t.Latest = t.Last
	return t
}

type sessionOf struct {
	kind    Kind
	session string
}

// An owned log is one with the lines that are no copies of another's.
type owned struct {
	*Outline
	is []bool
}

// Copies are the lines that were seen in the logs before.
type copies struct {
	unique map[key]struct{}
	others map[string]map[key]struct{} // by session
}

func newCopies() *copies {
	return &copies{map[key]struct{}{}, map[string]map[key]struct{}{}}
}

// own tells which lines of a log are no copies. A line by which no copy is known is what
// the line before it is. Where keys are those of a session only, its parent's lines stand
// before its own.
func (c *copies) own(o *Outline) *owned {
	is, mine := make([]bool, len(o.Lines)), map[key]struct{}{}
	parents, still := c.others[o.Parent], o.Parent != ""
	for n, m := range o.Lines {
		switch _, have := c.unique[m.Key]; {
		case m.What&unique != 0 && m.Key != key{}:
			is[n] = !have
		case m.What&ofSession != 0 || n == 0:
			is[n] = true
		case m.Key != key{} && o.Parent != "":
			_, have := parents[m.Key]
			still = still && have
			is[n] = !still
		case o.Parent != "":
			is[n] = !still || parents == nil
		default:
			is[n] = is[n-1]
		}
	}

	for _, m := range o.Lines {
		if m.Key == (key{}) {
			continue
		}
		if m.What&unique != 0 {
			c.unique[m.Key] = struct{}{}
		} else {
			mine[m.Key] = struct{}{}
		}
	}
	if len(mine) > 0 && o.Session != "" && c.others[o.Session] == nil {
		c.others[o.Session] = mine
	}
	return &owned{o, is}
}
