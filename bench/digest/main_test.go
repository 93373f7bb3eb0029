package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func newTestMill(t *testing.T) *mill {
	t.Helper()
	m, err := newMill(filepath.Join("..", "..", "fixtures", "corpus"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestDigest verifies that the verdicts for the first inputs are the recorded ones, and that the
// inputs reach most codes. The command itself processes all inputs.
func TestDigest(t *testing.T) {
	blocks := 2
	if testing.Short() {
		blocks = 1
	}
	m := newTestMill(t)
	if err := compare(m.digests(blocks), strings.Fields(verdicts)); err != nil {
		t.Error(err)
	}
	t.Log(m.seen.String())
	for _, word := range []string{"verified", "refuted", "undecided", "refused"} {
		if m.seen.words[word] < blocks*blockSize/50 {
			t.Errorf("%d inputs are %s", m.seen.words[word], word)
		}
	}
	if n := len(m.seen.codes()); n < 60 {
		t.Errorf("the verdicts have only %d codes", n)
	}
}

// TestCases verifies that the unaltered cases have the expected outcome.
func TestCases(t *testing.T) {
	m := newTestMill(t)
	for _, c := range slices.Concat(m.cases...) {
		var w bytes.Buffer
		m.judge(m.unaltered(c), &w)
		got := w.String()
		if _, whole, ok := strings.Cut(got, "whole "); ok {
			got = whole
		}
		if !strings.Contains(got, c.outcome) && !(c.outcome == "refuted" && strings.Contains(got, "refused")) {
			t.Errorf("%s: %s, expected %s", c.about, w.String(), c.outcome)
		}
	}
}

// TestCompare verifies that changed, missing, and inconsistent digests are reported.
func TestCompare(t *testing.T) {
	recorded := strings.Fields(verdicts)
	blocks := recorded[:len(recorded)-1]
	if err := compare(blocks, recorded); err != nil {
		t.Error(err)
	}
	for n, other := range [][]string{slices.Concat(blocks[:1], blocks[:1], blocks[2:]), append(slices.Clone(blocks), blocks[0])} {
		if compare(other, recorded) == nil {
			t.Errorf("difference %d was not reported", n)
		}
	}
	if err := compare(blocks, append(slices.Clone(blocks), blocks[0])); !errors.Is(err, errDiffers) {
		t.Error(err)
	}
}
