package story

import (
	"cmp"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

func orEpoch(at time.Time) time.Time {
	if at.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return at
}

// A teller writes events.
type teller struct {
	*Story
	task string
	text []byte
	told int
	add  func([]byte) error
	err  error
}

func (t *teller) emit(kind string, at time.Time, payload func(*object)) {
	if t.err != nil {
		return
	}
	t.told++
	number := strconv.Itoa(t.told)
	o := begin(t.text[:0])
	o.text("object", "event")
	o.text("id", number)
	o.text("event", kind)
	o.number("sequence", int64(t.told))
	o.text("created_at", receipt.At(orEpoch(at)).String())
	o.text("task_id", t.task)
	o.text("session_id", t.named)
	o.within("resource", func(o *object) { o.text("object", "task"); o.text("id", t.task) })
	o.within("payload", payload)
	t.text = o.end()
	t.err = t.add(t.text)
}

// about is what was read, and what of it is not told.
func (t *teller) about(o *object) {
	s := t.Story
	o.text("kind", s.Kind)
	o.text("workspace_ref", refOf(s.Workspace))
	o.text("workspace_root", s.Workspace)
	o.texts("workspace_roots", s.Roots)
	o.text("policy_ref", s.Policy)
	o.text("trace_id", s.Trace)
	if s.Model != "" {
		o.within("model", func(o *object) { o.text("provider", s.Provider); o.text("model", s.Model) })
	}
	o.count("wall_time_ms", s.Wall)
	o.is("timed", !s.first.IsZero() && !s.Partly)
	o.is("estimated", s.estimated)
	o.is("partial", s.partial || slices.ContainsFunc(s.logs, (*log).lacks))

	t.missing(o)
	list(o, "logs", s.logs, func(o *object, l *log) {
		o.text("name", l.name)
		o.digest("sha256", l.digest)
		o.number("bytes", l.bytes)
		o.number("lines", int64(l.lines))
		o.some("unreadable_lines", l.unreadable)
		o.some("repaired_lines", l.repaired)
		o.some("overlong_lines", l.overlong)
		o.is("cut", l.cut)
	})
	o.counts("ignored_records", s.ignored)
	t.continuity(o)
	s.prompts.write(o)

	o.within("about", func(o *object) {
		o.texts("versions", s.Versions)
		if len(s.sessions) > 1 {
			o.texts("sessions", s.sessions)
		}
		o.texts("git_branches", s.Branches)
		o.text("git_commit", s.Commit)
		o.counts("hooks", s.ran())
		o.counts("counted", s.notes)
	})
}

// missing lists what is not told. A list that has entries is no less true for that.
func (t *teller) missing(o *object) {
	s := t.Story
	untold, floor := slices.Clone(s.untold), slices.Clone(s.atLeast)
	if s.first.IsZero() || s.Partly {
		untold = append(untold, "/lifecycle/started_at", "/lifecycle/completed_at")
	}
	if s.first.IsZero() {
		untold = append(untold, "/issued_at")
	}

	// The last line of a log that is not over, or was cut, is no end of the task.
	if !s.first.IsZero() && !s.Partly && s.open() {
		untold = append(untold, "/lifecycle/completed_at")
		if s.Wall == nil {
			floor = append(floor, "/autonomy_budget/consumed/wall_time_ms")
		}
	}

	// Where no line tells that something was allowed, what is there may not be all.
	if !s.decided {
		untold = append(untold, "/approvals")
	}
	for _, c := range s.calls.Order {
		if !s.decided && c.requested && c.outcome == Rejected {
			floor = append(floor, "/approvals")
			break
		}
	}
	o.texts("unreported", slices.Compact(slices.Sorted(slices.Values(append(untold, floor...)))))
	o.texts("at_least", slices.Compact(slices.Sorted(slices.Values(floor))))
	if s.Inferred && s.Ended() != EndUnknown {
		o.texts("inferred", []string{"/lifecycle/final_state"})
	}
}

func (t *teller) continuity(o *object) {
	c := continuityOf(t.calls.Order)
	if c.Pairs+c.Unchecked == 0 {
		return
	}
	o.within("write_continuity", func(o *object) {
		o.number("pairs", int64(c.Pairs))
		o.number("held", int64(c.Held))
		o.number("broken", int64(c.Broken))
		o.number("unchecked", int64(c.Unchecked))
		list(o, "changed_outside", c.List, func(o *object, p Pair) {
			o.text("path", p.Path)
			o.text("from_call", p.From)
			o.text("to_call", p.To)
		})
	})
}

// A deed is an event of the story and its place.
type deed struct {
	at      Place
	kind    string
	payload func(*object)
}

// price writes an amount of dollars.
func price(o *object, amount string) {
	if amount != "" {
		o.within("cost", func(o *object) { o.text("amount", amount); o.text("currency", "USD") })
	}
}

func sorted[T any](of map[string]T) []string { return slices.Sorted(maps.Keys(of)) }

// refOf names a workspace: by the last name of its path, and by the first 32 bits of the
// path's SHA-256, because a receipt's stream has this name, and projects in different places
// may have one name. All worktrees of a repository are that repository.
func refOf(path string) string {
	path = cmp.Or(event.Worktree(path), path)
	path = strings.TrimRight(strings.ReplaceAll(path, `\`, "/"), "/")
	base := path[strings.LastIndexByte(path, '/')+1:]
	if base == "" || base == path { // nothing tells where it is
		return base
	}
	if len(path) > 1 && path[1] == ':' { // the case of a drive's letter means nothing
		path = strings.ToUpper(path[:1]) + path[1:]
	}
	sum := canon.Sum([]byte(path))
	return base + "." + hex.EncodeToString(sum[:4])
}

// begun and over are the instants between which all is told. Where no line tells any, the
// receipt says so.
func (t *teller) begun() time.Time { return orEpoch(t.first) }

func (t *teller) over() time.Time { return orEpoch(t.last) }

func (t *teller) ending() string {
	switch t.Ended() {
	case EndSucceeded:
		return "task.completed"
	case EndFailed:
		return "task.failed"
	case EndCanceled:
		return "task.canceled"
	}
	return "source.ended"
}

// usages compares what lines state of the parts of an input. A part that some lines state may be
// missing in others.
func (t *teller) usages() {
	var all []*Usage
	var stated Usage
	for _, m := range t.messages.Order {
		all = append(all, &m.usage)
	}
	for _, x := range t.sums {
		all = append(all, &x.Usage)
	}
	for _, u := range all {
		stated.CacheRead, stated.CacheWrite = cmp.Or(stated.CacheRead, u.CacheRead), cmp.Or(stated.CacheWrite, u.CacheWrite)
	}
	for _, u := range all {
		u.complete(stated)
	}
}

// deeds returns what happened, in the order of the instants.
func (t *teller) deeds() []deed {
	var all []deed
	t.usages()
	for _, m := range t.messages.Order {
		if m.told {
			all = append(all, deed{m.first, "span.completed", m.write})
		}
	}
	for _, c := range t.calls.Order {
		if c.requested {
			all = append(all, deed{c.asked, "tool.requested", c.ask})
		}
		if c.requested && !c.approved.IsZero() {
			all = append(all, deed{c.approved, "tool.approved", c.approval})
		}
		if kind := c.endKind(); kind != "" && c.requested {
			all = append(all, deed{c.ended, kind, c.end})
			if len(c.claimed) > 0 && c.outcome == Succeeded {
				all = append(all, deed{c.ended, "agent.tool_result", c.claim})
			}
		}
	}
	for _, h := range t.handoffs.Order {
		all = append(all, deed{h.first, "agent.handoff", h.write})
	}
	for _, p := range t.published.Order {
		all = append(all, deed{p.first, "artifact.linked", p.link})
		if p.tool != "" {
			all = append(all, deed{p.first, "span.completed", p.send})
		}
	}
	for i, x := range t.sums {
		all = append(all, deed{Place{t.over(), t.order + i}, "span.completed", x.write})
	}

	slices.SortStableFunc(all, func(a, b deed) int { return byTime(a.at, b.at) })
	return all
}
