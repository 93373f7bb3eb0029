package print

import (
	"io"
	"os"
	"sync"
)

// How much is handed on in one call of the system. What is written into a pipe in up to
// 4,096 bytes (PIPE_BUF of Linux) arrives whole or not at all, whatever happens to the
// run; a file takes more at once.
const (
	mostOfPipe = 4 << 10
	mostOfFile = 64 << 10
)

// A gatherer hands on what is written to it, several writes in one: those that come while
// the one before is under way. So nothing waits for more, and a run that writes fast spends
// little on writing. It never cuts a write in two. Goroutines may share one.
type gatherer struct {
	w    io.Writer
	most int // bytes in one piece, unless one write has more

	mu      sync.Mutex
	changed sync.Cond // of what follows
	held    []byte    // not handed on yet
	spare   []byte    // memory for what comes next
	writing bool      // a goroutine hands on what is held
	err     error     // of the first write that failed: nothing comes after it
}

// newGatherer returns a gatherer before w, which nobody else writes to until Flush returned.
func newGatherer(w io.Writer) *gatherer {
	g := &gatherer{w: w, most: mostOfPipe}
	g.changed.L = &g.mu
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			g.most = mostOfFile
		}
	}
	return g
}

// Write takes a text that is to stay whole. An error may be that of a text before.
func (g *gatherer) Write(text []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.held) > 0 && len(g.held)+len(text) > g.most && g.err == nil {
		g.changed.Wait()
	}
	if g.err != nil {
		return 0, g.err
	}

	g.held = append(g.held, text...)
	if !g.writing {
		g.writing = true
		go g.handOn()
	}
	return len(text), nil
}

// handOn writes until nothing is held.
func (g *gatherer) handOn() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.held) > 0 && g.err == nil {
		piece := g.held
		g.held = g.spare[:0]
		g.changed.Broadcast()

		g.mu.Unlock()
		_, err := g.w.Write(piece)
		g.mu.Lock()

		g.spare, g.err = piece, err
	}

	g.writing = false
	g.changed.Broadcast()
}

// Flush waits until all is handed on, or something failed.
func (g *gatherer) Flush() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.writing {
		g.changed.Wait()
	}
	return g.err
}
