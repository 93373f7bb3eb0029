package codex

import (
	"cmp"

	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// Files are the rollouts of a task.
type files []*file

// tell tells what the sessions took. Where a log has no counts, the records of responses have
// the same totals.
func (all files) tell(s *story.Story) {
	for _, f := range all {
		if len(f.counts) == 0 {
			f.counts, f.ordinals = f.records, make([]int64, len(f.records))
		}
	}
	for _, f := range all {
		all.took(s, f)
	}
}

// took adds what a session took itself, from its last count.
func (all files) took(s *story.Story, f *file) {
	if len(f.counts) == 0 {
		return
	}
	own, part, known := all.own(f)
	if !known {
		orphan(s)
		return
	}
	if own.input < 0 || own.output < 0 || all.byID(f.id) != f { // told by another file of the session
		return
	}

	model := ""
	if len(f.models) == 1 {
		model = f.models[0]
	}
	s.Took(story.Sum{Model: model, Provider: f.provider, Usage: own.told(part)})
}

// own returns what a session took itself, and whether that is only a part of it. The count of
// a fork begins with that of its parent, so without the parent it is not known.
func (all files) own(f *file) (own usage, part, known bool) {
	own, part = f.most()
	part = part || f.garbled
	switch {
	case f.strange:
		return own, part, false
	case f.before != nil && own.covers(*f.before):
		own = own.minus(*f.before)
	case f.before != nil: // it began again
		part = true
	case f.inherited != nil && own.covers(*f.inherited):
		own = own.minus(*f.inherited)
	case f.inherited != nil: // it counts its own use alone
	case f.base != "" || f.forkedFrom != "":
		parent := all.byID(cmp.Or(f.base, f.forkedFrom))
		if parent == nil || parent == f {
			return own, part, false
		}
		if shared, ok := parent.shared(f, own); ok {
			own = own.minus(shared)
		}
	}
	return own, part, true
}

// orphan says that nobody can tell what a fork took.
func orphan(s *story.Story) {
	s.Note("forks_without_their_parent")
	s.Lacks(story.TokensUntold)
}

// byID returns the rollout of a session. Of two the longer one tells all.
func (all files) byID(id string) (found *file) {
	for _, f := range all {
		if f.id == id && (found == nil || len(f.counts) > len(found.counts)) {
			found = f
		}
	}
	return found
}
