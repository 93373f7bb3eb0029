package print

import (
	"io"
	"os"
	"sync"
)

// Maximum sizes of a single write. A pipe write of up to 4,096 bytes (PIPE_BUF on Linux) is atomic,
// even if the process is killed. A file accepts larger writes.
const (
	mostOfPipe = 4 << 10
	mostOfFile = 64 << 10
)

// A gatherer combines writes that arrive while an earlier write is in progress. No write waits for
// more data, and a fast run needs only a few system calls. A single write is never split. A
// gatherer is safe for concurrent use.
type gatherer struct {
	w    io.Writer
	most int // maximum size of a write to w, unless a single text is larger

	mu      sync.Mutex
	changed sync.Cond // signals that a field below has changed
	held    []byte    // not written yet
	spare   []byte    // memory that is reused for the next reports
	writing bool      // a goroutine is writing the stored text
	err     error     // the first write error, after which nothing is written
}

// newGatherer returns a gatherer that writes to w. Nothing else may write to w before Flush has
// returned.
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

// Write stores text, which is written in one piece. The returned error may have been caused by a
// previous Write.
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

// handOn writes until no text is stored.
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

// Flush waits until everything is written, or a write failed.
func (g *gatherer) Flush() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.writing {
		g.changed.Wait()
	}
	return g.err
}
