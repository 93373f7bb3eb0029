package codex

import "github.com/receiptkit/receiptkit/receipt/record/source/internal/story"

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

// took tells the last count of a session. That of a fork began with its parent's, and
// without that nobody can say what it took itself.
func (all files) took(s *story.Story, f *file) {
	if len(f.counts) == 0 {
		return
	}
	own, part := f.most()
	part = part || f.garbled
	switch {
	case f.strange:
		orphan(s)
		return
	case f.before != nil && own.covers(*f.before):
		own = own.minus(*f.before)
	case f.before != nil: // it began again
		part = true
	case f.inherited != nil && own.covers(*f.inherited):
		own = own.minus(*f.inherited)
	case f.inherited != nil: // it counts its own use alone
	case f.base != "":
		parent := all.byID(f.base)
		if parent == nil || parent == f {
			orphan(s)
			return
		}
		if shared, ok := parent.until(f.baseEnd); ok && own.covers(shared) {
			own = own.minus(shared)
		}
	case f.forkedFrom != "":
		parent := all.byID(f.forkedFrom)
		if parent == nil || parent == f {
			orphan(s)
			return
		}
		if shared, ok := parent.sharedWith(f); ok {
			own = own.minus(shared)
		}
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

// orphan says that nobody can tell what a fork took.
func orphan(s *story.Story) {
	s.Note("forks_without_their_parent")
	s.Untold("/autonomy_budget/consumed/input_tokens", "/autonomy_budget/consumed/output_tokens", "/cost/provider_breakdown")
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
