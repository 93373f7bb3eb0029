package record

import (
	"maps"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A sourced value describes a log that another agent wrote, and lists the locations in the draft
// for which the log contains no value. The zero value represents a log of the protocol's events.
type sourced struct {
	is, timed, estimated bool
	partial              bool   // a part of the log is missing or unreadable
	wall                 *int64 // in milliseconds, as counted by the source
	logs                 []receipt.Material
	unreported, atLeast  []string
	inferred             []string
	metadata             receipt.Object
	ended                bool // the task has ended, but the log does not record the outcome
}

// Placeholders for unreported values; noTier is the weakest tier.
const (
	noName = "unknown"
	noTier = "shadow"
)

// sourceRead records the description of the source.
func sourceRead(r *run, e *event.Event) {
	s, p := &r.sourced, e.Payload
	s.is, s.timed, s.estimated = true, e.Flag(p, "timed"), e.Flag(p, "estimated")
	s.partial = e.Flag(p, "partial")
	s.wall = e.OptionalCount(p, "wall_time_ms")
	s.unreported, s.atLeast = places(r, e, "unreported"), places(r, e, "at_least")
	s.inferred = places(r, e, "inferred")
	r.models.spoke = true // another agent's log does not contain all of the model's answers

	r.ids.identify("/identifiers/workspace_ref", &r.ids.WorkspaceRef, e.Text(p, "workspace_ref"))
	workspaceOf(r, e)
	first(&r.ids.TraceID, e.Text(p, "trace_id"))
	first(&r.ids.policy, e.Text(p, "policy_ref"))
	if m := p.Member("model"); !event.Absent(m) {
		r.models.chosen = &receipt.Model{Provider: e.Text(m, "provider"), Model: e.Text(m, "model")}
	}

	s.readLogs(r, e)
	s.metadata = receipt.Object{"source": s.about(r, e)}
	r.unread.add(r, e)
	if c := p.Member("write_continuity"); !event.Absent(c) {
		s.metadata["write_continuity"] = continuity(r, e, c)
	}
}

// workspaceOf sets the directories of the agent. If the workspace is a worktree, the directories
// include its repository.
func workspaceOf(r *run, e *event.Event) {
	root := e.Text(e.Payload, "workspace_root")
	if r.options.WorkspaceRoot == "" && len(root) > 1 {
		r.options.WorkspaceRoot = strings.TrimRight(root, "/")
	}
	roots := []string{r.options.WorkspaceRoot, root}
	for _, other := range words(r, e, e.Payload, "workspace_roots") {
		roots = append(roots, other.(string))
	}

	// Worktrees that agents create belong to their repository.
	for _, dir := range roots {
		roots = append(roots, event.Worktree(dir))
	}
	r.effects.workspace = event.NewWorkspace(roots...)
}

// readLogs records the digest of each log file, because a replay needs the files.
func (s *sourced) readLogs(r *run, e *event.Event) {
	for _, l := range e.Elements(e.Payload, "logs") {
		if r.Room(e); e.Err != nil {
			return
		}
		m := receipt.Material{Kind: "event_log", ID: "source_log:" + e.Text(l, "name"), SHA256: e.Digest(l, "sha256"), Metadata: receipt.Object{"cut": e.Flag(l, "cut")}}

		// The member "cut" is kept only for a truncated log, and counts that the source does not
		// record are omitted.
		if m.Metadata["cut"] == false {
			delete(m.Metadata, "cut")
		}
		for _, name := range []string{"bytes", "lines", "unreadable_lines", "repaired_lines", "overlong_lines"} {
			if n := e.OptionalCount(l, name); n != nil {
				m.Metadata[name] = *n
			}
		}
		s.logs = append(s.logs, m)
	}
}

// about returns the source's description of itself.
func (s *sourced) about(r *run, e *event.Event) receipt.Object {
	about := e.Payload.Member("about")
	o := receipt.Object{"kind": e.Required(e.Payload, "kind")}
	for _, name := range []string{"versions", "sessions", "git_branches"} {
		if list := words(r, e, about, name); len(list) > 0 {
			o[name] = list
		}
	}

	// The draft contains the number of prompts and their digest, but not the prompts themselves.
	if p := e.Payload.Member("prompts"); !event.Absent(p) {
		prompts := receipt.Object{"count": e.Count(p, "count")}
		if d := e.Digest(p, "sha256"); !d.IsZero() {
			prompts["sha256"] = d.String()
		}
		o["prompts"] = prompts
	}
	for _, name := range []string{"agent", "git_commit"} {
		if text := e.Text(about, name); text != "" {
			o[name] = text
		}
	}
	for _, name := range []string{"hooks", "counted"} {
		if counts := countsIn(r, e, about.Member(name)); len(counts) > 0 {
			o[name] = counts
		}
	}

	// The sums cover all logs. The material of each log contains the counts for that log.
	for _, name := range []string{"unreadable_lines", "repaired_lines", "overlong_lines"} {
		sum := int64(0)
		for _, l := range s.logs {
			n, _ := l.Metadata[name].(int64)
			sum += n
		}
		if sum > 0 {
			o[name] = sum
		}
	}
	return o
}

// continuity counts the pairs of successive writes to the same path, grouped by whether the second
// write started from the result of the first. It also returns the paths that something else changed
// between two writes. These paths are not yet in the form that the list of writes uses; the
// function placed converts them.
func continuity(r *run, e *event.Event, n canon.Node) receipt.Object {
	o := receipt.Object{}
	for _, name := range []string{"pairs", "held", "broken", "unchecked"} {
		o[name] = e.Count(n, name)
	}

	// These files changed between two calls, although no write was recorded.
	list := []any{}
	for _, p := range e.Elements(n, "changed_outside") {
		if r.Part(e); e.Err != nil {
			return o
		}
		list = append(list, receipt.Object{"path": e.Text(p, "path"), "from_call": e.Text(p, "from_call"), "to_call": e.Text(p, "to_call"), "note": "changed outside the listed writes"})
	}
	if len(list) > 0 {
		o["changed_outside"] = list
	}
	return o
}

// placed returns a continuity with its paths in the form that the list of writes uses.
func placed(c receipt.Object, w *event.Workspace) receipt.Object {
	c = maps.Clone(c)
	list, ok := c["changed_outside"].([]any)
	if !ok {
		return c
	}
	list = slices.Clone(list)
	for i, x := range list {
		pair := maps.Clone(x.(receipt.Object))
		pair["path"] = placeOf(w, pair["path"].(string))
		list[i] = pair
	}
	c["changed_outside"] = list
	return c
}

// words reads a list of strings. Each string is stored, and counted toward the limits.
func words(r *run, e *event.Event, of canon.Node, name string) (list []any) {
	for _, n := range of.Member(name).Elements() {
		if r.Part(e); e.Err != nil {
			return list
		}
		list = append(list, e.Once(n.Text()))
	}
	return list
}

// places reads a list of JSON Pointers into the draft.
func places(r *run, e *event.Event, name string) (list []string) {
	for _, w := range words(r, e, e.Payload, name) {
		at := w.(string)
		if _, err := canon.ParsePointer(at); err != nil || at == "" {
			e.Fail(event.CodePayload, e.Payload.Member(name), "expected JSON Pointers into the draft")
			return nil
		}
		list = append(list, at)
	}
	return list
}

// countsIn reads an object of counts.
func countsIn(r *run, e *event.Event, n canon.Node) receipt.Object {
	// The number of names is limited, because they come from the log.
	o := receipt.Object{}
	for name := range n.Members() {
		if r.Part(e); e.Err != nil || len(o) >= event.MaxPaths {
			return o
		}
		o[e.Once([]byte(event.Shorten(name.String())))] = e.Count(n, name.String())
	}
	return o
}

// sourceEnded ends a task whose outcome is not recorded.
func sourceEnded(r *run, e *event.Event) {
	ended("CANCELED")(r, e)
	r.canceledBy, r.cancelWhy = "", ""
	r.sourced.ended = true
}

// complete adds placeholders for unreported values, and records their locations.
func (s *sourced) complete(d *receipt.Draft, o Options, w *event.Workspace, t *telling) {
	if !s.is {
		return
	}
	d.Identifiers.WorkspaceRef = t.name("/identifiers/workspace_ref", d.Identifiers.WorkspaceRef, noName)
	d.Identifiers.SessionID = t.name("/identifiers/session_id", d.Identifiers.SessionID, noName)
	d.Trust.StartTier = t.name("/trust/start_tier", d.Trust.StartTier, noTier)
	d.Trust.EndTier = t.name("/trust/end_tier", d.Trust.EndTier, noTier)
	if s.ended {
		t.untold("/lifecycle/final_state")
	}

	for _, at := range s.unreported {
		if at != "/issued_at" || o.IssuedAt.IsZero() {
			t.untold(at)
		}
	}
	for _, at := range s.atLeast {
		t.floor(at)
	}
	for _, at := range s.inferred {
		t.infer(at)
	}

	// If tokens were not recorded, some may have been used, so they are unreported.
	for at, n := range map[string]*int64{"input_tokens": d.AutonomyBudget.Consumed.InputTokens, "output_tokens": d.AutonomyBudget.Consumed.OutputTokens} {
		if n == nil {
			t.untold("/autonomy_budget/consumed/" + at)
		}
	}

	// If times are missing, the duration is unreported, unless the source counted it.
	if !s.timed {
		d.AutonomyBudget.Consumed.WallTimeMS = nil
	}
	if s.wall != nil {
		d.AutonomyBudget.Consumed.WallTimeMS = s.wall
	}
	for name, value := range s.metadata {
		d.Metadata[name] = value
	}
	if c, ok := s.metadata["write_continuity"].(receipt.Object); ok {
		d.Metadata["write_continuity"] = placed(c, w)
	}
}
