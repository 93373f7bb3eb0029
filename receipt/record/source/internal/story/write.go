package story

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A State is the content of a file: unknown, a digest, or absent.
type State struct {
	Known  bool
	Digest canon.Digest // zero, with Known set, if the file did not exist
}

// Nothing is the state of a file that does not exist.
func Nothing() State { return State{Known: true} }

// Held returns the state of a file with the given content.
func Held(text []byte) State { return State{true, canon.Sum(text)} }

// member returns the digest, null if the file does not exist, or nil if the state is unknown.
func (s State) member() any {
	switch {
	case !s.Known:
		return nil
	case s.Digest.IsZero():
		return event.Raw("null")
	}

	return s.Digest
}

// A Write is one change to a file.
type Write struct {
	Path, Operation string // create, modify, or delete; "" if it is not stated
	Before, After   State
}

func (w Write) members() event.Members {
	return event.Members{"path": w.Path, "operation": w.Operation, "before_sha256": w.Before.member(), "after_sha256": w.After.member()}
}

// A change is a file that changed according to the source, but not through a known call.
type change struct {
	path  string
	first Place
}

func (x *change) members() event.Members {
	return event.Members{"kind": "fs", "path": x.path}
}

// A continuity describes whether each write to a path started from the result of the previous write
// to this path. If a write did not start from this result, something else changed the file between
// the two writes, such as a formatter that a hook ran.
type continuity struct {
	pairs, held, broken, unchecked int
	list                           []pair // the broken pairs, at most maxPairs
}

// A pair consists of two successive writes to one path, identified by their calls.
type pair struct{ path, from, to string }

// maxPairs is the maximum number of pairs that are listed; all pairs are counted.
const maxPairs = 256

// continuityOf compares successive writes to each path, in the order in which they ended.
func continuityOf(calls []*Call) (c continuity) {
	type latest struct {
		call  string
		after State
	}
	last := map[string]latest{}

	for _, x := range thatWrote(calls) {
		for _, w := range x.writes {
			before, again := last[w.Path]
			last[w.Path] = latest{x.ID, w.After}
			switch {
			case !again:
			case !before.after.Known || !w.Before.Known:
				c.unchecked++
			case before.after == w.Before:
				c.pairs++
				c.held++
			default:
				c.pairs++
				if c.broken++; len(c.list) < maxPairs {
					c.list = append(c.list, pair{w.Path, before.call, x.ID})
				}
			}
		}
	}

	return c
}

// thatWrote returns the calls that succeeded and wrote files, in the order in which they ended.
func thatWrote(calls []*Call) (all []*Call) {
	for _, c := range calls {
		if c.requested && len(c.writes) > 0 && c.outcome == Succeeded {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *Call) int { return byTime(a.ended, b.ended) })
	return all
}

// members returns the counts and the broken pairs, or nil if no path was written more than once.
func (c continuity) members() any {
	if c.pairs+c.unchecked == 0 {
		return nil
	}
	return event.Members{
		"pairs": int64(c.pairs), "held": int64(c.held), "broken": int64(c.broken), "unchecked": int64(c.unchecked),
		"changed_outside": list(c.list, func(p pair) event.Members {
			return event.Members{"path": p.path, "from_call": p.from, "to_call": p.to}
		}),
	}
}
