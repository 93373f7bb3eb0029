package source

import (
	"cmp"
	"slices"
	"time"
)

// A cutter divides the logs of one session into tasks.
type cutter struct {
	logs   []*owned
	apart  bool // the session is divided into tasks
	starts []start
	of     [][]int     // the tasks that begin in each log, in line order
	asked  map[key]int // the task of each call
	tasks  []*Task
}

// A start is the position at which a task begins.
type start struct {
	at        time.Time
	log, line int
	id        string
}

// tasksOf returns the tasks in the logs of one session. If no task begins in them, the session is a
// single task.
func tasksOf(logs []*owned, apart bool) []*Task {
	c := &cutter{logs: logs, of: make([][]int, len(logs)), asked: map[key]int{}}
	if apart {
		c.begin()
	}
	session := logs[0].Session
	if c.apart = len(c.starts) > 0; !c.apart {
		c.starts = []start{{id: c.alone()}}
	}

	// Until the lines are assigned, every task may have lines in every log.
	for n, s := range c.starts {
		t := &Task{Session: session, ID: c.id(s.id), Followed: n+1 < len(c.starts)}
		for _, l := range logs {
			t.Parts = append(t.Parts, Part{Log: l.Outline})
		}
		c.tasks = append(c.tasks, t)
	}

	c.calls()

	for n := range logs {
		c.cut(n)
	}
	latest := slices.MaxFunc(c.tasks, func(a, b *Task) int { return a.Last.Compare(b.Last) }).Last

	for _, t := range c.tasks {
		t.Latest = latest
		t.Parts = slices.DeleteFunc(t.Parts, func(p Part) bool { return len(p.Spans) == 0 })
	}

	return slices.DeleteFunc(c.tasks, func(t *Task) bool { return len(t.Parts) == 0 })
}

// id returns the ID of a task in the session.
func (c *cutter) id(task string) string {
	session := c.logs[0].name()
	if task == "" {
		return session
	}
	return session + "." + task
}

// alone returns the ID of the agent if the logs contain lines of only one agent and no lines of the
// session itself.
func (c *cutter) alone() string {
	var agents []string
	for _, l := range c.logs {
		if agents = append(agents, l.Agents...); l.Main {
			return ""
		}
	}
	if slices.Sort(agents); len(slices.Compact(agents)) == 1 {
		return "agent-" + agents[0]
	}
	return ""
}

// begin finds the lines with which tasks begin, in time order. A task that begins in two logs is
// counted once.
func (c *cutter) begin() {
	for n, l := range c.logs {
		for _, b := range l.Begins {
			if l.is[b.Line] && !slices.ContainsFunc(c.starts, func(s start) bool { return s.id == "task-"+b.ID }) {
				c.starts = append(c.starts, start{l.Lines[b.Line].At, n, b.Line, "task-" + b.ID})
			}
		}
	}
	slices.SortStableFunc(c.starts, func(a, b start) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.log, b.log), cmp.Compare(a.line, b.line))
	})

	// Within a log, tasks are in line order, regardless of their times.
	for n, s := range c.starts {
		c.of[s.log] = append(c.of[s.log], n)
	}

	for _, own := range c.of {
		slices.SortFunc(own, func(a, b int) int { return cmp.Compare(c.starts[a].line, c.starts[b].line) })
	}
}

// task returns the task to which a line belongs. In a log that contains the beginning of a task, a
// line belongs to the last task that began before it, because later lines cannot change this
// assignment. In the log of an agent, the time of the line determines the task.
func (c *cutter) task(log, line int) int {
	// The line belongs to the last task that begins before the line in this log.
	if own := c.of[log]; len(own) > 0 {
		n, _ := slices.BinarySearchFunc(own, line, func(task, line int) int {
			if c.starts[task].line <= line {
				return -1
			}
			return 1
		})
		return own[max(n-1, 0)]
	}

	// The line belongs to the last task that began before the line's time.
	at := c.logs[log].Lines[line].At
	n, _ := slices.BinarySearchFunc(c.starts, at, func(s start, at time.Time) int {
		if s.at.After(at) {
			return 1
		}
		return -1
	})
	return max(n-1, 0)
}

// calls records the task in which each call was requested, and counts the calls that are still
// open.
func (c *cutter) calls() {
	open := map[key]bool{}
	for n, l := range c.logs {
		for _, r := range l.Calls {
			if l.is[r.Line] && !r.Answer && r.Call != (key{}) {
				if _, have := c.asked[r.Call]; !have {
					c.asked[r.Call], open[r.Call] = c.task(n, r.Line), true
				}
			}
		}
	}

	// A call is open if no log answers it.
	for _, l := range c.logs {
		for _, r := range l.Calls {
			if r.Answer && l.is[r.Line] {
				delete(open, r.Call)
			}
		}
	}

	for call := range open {
		c.tasks[c.asked[call]].Open++
	}
}

// cut assigns the lines of a log to tasks. An answer belongs to the task that requested the call.
func (c *cutter) cut(log int) {
	l := c.logs[log]
	moved := map[int]int{}
	for _, r := range l.Calls {
		if to, have := c.asked[r.Call]; have && r.Answer {
			moved[r.Line] = to
		}
	}

	from, count := int64(0), -1
	session := -1 // the line that describes the session
	begun := make([]bool, len(c.tasks))

	for n, m := range l.Lines {
		to, have := moved[n]
		if !have {
			to = c.task(log, n)
		}
		t := c.tasks[to]
		part := &t.Parts[log]

		// Each task needs the description of the session, and the usage of the session before the
		// task.
		aside := m.OfSession && c.apart
		if aside && session < 0 {
			session = n
		}
		if l.is[n] && !aside {
			if !m.OfSession && !begun[to] {
				begun[to] = true
				part.tell(l.Outline, min(session, count))
				part.tell(l.Outline, max(session, count))
			}
			part.add(Span{from, m.End})
			t.stretch(m.At)
			t.Cut = t.Cut || l.Cut && n == len(l.Lines)-1
		}
		if m.Counts {
			count = n
		}
		from = m.End
	}
}
