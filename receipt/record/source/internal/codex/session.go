package codex

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A file contains the data of the rollout of one session.
type file struct {
	id, forkedFrom string
	provider       string
	models         []string
	counts         []usage // cumulative usage, with one entry for each line that records it
	ordinals       []int64 // ordinals of the lines with these counts
	records        []usage // cumulative usage according to the records of single responses
	garbled        bool    // a count could not be read
	strange        bool    // the counts may belong to a fork of a different session
	eldest         string  // parent of the session that was named last
	before         *usage  // the usage before the task; nil if no line records it

	// The log of a subagent may begin with lines from its parent. The log of a fork does not
	// contain such lines.
	ordinal   int64
	start     *int64 // ordinal of the first line that belongs to the session itself
	inherited *usage // usage of the parent before that line
	base      string // the session in which this session began
	baseEnd   *int64 // ordinal of the first line in base that is not part of this session's history
}

// maxCounts is the maximum number of counts that are stored per session. The last count is always
// stored.
const maxCounts = 1 << 18

// count records the cumulative usage of the session, which many lines contain.
func (f *file) count(info canon.Node) {
	total := info.Member("total_token_usage")
	u, ok := usageOf(total)
	if !ok {
		f.garbled = f.garbled || !event.Absent(total) || !event.Absent(info) && info.Kind() != canon.KindObject
		return
	}
	if len(f.counts) == maxCounts {
		f.counts, f.ordinals = f.counts[:maxCounts-1], f.ordinals[:maxCounts-1]
	}
	f.counts, f.ordinals = append(f.counts, u), append(f.ordinals, f.ordinal)
}

// record reads the cumulative usage of the session in the record of one response. These records
// repeat the counts, and are used only if there are no counts.
func (f *file) record(total canon.Node) {
	u, ok := usageOf(total)
	if !ok {
		f.garbled = f.garbled || !event.Absent(total)
		return
	}
	if len(f.records) == maxCounts {
		f.records = f.records[:maxCounts-1]
	}
	f.records = append(f.records, u)
}

// inherits reports whether a line is a copy of a line of the parent session. It records the usage
// of the parent up to that line.
func (f *file) inherits(n canon.Node) bool {
	ordinal := story.Count(n.Member("ordinal"))
	if ordinal == nil {
		return false
	}
	f.ordinal = *ordinal

	kind, p := n.Member("type").String(), n.Member("payload")
	if f.start == nil || *ordinal >= *f.start || kind == "session_meta" {
		return false
	}
	if u, ok := usageOf(p.Member("info").Member("total_token_usage")); ok {
		f.inherited = &u
	}

	return true
}

// until returns the usage of the session before the line with the given ordinal.
func (f *file) until(end *int64) (last usage, ok bool) {
	for i, u := range f.counts {
		if end != nil && f.ordinals[i] < *end {
			last, ok = u, true
		}
	}
	return last, ok
}

// most returns the largest count of a session, and reports whether a later count was smaller. Some
// sessions restart their counts when they are resumed, so the largest count is a lower bound.
func (f *file) most() (most usage, fell bool) {
	for _, u := range f.counts {
		if u.input < most.input || u.output < most.output {
			fell = true
		}
		if u.more(most) {
			most = u
		}
	}
	return most, fell
}

// sharedWith returns the last count that a session has in common with its fork.
func (f *file) sharedWith(fork *file) (last usage, ok bool) {
	for i := range min(len(f.counts), len(fork.counts)) {
		if f.counts[i] != fork.counts[i] {
			break
		}
		last, ok = f.counts[i], true
	}
	return last, ok
}

// shared returns the part of a fork's count that precedes the fork, if both logs contain it.
func (f *file) shared(fork *file, own usage) (last usage, ok bool) {
	if fork.base == "" {
		return f.sharedWith(fork)
	}
	last, ok = f.until(fork.baseEnd)
	return last, ok && own.covers(last)
}

// behind reads the description of another session in the same rollout. It may be the session from
// which this session was forked, or an ancestor of that session. Any other session was added by the
// person who assembled the log. If the other session is a fork, the counts may belong to either
// session.
func (f *file) behind(id, forkedFrom string) {
	switch {
	case id == f.eldest:
		f.eldest = forkedFrom
	case id != f.id && forkedFrom != "":
		f.strange = true
	}
}

// files contains the rollouts of a task.
type files []*file

// tell records the usage of the sessions. If a log has no counts, the totals in the records of
// responses are used.
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

// took adds the usage of a session, without the usage of its parent, based on the largest count.
func (all files) took(s *story.Story, f *file) {
	if len(f.counts) == 0 {
		return
	}
	own, part, known := all.own(f)

	// The usage of a fork is unknown without its parent.
	if !known {
		s.Note("forks_without_their_parent")
		s.Lacks(story.TokensUntold)
		return
	}

	// Another file of the session records the usage.
	if own.input < 0 || own.output < 0 || all.byID(f.id) != f {
		return
	}

	model := ""
	if len(f.models) == 1 {
		model = f.models[0]
	}
	s.Took(story.Sum{Model: model, Provider: f.provider, Usage: own.told(part)})
}

// own returns the usage of a session without its parent's usage, and reports whether this usage is
// a lower bound, and whether it is known. The count of a fork includes the count of its parent, so
// the fork's own usage is unknown without the parent.
func (all files) own(f *file) (own usage, part, known bool) {
	own, part = f.most()
	part = part || f.garbled
	switch {
	case f.strange:
		return own, part, false
	case f.before != nil && own.covers(*f.before):
		own = own.minus(*f.before)
	// The session restarted its count.
	case f.before != nil:
		part = true
	case f.inherited != nil && own.covers(*f.inherited):
		own = own.minus(*f.inherited)
	// The session counts only its own usage.
	case f.inherited != nil:
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

// byID returns the rollout of a session. If there are two rollouts, the longer rollout is used.
func (all files) byID(id string) (found *file) {
	for _, f := range all {
		if f.id == id && (found == nil || len(f.counts) > len(found.counts)) {
			found = f
		}
	}
	return found
}

// usage contains the token counts of a session or of a turn. The input includes cached tokens, and
// the output includes reasoning.
type usage struct {
	input, output          int64
	read, written, thought part
}

// A part is a component of a count that only some versions report.
type part struct {
	n    int64
	told bool
}

// usageOf parses token counts. If the input or the output is missing, ok is false.
func usageOf(n canon.Node) (u usage, ok bool) {
	input, output := story.Count(n.Member("input_tokens")), story.Count(n.Member("output_tokens"))
	if input == nil || output == nil {
		return usage{}, false
	}
	return usage{*input, *output, partOf(n, "cached_input_tokens"), partOf(n, "cache_write_input_tokens"), partOf(n, "reasoning_output_tokens")}, true
}

func partOf(n canon.Node, name string) part {
	if count := story.Count(n.Member(name)); count != nil {
		return part{*count, true}
	}
	return part{}
}

// plus returns the sum of u and v. A part of the sum is stated only if it is stated in both
// operands.
func (u usage) plus(v usage) usage {
	return usage{u.input + v.input, u.output + v.output, u.read.plus(v.read), u.written.plus(v.written), u.thought.plus(v.thought)}
}

// minus subtracts earlier usage.
func (u usage) minus(v usage) usage {
	return usage{u.input - v.input, u.output - v.output, u.read.plus(v.read.negative()), u.written.plus(v.written.negative()), u.thought.plus(v.thought.negative())}
}

// covers reports whether u can be the cumulative usage of a session that continues from v.
func (u usage) covers(v usage) bool { return u.input >= v.input && u.output >= v.output }

func (p part) plus(q part) part { return part{p.n + q.n, p.told && q.told} }
func (p part) negative() part   { return part{-p.n, p.told} }

// count returns the part, or nil if it is not stated or is negative.
func (p part) count() *int64 {
	if !p.told || p.n < 0 {
		return nil
	}
	return &p.n
}

// told converts the usage to a Usage of package story.
func (u usage) told(floor bool) story.Usage {
	return story.Usage{
		Input: &u.input, CacheRead: u.read.count(), CacheWrite: u.written.count(), InputFloor: floor,
		Output: &u.output, Reasoning: u.thought.count(), Floor: floor,
	}
}

// more reports whether u contains more tokens than v in total.
func (u usage) more(v usage) bool { return u.input+u.output > v.input+v.output }
