package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// When a line of progress is shown: a run that is over sooner shows none.
const (
	firstFrame = 500 * time.Millisecond
	frameEvery = 250 * time.Millisecond
)

// progressWidth is how many columns a line of progress has at most. The last column of
// a terminal stays empty: some go to the next line when it is written.
const progressWidth = 79

// A Progress tells how far a run is, in passes over its input or steps of its work. The
// nil Progress is one that nobody sees. Its methods are safe for concurrent use.
type Progress struct {
	screen *screen
	width  int
	now    func() time.Time
	passes []string

	mu                   sync.Mutex
	pass                 int       // from 0
	begun                time.Time // of the pass
	bytes, ofBytes       int64     // of: 0 when it is not known
	receipts, ofReceipts int64
	hidden               bool

	quit, gone chan struct{}
	ended      sync.Once
}

// newProgress begins to show a line on a screen of so many columns, 0 when that is not known.
func newProgress(s *screen, columns int, now func() time.Time, passes []string) *Progress {
	width := progressWidth
	if columns > 0 {
		width = min(width, columns-1)
	}
	p := &Progress{screen: s, width: width, now: now, passes: passes, begun: now(), quit: make(chan struct{}), gone: make(chan struct{})}
	go p.run()
	return p
}

// run shows frame by frame.
func (p *Progress) run() {
	defer close(p.gone)
	wait := time.NewTimer(firstFrame)
	defer wait.Stop()

	for {
		select {
		case <-wait.C:
			p.frame()
			wait.Reset(frameEvery)
		case <-p.quit:
			return
		}
	}
}

func (p *Progress) frame() {
	p.mu.Lock()
	text, hidden := p.text(), p.hidden
	p.mu.Unlock()
	if !hidden {
		p.screen.show(text)
	}
}

// End takes the line away. It may be called more than once.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.ended.Do(func() {
		close(p.quit)
		<-p.gone
		p.screen.erase()
	})
}

// hide shows nothing more: somebody types where the line would be.
func (p *Progress) hide() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.hidden = true
	p.mu.Unlock()
	p.screen.erase()
}

// Pass begins a pass, counted from 0, of so many bytes and receipts; 0 is for what is not
// known. A pass that has begun already goes on.
func (p *Progress) Pass(n int, bytes, receipts int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > p.pass {
		p.pass, p.begun, p.bytes, p.receipts = min(n, len(p.passes)-1), p.now(), 0, 0
	}
	p.ofBytes, p.ofReceipts = bytes, receipts
}

// Read counts bytes that were read.
func (p *Progress) Read(n int) {
	if p != nil {
		p.mu.Lock()
		p.bytes += int64(n)
		p.mu.Unlock()
	}
}

// Receipts counts receipts that are done with.
func (p *Progress) Receipts(n int) {
	if p != nil {
		p.mu.Lock()
		p.receipts += int64(n)
		p.mu.Unlock()
	}
}

// Reader counts what is read from r.
func (p *Progress) Reader(r io.ReadCloser) io.ReadCloser {
	if p == nil {
		return r
	}
	return &countedReader{r, p}
}

// A countedReader counts what is read.
type countedReader struct {
	io.ReadCloser
	progress *Progress
}

func (r *countedReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	r.progress.Read(n)
	return n, err
}

// text is a line: which pass it is, how much of how much, how much longer. What has no
// place on it is left out, from its end.
func (p *Progress) text() string {
	doing := p.passes[p.pass]
	if len(p.passes) > 1 {
		doing = fmt.Sprintf("pass %d of %d: %s", p.pass+1, len(p.passes), doing)
	}

	var parts []string
	done := 0.0
	if p.ofBytes > 0 {
		done = min(float64(p.bytes)/float64(p.ofBytes), 1)
		parts = append(parts, SizeText(min(p.bytes, p.ofBytes))+" of "+SizeText(p.ofBytes))
	} else if p.bytes > 0 {
		parts = append(parts, SizeText(p.bytes))
	}

	if p.ofReceipts > 0 {
		done = min(float64(p.receipts)/float64(p.ofReceipts), 1)
		parts = append(parts, fmt.Sprintf("%s of %s", Count(int(min(p.receipts, p.ofReceipts))), Plural(int(p.ofReceipts), "receipt", "")))
	} else if p.receipts > 0 {
		parts = append(parts, Plural(int(p.receipts), "receipt", ""))
	}

	// How long the rest takes can be told of a pass of which some was seen.
	elapsed := p.now().Sub(p.begun)
	switch {
	case done >= 0.01 && done < 1 && elapsed >= time.Second:
		left := time.Duration(float64(elapsed) * (1 - done) / done).Round(time.Second)
		parts = append(parts, DurationText(left)+" left")
	case done == 0 && elapsed >= time.Second:
		parts = append(parts, DurationText(elapsed.Truncate(time.Second)))
	}

	return p.fit(doing, parts)
}

func (p *Progress) fit(line string, parts []string) string {
	for _, part := range parts {
		longer := line + " · " + part
		if utf8.RuneCountInString(longer) > p.width {
			break
		}
		line = longer
	}
	if runes := []rune(line); len(runes) > p.width {
		return strings.TrimRight(string(runes[:p.width]), " ")
	}
	return line
}

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
