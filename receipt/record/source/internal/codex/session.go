package codex

import (
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
