package cli

import (
	"fmt"
	"io"
	"sync"
)

// A screen is a terminal on which one line comes and goes: whatever is written takes its
// place.
type screen struct {
	mu    sync.Mutex
	w     io.Writer
	shown bool // the line stands there
	open  bool // what was written last has no end of line
}

// show puts a line in the place of the one before it, unless another one is not ended.
func (s *screen) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		return
	}
	fmt.Fprint(s.w, eraseLine, line)
	s.shown = true
}

// erase takes the line away.
func (s *screen) erase() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}

func (s *screen) clear() {
	if s.shown {
		fmt.Fprint(s.w, eraseLine)
		s.shown = false
	}
}

// eraseLine is ECMA-48's "erase in line", from its beginning.
const eraseLine = "\r\x1b[K"

// A sharer writes to a screen.
type sharer struct {
	io.Writer
	screen *screen
}

func (w *sharer) Write(p []byte) (int, error) {
	w.screen.mu.Lock()
	defer w.screen.mu.Unlock()
	if len(p) > 0 {
		w.screen.clear()
		w.screen.open = p[len(p)-1] != '\n'
	}
	return w.Writer.Write(p)
}
