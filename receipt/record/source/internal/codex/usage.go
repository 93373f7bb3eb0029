package codex

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

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
