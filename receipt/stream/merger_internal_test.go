package stream

import (
	"slices"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestMergeTimes verifies that a merged summary covers the time of both parts in any order, and
// that it is partial if one part is.
func TestMergeTimes(t *testing.T) {
	early, late := receipt.At(time.Unix(1777140000, 0)), receipt.At(time.Unix(1777150000, 0))
	a, b := &Summary{Started: early, Finished: early, Codes: map[receipt.Code]int{}}, &Summary{Started: late, Finished: late, Partial: true, Codes: map[receipt.Code]int{}}
	none := &Summary{Partial: true, Codes: map[receipt.Code]int{}}
	for _, parts := range [][2]*Summary{{none, a}, {a, none}} {
		m := &merger{parts: parts}
		if m.add(); m.Started != early || m.Finished != early {
			t.Errorf("%v to %v, with a part without times", m.Started, m.Finished)
		}
	}
	for _, parts := range [][2]*Summary{{a, b}, {b, a}} {
		m := &merger{parts: parts}
		if m.add(); m.Started != early || m.Finished != late || !m.Partial {
			t.Errorf("%v to %v, partial %t", m.Started, m.Finished, m.Partial)
		}
	}
}

// TestEndsAreNoted verifies that a merged summary has notes about the ends of its streams only if
// one of the parts has them.
func TestEndsAreNoted(t *testing.T) {
	stream, head := chain.Stream{Issuer: "a"}, canon.Sum([]byte("head"))
	for _, codes := range [][]receipt.Code{{}, {receipt.CodeLinkNotChecked}, {receipt.CodeTailNotChecked}, {receipt.CodeLinkNotChecked, receipt.CodeTailNotChecked}} {
		part := new(Summary)
		for _, code := range codes {
			part.addNote(code, "a")
		}
		m := &merger{parts: [2]*Summary{new(Summary), part}, Summary: &Summary{Streams: []chain.Segment{{Stream: stream, Count: 1, Head: head}}}}
		m.noteEnds()
		var got []receipt.Code
		for _, n := range m.NotChecked {
			got = append(got, n.Code)
		}
		if !slices.Equal(got, codes) {
			t.Errorf("%v, expected %v", got, codes)
		}
	}
}

// TestHashesCompared verifies that the receipts of two parts are compared only if both parts list
// them.
func TestHashesCompared(t *testing.T) {
	hash := canon.Sum([]byte("a"))
	list := map[canon.Digest]bool{hash: true}
	for name, c := range map[string]struct {
		a, b                 map[canon.Digest]bool
		known, apart, listed bool
	}{
		"both":         {list, list, true, false, true},
		"nothing else": {list, map[canon.Digest]bool{}, true, true, true},
		"the first":    {list, nil, false, false, false},
		"the second":   {nil, list, false, false, false},
		"none":         {nil, nil, false, false, false},
	} {
		p := newEndsJoiner(&merger{Summary: &Summary{}})
		p.compareHashes(c.a, c.b)
		if p.known != c.known || p.apart != c.apart || p.listed[hash] != c.listed {
			t.Errorf("%s: known %v, apart %v, %v", name, p.known, p.apart, p.listed)
		}
	}
}

// TestEndsJoined verifies the findings about segments of a stream that do not join, in two parts of
// which at least one does not list its receipts, and in two parts that list them.
func TestEndsJoined(t *testing.T) {
	stream, other := chain.Stream{Issuer: "a"}, chain.Stream{Issuer: "b"}
	hash := func(name string) canon.Digest { return canon.Sum([]byte(name)) }
	segment := func(previous, head string, count uint64) chain.Segment {
		return chain.Segment{Stream: stream, First: previous == "", Previous: hash(previous), Head: hash(head), Count: count}
	}
	failed := segment("", "a", 3)
	failed.Failures = 1
	for name, c := range map[string]struct {
		group     []chain.Segment
		listed    []string // nil: the hashes are not known
		apart     bool
		open      bool
		elsewhere string // head of another stream
		undecided int
		want      receipt.Code
	}{
		"one":                           {group: []chain.Segment{segment("x", "a", 1)}},
		"one, from another stream":      {group: []chain.Segment{segment("x", "a", 1)}, elsewhere: "x", want: receipt.CodeChainBreak},
		"two firsts":                    {group: []chain.Segment{segment("", "a", 1), segment("", "b", 1)}, want: receipt.CodeChainBreak},
		"two firsts, other lengths":     {group: []chain.Segment{segment("", "a", 1), segment("", "b", 2)}, open: true},
		"two firsts, apart":             {group: []chain.Segment{segment("", "a", 1), segment("", "b", 2)}, listed: []string{"a", "b"}, apart: true, want: receipt.CodeChainBreak},
		"two firsts, failures":          {group: []chain.Segment{failed, segment("", "b", 3)}, open: true},
		"a fork":                        {group: []chain.Segment{segment("x", "a", 2), segment("x", "b", 2)}, want: receipt.CodeChainFork},
		"a gap between single receipts": {group: []chain.Segment{segment("", "a", 1), segment("x", "b", 1)}, want: receipt.CodeChainBreak},
		"a gap":                         {group: []chain.Segment{segment("", "a", 2), segment("x", "b", 1)}, open: true},
		"a gap, all listed":             {group: []chain.Segment{segment("", "a", 2), segment("x", "b", 1)}, listed: []string{"a", "b"}, want: receipt.CodeChainBreak},
		"inside, all listed":            {group: []chain.Segment{segment("", "a", 3), segment("x", "b", 1)}, listed: []string{"a", "b", "x"}, apart: true, want: receipt.CodeChainFork},
		"inside, with failures":         {group: []chain.Segment{failed, segment("x", "b", 1)}, listed: []string{"a", "b", "x"}, apart: true, open: true},
		"inside, with common receipts":  {group: []chain.Segment{segment("", "a", 3), segment("x", "b", 1)}, listed: []string{"a", "b", "x"}, open: true},
		"two gaps":                      {group: []chain.Segment{segment("x", "a", 2), segment("y", "b", 2)}, open: true},
		"a gap, undecided":              {group: []chain.Segment{segment("", "a", 1), segment("x", "b", 1)}, undecided: 1, open: true},
		"after a head":                  {group: []chain.Segment{segment("", "x", 1), segment("x", "b", 1)}, open: true},
		"after a head, all listed":      {group: []chain.Segment{segment("", "x", 3), segment("x", "b", 1)}, listed: []string{"x", "b"}, apart: true, open: true},
		"after the hash zero":           {group: []chain.Segment{{Stream: stream, First: true, Head: hash("a"), Count: 1}, {Stream: stream, Head: hash("b"), Count: 1}}, want: receipt.CodeChainBreak},
		"equal heads":                   {group: []chain.Segment{segment("", "a", 2), segment("x", "a", 1)}, listed: []string{"a"}},
	} {
		p := newEndsJoiner(&merger{Summary: &Summary{Undecided: c.undecided}})
		if c.elsewhere != "" {
			p.heads[hash(c.elsewhere)] = other
		}
		if p.known = c.listed != nil; p.known {
			p.listed = map[canon.Digest]bool{}
			for _, name := range c.listed {
				p.listed[hash(name)] = true
			}
		}
		p.apart = c.apart
		p.judge(c.group)
		var got receipt.Code
		if len(p.Findings) > 0 {
			got = p.Findings[0].Code
		}
		if got != c.want || len(p.Findings) > 1 || p.open != c.open {
			t.Errorf("%s: %+v, open %t", name, p.Findings, p.open)
		}
	}

	// Selections never show that a receipt is missing or inserted, unless the other part has no
	// receipt of the stream.
	for _, both := range []bool{false, true} {
		p := newEndsJoiner(&merger{Summary: &Summary{selected: map[chain.Stream]bool{stream: true}}})
		p.both[stream], p.heads[hash("x")] = both, other
		if p.judge([]chain.Segment{segment("x", "a", 1)}); p.open != both || (len(p.Findings) == 0) != both {
			t.Errorf("a selection, in both parts %t: %+v, open %t", both, p.Findings, p.open)
		}
	}
}
