package main

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// A verification is a randomly assembled input, with functions that verify it in several ways.
type verification struct {
	*testing.T
	dir   string
	trust []string
}

// file writes lines to a file, and returns its path.
func (v *verification) file(name string, lines [][]byte) string {
	path := filepath.Join(v.dir, name)
	writeFile(v, path, append(bytes.Join(lines, []byte("\n")), '\n'))
	return path
}

// run verifies files, and returns the exit code and the counts.
func (v *verification) run(args ...string) (code int, counts string) {
	code, out, stderr := command(nil, append(append([]string{"verify", "--jobs", "1", "--format", "json"}, v.trust...), args...)...)
	if out == "" {
		v.Fatalf("%q: exit %d, %s", args, code, stderr)
	}
	return code, countsIn(summaryIn(v.T, []byte(out)), false)
}

// TestRelations verifies relations between runs over the same receipts, which have all kinds of
// faults: an option that requires less never adds a fault, and one that requires more never removes
// one; if order is not checked, the order and the files do not matter.
func TestRelations(t *testing.T) {
	g := newMill(t).grist()
	r := rand.New(rand.NewPCG(11, 28))
	for n := range testsize.Of(20, 100) {
		v := &verification{t, t.TempDir(), []string{"--keys", trustedKeys}}
		if r.IntN(2) == 0 {
			v.trust = []string{"--integrity-only"}
		}
		lines := g.draw(r)
		if len(lines) < 2 {
			continue
		}
		at := 1 + r.IntN(len(lines)-1)
		whole, front, back := v.file("whole.jsonl", lines), v.file("front.jsonl", lines[:at]), v.file("back.jsonl", lines[at:])
		again := v.file("again.jsonl", lines[:at])
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		shuffled := v.file("shuffled.jsonl", lines)

		code, _ := v.run(whole)
		strict, _ := v.run("--strict", whole)
		partial, _ := v.run("--partial", whole)
		if rank(strict) < rank(code) || rank(partial) > rank(code) {
			t.Errorf("case %d: exit %d, with --strict %d, with --partial %d", n, code, strict, partial)
		}

		joined, counts := v.run("--unordered", whole)
		for _, files := range [][]string{{front, back}, {back, front}, {shuffled}} {
			if code, other := v.run(append([]string{"--unordered"}, files...)...); code != joined || other != counts {
				t.Errorf("case %d: exit %d, from %q %d:\n%s\n%s", n, joined, files, code, counts, other)
			}
		}
		parts, _ := v.run(front, back)
		twice, _ := v.run(front, back, again)
		if rank(joined) > rank(parts) || rank(parts) > rank(code) || rank(twice) > rank(parts) {
			t.Errorf("case %d: exit %d, without order %d, in two files %d, with one of them again %d", n, code, joined, parts, twice)
		}
	}
}

// rank orders exit codes from verified to undecided to refuted.
func rank(code int) int {
	return slices.Index([]int{cli.ExitVerified, cli.ExitUndecided, cli.ExitRefuted}, code)
}
