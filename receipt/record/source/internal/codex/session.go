package codex

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A file is the rollout of one session.
type file struct {
	id, forkedFrom string
	provider       string
	models         []string
	counts         []usage // so far, each time that one was told
	ordinals       []int64 // of the lines that told them
	records        []usage // the same, by the records of single responses
	garbled        bool    // one of them could not be read
	strange        bool    // they may be those of a fork that is none of this session
	eldest         string  // the session that the last that was named was forked from
	before         *usage  // what was taken before the task; nil is not told

	// A subagent's log may begin with lines of its parent, and a fork's leaves them out.
	ordinal   int64
	start     *int64 // ordinal of the first line of its own
	inherited *usage // what the parent had taken before that
	base      string // the session in which it began
	baseEnd   *int64 // ordinal of the first line of that session that is not its own history
}

// maxCounts bounds the counts that are kept of a session; the last one always is.
const maxCounts = 1 << 18

// count notes what the session took so far. It is told again and again.
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

// record notes what the session took so far, as the record of one response has it. It repeats
// the counts, and is used if there are none.
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

// inherits reports whether a line is a copy of one of the parent's. What the parent had taken
// until then is noted.
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

// until is what the session had taken before the line of an ordinal.
func (f *file) until(end *int64) (last usage, ok bool) {
	for i, u := range f.counts {
		if end != nil && f.ordinals[i] < *end {
			last, ok = u, true
		}
	}
	return last, ok
}

// most is the largest count of a session, and whether a later one was smaller: some
// sessions that are resumed begin again, and the largest is what they took at least.
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

// sharedWith is the last count that a session has in common with its fork.
func (f *file) sharedWith(fork *file) (last usage, ok bool) {
	for i := range min(len(f.counts), len(fork.counts)) {
		if f.counts[i] != fork.counts[i] {
			break
		}
		last, ok = f.counts[i], true
	}
	return last, ok
}

// shared returns the part of a fork's count that was counted before the fork began, if the
// two logs show it.
func (f *file) shared(fork *file, own usage) (last usage, ok bool) {
	if fork.base == "" {
		return f.sharedWith(fork)
	}
	last, ok = f.until(fork.baseEnd)
	return last, ok && own.covers(last)
}

// behind takes what follows of another session: of the one that was forked, and the one that
// that was forked from. Any other is a session of its own, in a log that somebody put
// together, and where that is a fork, the counts are neither's.
func (f *file) behind(id, forkedFrom string) {
	switch {
	case id == f.eldest:
		f.eldest = forkedFrom
	case id != f.id && forkedFrom != "":
		f.strange = true
	}
}

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

// A usage is what a session or a turn took. Input has what was cached in it, and output
// what was thought.
type usage struct {
	input, output          int64
	read, written, thought part
}

// A part is a count within another, which not every version tells.
type part struct {
	n    int64
	told bool
}

// usageOf reads a usage; ok is false where there is none.
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

// plus adds. A part that one of both does not tell is not told of the sum.
func (u usage) plus(v usage) usage {
	return usage{u.input + v.input, u.output + v.output, u.read.plus(v.read), u.written.plus(v.written), u.thought.plus(v.thought)}
}

// minus is what a session took since it had taken another usage.
func (u usage) minus(v usage) usage {
	return usage{u.input - v.input, u.output - v.output, u.read.plus(v.read.negative()), u.written.plus(v.written.negative()), u.thought.plus(v.thought.negative())}
}

// covers reports whether a session that goes on may have taken u after v.
func (u usage) covers(v usage) bool { return u.input >= v.input && u.output >= v.output }

func (p part) plus(q part) part { return part{p.n + q.n, p.told && q.told} }
func (p part) negative() part   { return part{-p.n, p.told} }

// count is the part as it is told: nil where it is not, or can be none.
func (p part) count() *int64 {
	if !p.told || p.n < 0 {
		return nil
	}
	return &p.n
}

// told is the usage as a story has it.
func (u usage) told(floor bool) story.Usage {
	return story.Usage{
		Input: &u.input, CacheRead: u.read.count(), CacheWrite: u.written.count(), InputFloor: floor,
		Output: &u.output, Reasoning: u.thought.count(), Floor: floor,
	}
}

// more orders by all that was taken.
func (u usage) more(v usage) bool { return u.input+u.output > v.input+v.output }
