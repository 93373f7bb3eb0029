package story

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// A State is what a file held: not told, nothing as there was no file, or a digest.
type State struct {
	Known  bool
	Digest canon.Digest // zero, and Known: there was no file
}

// Nothing is the state of a file that is not there.
func Nothing() State { return State{Known: true} }

// Held is the state of a file that holds a text.
func Held(text []byte) State { return State{true, canon.Sum(text)} }

// A Write is one change of a file.
type Write struct {
	Path, Operation string // Operation "": not told; else create, modify or delete
	Before, After   State
}

// A Continuity says how the writes of one path follow each other: whether what one left is
// what the next found. Where it is not, something else changed the file between them, such
// as a formatter that a hook ran.
type Continuity struct {
	Pairs, Held, Broken, Unchecked int
	List                           []Pair // those that are broken, the first maxPairs
}

// A Pair is two writes of one path that follow each other, by their calls.
type Pair struct{ Path, From, To string }

// maxPairs bounds the pairs that are listed; all are counted.
const maxPairs = 256

// continuityOf compares the writes of each path, in the order in which they ended.
func continuityOf(calls []*Call) Continuity {
	type latest struct {
		call  string
		after State
	}
	var c Continuity
	last := map[string]latest{}
	for _, x := range thatWrote(calls) {
		for _, w := range x.writes {
			before, again := last[w.Path]
			last[w.Path] = latest{x.ID, w.After}
			switch {
			case !again:
			case !before.after.Known || !w.Before.Known:
				c.Unchecked++
			case before.after == w.Before:
				c.Pairs++
				c.Held++
			default:
				c.Pairs++
				if c.Broken++; len(c.List) < maxPairs {
					c.List = append(c.List, Pair{w.Path, before.call, x.ID})
				}
			}
		}
	}
	return c
}

// thatWrote returns the calls that succeeded and wrote, in the order of their ends.
func thatWrote(calls []*Call) []*Call {
	var all []*Call
	for _, c := range calls {
		if c.requested && len(c.writes) > 0 && c.outcome == Succeeded {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *Call) int { return byTime(a.ended, b.ended) })
	return all
}
