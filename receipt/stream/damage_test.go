package stream_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// findings returns the addresses of receipts that are not verified.
func (r result) findings() (list []string) {
	for _, l := range r.lines {
		address, code, _ := bytes.Cut([]byte(l), []byte(" "))
		if string(code) != "open" {
			list = append(list, string(address))
		}
	}
	return list
}

// TestDamage verifies that a change to one byte in one of 30 receipts leads to one finding for that
// receipt, regardless of how the receipts are distributed over files. If a receipt does not match
// its hash, it keeps its position in the chain, so its successor gets no finding. An unreadable
// document leaves the next link unchecked. If the change replaces the marker with the marker of
// another format, the result is undecided. Every other change refutes the receipt.
func TestDamage(t *testing.T) {
	const n = 30
	list := newWriter(t, "a").many(n)
	tries := testsize.Of(40, 120)
	rng := rand.New(rand.NewPCG(1, 2))
	for range tries {
		i := rng.IntN(n)
		at := rng.IntN(len(list[i]))
		doc := bytes.Clone(list[i])
		doc[at] ^= byte(1 << rng.IntN(8))
		if doc[at] == '\n' { // splits the line in two
			continue
		}
		in := with(list, i, doc)
		name := fmt.Sprintf("receipt %d, %q for %q", i+1, doc[max(0, at-12):min(len(doc), at+8)], list[i][at])
		one := verify(t, jsonl(in...), stream.Options{})
		damaged(t, name, one, fmt.Sprintf("input:%d", i+1))
		from := rng.IntN(n-2) + 1
		to := from + 1 + rng.IntN(n-from-1)
		parts := []stream.Source{source("x", jsonl(in[:from]...)), source("y", jsonl(in[from:to]...)), source("z", jsonl(in[to:]...))}
		where := fmt.Sprintf("x:%d", i+1)
		if i >= to {
			where = fmt.Sprintf("z:%d", i-to+1)
		} else if i >= from {
			where = fmt.Sprintf("y:%d", i-from+1)
		}
		for _, p := range [][3]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
			several := verifyFiles(t, stream.Options{}, parts[p[0]], parts[p[1]], parts[p[2]])
			damaged(t, fmt.Sprint(name, ", files ", p), several, where)
			if a, b := fmt.Sprint(one.summary.Streams), fmt.Sprint(several.summary.Streams); a != b {
				t.Errorf("%s, files %v: %v\nin one file:\n%s", name, p, b, a)
			}
		}
	}
}

func damaged(t *testing.T, name string, r result, where string) {
	t.Helper()
	s := r.summary
	refuted := s.Verdict() == receipt.Refuted && s.Refuted == 1
	other := s.Verdict() == receipt.Undecided && s.Undecided == 1 && s.Codes["unsupported_schema"] == 1
	if !refuted && !other || len(s.Findings) > 0 || s.Receipts != 30 || s.Verified != 29 || r.err != nil {
		t.Errorf("%s: %v", name, r)
	}
	alone := where[:1]
	if got := r.findings(); len(got) != 1 || got[0] != where && got[0] != alone {
		t.Errorf("%s: findings at %v, expected %s", name, got, where)
	}
}

// TestForkAfterDamage verifies that a receipt may name the head before a damaged receipt only if
// nothing else follows the damaged receipt, because it may then be an intact copy of it.
func TestForkAfterDamage(t *testing.T) {
	list := newWriter(t, "a").many(4)
	bad := altered(list[2])
	fork := newWriter(t, "a")
	fork.n = 100
	branch := fork.seal(headOf(t, list[1]))
	for name, c := range map[string]struct {
		docs [][]byte
		want string
	}{
		"an intact copy": {[][]byte{list[0], list[1], bad, list[2]}, "refuted 3/1/0; input:3 hash_mismatch; a 4"},
		"another":        {[][]byte{list[0], list[1], bad, branch}, "refuted 3/1/0; input:3 hash_mismatch; a 4"},
		"a fork later":   {[][]byte{list[0], list[1], bad, list[3], branch}, "refuted 3/2/0; input:3 hash_mismatch; input:5 chain_break; a 5"},
	} {
		expect(t, name, verify(t, jsonl(c.docs...), stream.Options{}), c.want)
	}
}

// TestPositionOfDamage verifies that the position of a damaged receipt shows nothing about the order
// of the others. Otherwise, a copy of the damaged receipt in another file would change the results.
func TestPositionOfDamage(t *testing.T) {
	list := newWriter(t, "a").many(5)
	other := jsonl(newWriter(t, "b").many(2)...)
	bad := altered(list[2])
	after, alone := jsonl(list[0], list[1], list[3], bad, list[4]), jsonl(bad)
	for name, files := range map[string][][]byte{
		"beside another stream": {after, other},
		"before a copy":         {after, alone},
		"after a copy":          {alone, after},
	} {
		v := verifyFiles(t, stream.Options{}, sources(files...)...)
		if s := v.summary; s.Codes[receipt.CodeHashMismatch] != s.Refuted || len(s.Findings) > 0 || s.Streams[0].Failures > 0 {
			t.Errorf("%s: %s", name, gist(s))
		}
	}
	m := anyOrder(t, "merged", receipt.Refuted, part(t, stream.Options{}, list[0], list[1], list[3], bad, list[4]), part(t, stream.Options{}, bad))
	if m.Codes[receipt.CodeHashMismatch] != m.Refuted || len(m.Findings) > 0 {
		t.Errorf("merged: %s", gist(m))
	}
}
