package others

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// atif reads trajectories in the Agent Trajectory Interchange Format, version 1. Each trajectory is
// one object.
type atif struct {
	s    *story.Story
	read map[canon.Digest]bool
}

// NewATIF returns a reader of ATIF trajectories.
func NewATIF(s *story.Story) story.Reader {
	s.Estimated = true
	s.Lacks(story.EffectsUnlogged)
	return &atif{s, map[canon.Digest]bool{}}
}

// Line reads a trajectory.
func (r *atif) Line(n canon.Node) {
	s, agent, steps := r.s, n.Member("agent"), n.Member("steps")
	if agent.Kind() != canon.KindObject || steps.Kind() != canon.KindArray {
		s.Lacks(story.GarbledPart)
	}
	sum := canon.Sum(n.Raw())
	if r.read[sum] {
		return // a copy
	}
	r.read[sum] = true
	session := cmp.Or(s.Name(n.Member("session_id")), s.Name(n.Member("trajectory_id")))
	s.Names(session)
	s.Program = cmp.Or(s.Program, s.Name(agent.Member("name")))
	s.Version(s.Name(agent.Member("version")))
	s.Model = cmp.Or(s.Model, s.Name(agent.Member("model_name")))
	if !event.Absent(n.Member("continued_trajectory_ref")) {
		s.Lacks(story.PartMissing)
	}

	all := &account{session: session, chosen: s.Name(agent.Member("model_name"))}
	seen := map[canon.Digest]bool{}
	for x := range s.Objects(steps) {
		sum := canon.Sum(x.Raw())
		if numbered := !event.Absent(x.Member("step_id")); numbered && seen[sum] {
			continue // a copy
		}
		seen[sum] = true
		s.Keep(len(sum))
		r.step(x, all)
	}
	all.tell(s, n.Member("final_metrics"))
}

// step reads a step. Steps with the source "system" are callbacks of a framework.
func (r *atif) step(n canon.Node, all *account) {
	s := r.s
	s.Stamped(n.Member("timestamp"))
	switch by := n.Member("source"); by.String() {
	case "user":
		s.Prompt(s.Session()+"/"+string(n.Member("step_id").Raw()), n.Member("message"))
	case "agent":
		s.Model = cmp.Or(s.Model, s.Name(n.Member("model_name")))
		all.add(s, n)
	case "system":
	default:
		s.Unknown("step/", by)
	}

	for c := range s.Objects(n.Member("tool_calls")) {
		story.Tools{}.Ask(s, c.Member("tool_call_id"), c.Member("function_name"), c.Member("arguments"))
	}

	// Results do not specify an outcome, and some results do not belong to any call.
	seen := n.Member("observation")
	if !event.Absent(seen) && seen.Kind() != canon.KindObject {
		s.Lacks(story.GarbledPart)
	}
	for x := range s.Objects(seen.Member("results")) {
		if id := x.Member("source_call_id"); !event.Absent(id) {
			s.Answer(id, story.Unreported, x.Member("content"))
		}
		for ref := range s.Objects(x.Member("subagent_trajectory_ref")) {
			r.handoff(ref)
		}
	}
}

// handoff reads a reference to another agent's trajectory. That trajectory is stored in a separate
// file.
func (r *atif) handoff(ref canon.Node) {
	s := r.s
	path := s.Name(ref.Member("trajectory_path"))
	id := cmp.Or(path, s.Name(ref.Member("session_id")), s.Name(ref.Member("trajectory_id")))
	if id == "" {
		s.Lacks(story.HandoffUnclear)
		return
	}
	s.Handoff(id, "")
	s.Missing(id)
}

// End has nothing to record.
func (r *atif) End() {}
