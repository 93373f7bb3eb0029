package story

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// tell passes the events of a story to add.
func tell(s *Story, task string, add func([]byte) error) error {
	// A story that exceeded a limit is incomplete, so no events are passed.
	if s.settleMentions(); s.err != nil {
		return s.err
	}
	s.Messages.complete()

	t := &teller{Story: s, task: cmp.Or(task, s.TaskID()), add: add}
	begun, over := orEpoch(s.first), orEpoch(s.last)
	t.emit("source.read", begun, t.about())
	t.emit("task.started", begun, event.Members{"autonomy_tier": s.tiers[0].name})

	for _, d := range t.deeds(over) {
		t.emit(d.kind, d.at.at, d.payload())
	}
	if amount := s.account(); amount != "" {
		t.emit("span.updated", over, event.Members{"kind": "usage", "cost": dollars(amount)})
	}

	end := event.Members{"autonomy_tier": s.tiers[1].name}
	if s.Failure != "" {
		end["failure"] = event.Members{"code": s.Failure}
	}
	t.emit(ending(s.Ended()), over, end)
	return t.err
}

// orEpoch returns the time at, or the start of 1970 as a placeholder if no line records the time.
// The receipt lists such a time as unreported.
func orEpoch(at time.Time) time.Time {
	if at.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return at
}

// ending returns the type of the event that ends the task.
func ending(end End) string {
	switch end {
	case EndSucceeded:
		return "task.completed"
	case EndFailed:
		return "task.failed"
	case EndCanceled:
		return "task.canceled"
	}

	return "source.ended"
}

// A teller writes events.
type teller struct {
	*Story
	task string
	text []byte // of the latest event
	told int64
	add  func([]byte) error
	err  error
}

func (t *teller) emit(kind string, at time.Time, payload event.Members) {
	if t.err != nil {
		return
	}
	t.told++
	t.text = event.Members{
		"object": "event", "id": strconv.FormatInt(t.told, 10), "event": kind, "sequence": t.told, "created_at": receipt.At(orEpoch(at)).String(),
		"task_id": t.task, "session_id": t.Session(), "resource": event.Members{"object": "task", "id": t.task}, "payload": payload,
	}.Append(t.text[:0])
	t.err = t.add(t.text)
}

// about describes the logs and the gaps in them.
func (t *teller) about() event.Members {
	s := t.Story
	timed := !s.first.IsZero() && !s.Partly
	about := event.Members{
		"agent": s.Program, "versions": s.Versions, "git_branches": s.Branches, "git_commit": s.Commit, "hooks": counts(s.hooks.ran()), "counted": counts(s.notes),
	}
	if len(s.sessions.all) > 1 {
		about["sessions"] = s.sessions.all
	}
	p := event.Members{
		"kind": s.Kind, "workspace_ref": refOf(s.Workspace), "workspace_root": s.Workspace, "workspace_roots": s.Roots, "policy_ref": s.Policy, "trace_id": s.Trace,
		"wall_time_ms": s.Wall, "timed": timed, "estimated": s.Estimated, "partial": s.partial || slices.ContainsFunc(s.Logs, (*Log).lacks),
		"logs": list(s.Logs, (*Log).members), "ignored_records": counts(s.ignored), "write_continuity": continuityOf(s.Calls.list.Order).members(),
		"prompts": s.prompts.members(), "about": about,
	}

	// The log may lack the name of the model or the outcome of the task.
	if s.Model != "" {
		p["model"] = event.Members{"provider": s.Provider, "model": s.Model}
	}
	if s.Inferred && s.Ended() != EndUnknown {
		p["inferred"] = []string{"/lifecycle/final_state"}
	}

	untold, floor := t.missing(timed)
	p["unreported"], p["at_least"] = sortedOnce(append(untold, floor...)), sortedOnce(floor)
	return p
}

// missing lists the parts of the receipt that are unreported, and the parts that are lower bounds.
func (t *teller) missing(timed bool) (untold, floor []string) {
	s := t.Story
	untold, floor = slices.Clone(s.untold), slices.Clone(s.atLeast)
	if s.first.IsZero() {
		untold = append(untold, "/issued_at")
	}

	switch {
	case !timed:
		untold = append(untold, "/lifecycle/started_at", "/lifecycle/completed_at")
	// The last line that was read may not be the end of the task.
	case s.open():
		untold = append(untold, "/lifecycle/completed_at")
		if s.Wall == nil {
			floor = append(floor, "/autonomy_budget/consumed/wall_time_ms")
		}
	}

	// Unless the logs record every decision, the list of decisions is incomplete.
	if !s.Decided {
		untold = append(untold, "/approvals")
		for c := range s.Asked() {
			if c.outcome == Rejected || !c.approved.IsZero() {
				floor = append(floor, "/approvals")
				break
			}
		}
	}

	return untold, floor
}

func sortedOnce(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// counts returns the member for named counts, or nil if there are none.
func counts(of map[string]int) any {
	if len(of) == 0 {
		return nil
	}
	m := event.Members{}

	for name, n := range of {
		m[name] = int64(n)
	}

	return m
}

// list returns an array of objects, which may be empty.
func list[T any](of []T, members func(T) event.Members) any {
	if len(of) == 0 {
		return event.Raw("[]")
	}
	all := make([]event.Members, len(of))

	for i, x := range of {
		all[i] = members(x)
	}

	return all
}

// refOf returns the name of a workspace: the last element of its path, followed by the first 32
// bits of the path's SHA-256. The name is part of the name of the receipt's stream, and projects in
// different directories may have the same last element. All worktrees of a repository have the name
// of the repository.
func refOf(path string) string {
	path = cmp.Or(event.Worktree(path), path)
	path = strings.TrimRight(strings.ReplaceAll(path, `\`, "/"), "/")
	base := path[strings.LastIndexByte(path, '/')+1:]

	// A path without a directory does not show where the project is.
	if base == "" || base == path {
		return base
	}

	// Windows ignores the case of a drive letter.
	if len(path) > 1 && path[1] == ':' {
		path = strings.ToUpper(path[:1]) + path[1:]
	}
	sum := canon.Sum([]byte(path))
	return base + "." + hex.EncodeToString(sum[:4])
}

// A deed is an event of the story with its place.
type deed struct {
	at      Place
	kind    string
	payload func() event.Members
}

// deeds returns the events in time order. Sums do not belong to a particular line, so they follow
// all other events.
func (t *teller) deeds(over time.Time) (all []deed) {
	for _, m := range t.Messages.list.Order {
		if m.told {
			all = append(all, deed{m.first, "span.completed", m.members})
		}
	}

	for c := range t.Asked() {
		all = append(all, deed{c.asked, "tool.requested", c.ask})
		if !c.approved.IsZero() {
			all = append(all, deed{c.approved, "tool.approved", c.approval})
		}
		if kind := c.endKind(); kind != "" {
			all = append(all, deed{c.ended, kind, c.end})
			if len(c.claimed) > 0 && c.outcome == Succeeded {
				all = append(all, deed{c.ended, "agent.tool_result", c.claim})
			}
		}
	}

	// Handoffs and published results have their own places.
	for _, h := range t.Handoffs.list.Order {
		all = append(all, deed{h.first, "agent.handoff", h.members})
	}

	for _, p := range t.published.Order {
		all = append(all, deed{p.first, "artifact.linked", p.link})
		if p.tool != "" {
			all = append(all, deed{p.first, "span.completed", p.send})
		}
	}

	for _, x := range t.changes.Order {
		if !t.wrote(x.path) {
			all = append(all, deed{x.first, "span.completed", x.members})
		}
	}

	for i, x := range t.sums {
		all = append(all, deed{Place{over, t.order + i}, "span.completed", x.members})
	}

	slices.SortStableFunc(all, func(a, b deed) int { return byTime(a.at, b.at) })
	return all
}
