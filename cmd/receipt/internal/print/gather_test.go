package print

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A pieces writer records each write. It is slow, so that several lines are combined into one
// write.
type pieces struct {
	list  []string
	fails int // index of the first write that fails; 0 means that no write fails
}

var errFull = errors.New("full")

func (p *pieces) Write(text []byte) (int, error) {
	time.Sleep(100 * time.Microsecond)
	if p.list = append(p.list, string(text)); len(p.list) == p.fails {
		return 0, errFull
	}
	return len(text), nil
}

// TestGather verifies that all text arrives in order and in far fewer writes than lines, that each
// write consists of complete lines, and that no write is larger than an atomic pipe write.
func TestGather(t *testing.T) {
	out := new(pieces)
	g := newGatherer(out)
	var want strings.Builder
	const lines = 2000
	for i := range lines {
		line := fmt.Sprintf("%d %s\n", i, strings.Repeat("x", i%200))
		if i == 1000 {
			line = strings.Repeat("y", 3*mostOfPipe) + "\n" // too long for one piece, so it is written separately
		}
		want.WriteString(line)
		if n, err := io.WriteString(g, line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := g.Flush(); err != nil {
		t.Fatal(err)
	}
	if strings.Join(out.list, "") != want.String() {
		t.Error("the text differs from the written text")
	}
	if len(out.list) > lines/10 {
		t.Errorf("%d pieces for %d lines", len(out.list), lines)
	}
	for i, piece := range out.list {
		if !strings.HasSuffix(piece, "\n") || len(piece) > mostOfPipe && strings.Count(piece, "\n") > 1 {
			t.Errorf("piece %d has %d bytes and ends with %q", i, len(piece), piece[len(piece)-1:])
		}
	}
}

// TestWaitsForNothing verifies that a line is written even if no other line follows.
func TestWaitsForNothing(t *testing.T) {
	r, w := io.Pipe()
	g := newGatherer(w)
	line := make([]byte, 100)
	for range 3 {
		if _, err := io.WriteString(g, "a line\n"); err != nil {
			t.Fatal(err)
		}
		if n, err := r.Read(line); string(line[:n]) != "a line\n" || err != nil {
			t.Fatalf("%q, %v", line[:n], err)
		}
	}
}

// TestFails verifies that nothing is written after a failed write, and that Write and Flush return
// the error.
func TestFails(t *testing.T) {
	out := &pieces{fails: 2}
	g := newGatherer(out)
	var told error
	for range 10 * mostOfPipe {
		if _, told = io.WriteString(g, "line\n"); told != nil {
			break
		}
	}
	if !errors.Is(told, errFull) || !errors.Is(g.Flush(), errFull) || len(out.list) != 2 {
		t.Errorf("%v, %v, %d pieces", told, g.Flush(), len(out.list))
	}

	last := newGatherer(&pieces{fails: 1})
	if _, err := io.WriteString(last, "line\n"); err != nil || !errors.Is(last.Flush(), errFull) {
		t.Errorf("%v, %v", err, last.Flush())
	}
}

// TestKinds verifies that writes to a file are larger than writes to a pipe.
func TestKinds(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, c := range []struct {
		w    io.Writer
		most int
	}{{f, mostOfFile}, {w, mostOfPipe}, {new(bytes.Buffer), mostOfPipe}} {
		if g := newGatherer(c.w); g.most != c.most {
			t.Errorf("%T: %d bytes, want %d", c.w, g.most, c.most)
		}
	}
}
