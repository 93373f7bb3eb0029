package source

import (
	"cmp"
	"slices"
	"time"
)

// A Task is a session, or a request from a person to an agent together with everything that
// followed until the next request.
type Task struct {
	ID          string
	Session     string    // "" if it is not stated
	First, Last time.Time // times of its lines; zero if no line has a time
	Parts       []Part    // the lines, grouped by log

	Over     bool      // the logs record that the task ended, and contain nothing that follows it
	Latest   time.Time // latest time of all lines in the session
	Followed bool      // another task in the session began later
	Open     int       // calls without an answer
	Cut      bool      // the last line has no line ending
}

// A Part contains the lines of a task in one log.
type Part struct {
	Log   *Outline
	Aside []Span // lines of the session that the task needs, one span per line, in order
	Spans []Span // of the task
}

// A Span is a range of complete lines in a log, in bytes.
type Span struct{ From, Until int64 }

// add adds the bytes of a line.
func (p *Part) add(s Span) {
	if n := len(p.Spans); n > 0 && p.Spans[n-1].Until == s.From {
		p.Spans[n-1].Until = s.Until
		return
	}
	p.Spans = append(p.Spans, s)
}

// tell adds a line that belongs to the session.
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

// stretch extends the time range to include the time of a line.
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

// Tasks returns the sessions in the logs or, if the argument apart is set, the tasks grouped by
// session. Logs that may contain copies of each other's lines must be passed together, because a
// copied line belongs to the session that began first.
func Tasks(logs []*Outline, apart bool) (tasks []*Task) {
	order := slices.Clone(logs)
	slices.SortStableFunc(order, func(a, b *Outline) int {
		return cmp.Or(a.Begun.Compare(b.Begun), cmp.Compare(len(b.Lines), len(a.Lines)), cmp.Compare(a.Name, b.Name))
	})

	var groups [][]*owned
	at := map[sessionOf]int{}
	seen := &copies{map[key]struct{}{}, map[string]map[key]struct{}{}}

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

	// A log that is a single task is not divided.
	for _, g := range groups {
		if g[0].Whole {
			tasks = append(tasks, wholeOf(g))
		} else {
			tasks = append(tasks, tasksOf(g, apart)...)
		}
	}

	return tasks
}

// wholeOf returns the task of logs that must not be divided.
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

// owned contains a log, and records which of its lines are not copies from another log.
type owned struct {
	*Outline
	is []bool
}

// copies contains the keys of the lines in earlier logs.
type copies struct {
	unique map[key]struct{}
	others map[string]map[key]struct{} // by session
}

// own determines which lines of a log are not copies. A line without a key is treated like the
// previous line. If keys are unique only within a session, the lines of the parent session precede
// the session's own lines.
func (c *copies) own(o *Outline) *owned {
	is, mine := make([]bool, len(o.Lines)), map[key]struct{}{}
	parents, still := c.others[o.Parent], o.Parent != ""
	for n, m := range o.Lines {
		switch _, have := c.unique[m.Key]; {
		case m.Unique && m.Key != key{}:
			is[n] = !have
		case m.OfSession || n == 0:
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

	// The lines of this log may be copied into later logs.
	for _, m := range o.Lines {
		if m.Key == (key{}) {
			continue
		}
		if m.Unique {
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
