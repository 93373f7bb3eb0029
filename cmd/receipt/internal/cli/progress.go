package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Delay before the progress line is first displayed, and the interval between updates. A run that
// ends before the delay is over displays no progress.
const (
	firstFrame = 500 * time.Millisecond
	frameEvery = 250 * time.Millisecond
)

// progressWidth is the maximum width of the progress line. The last column of a terminal stays
// empty, because some terminals wrap a line that fills it.
const progressWidth = 79

// A Progress displays how far a run has advanced, in passes over the run's input or in steps. A nil
// Progress displays nothing. Its methods are safe for concurrent use.
type Progress struct {
	screen *screen
	width  int
	now    func() time.Time
	passes []string

	mu                   sync.Mutex
	pass                 int       // from 0
	begun                time.Time // start of the current pass
	bytes, ofBytes       int64     // ofBytes and ofReceipts are 0 if unknown
	receipts, ofReceipts int64
	hidden               bool

	quit, gone chan struct{}
	ended      sync.Once
}

// newProgress starts displaying progress on a screen with the given number of columns. A number of
// 0 means that the number is unknown.
func newProgress(s *screen, columns int, now func() time.Time, passes []string) *Progress {
	width := progressWidth
	if columns > 0 {
		width = min(width, columns-1)
	}
	p := &Progress{screen: s, width: width, now: now, passes: passes, begun: now(), quit: make(chan struct{}), gone: make(chan struct{})}
	go p.run()
	return p
}

// run displays one frame after another.
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

// End removes the progress line. It may be called several times.
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

// hide removes the progress line and does not display it again, because the user is typing.
func (p *Progress) hide() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.hidden = true
	p.mu.Unlock()
	p.screen.erase()
}

// Pass begins pass n, where the first pass is 0. A total of 0 means that the total is unknown. If
// the pass has already begun, only the totals change.
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

// Read adds n to the bytes that were read.
func (p *Progress) Read(n int) {
	if p != nil {
		p.mu.Lock()
		p.bytes += int64(n)
		p.mu.Unlock()
	}
}

// Receipts adds n to the number of receipts that were processed.
func (p *Progress) Receipts(n int) {
	if p != nil {
		p.mu.Lock()
		p.receipts += int64(n)
		p.mu.Unlock()
	}
}

// Reader returns a reader that counts the bytes read from r.
func (p *Progress) Reader(r io.ReadCloser) io.ReadCloser {
	if p == nil {
		return r
	}
	return &countedReader{r, p}
}

// A countedReader counts the bytes that are read.
type countedReader struct {
	io.ReadCloser
	progress *Progress
}

func (r *countedReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	r.progress.Read(n)
	return n, err
}

// text formats the progress line: the pass, the work done so far, and the remaining time. Parts at
// the end that do not fit are omitted.
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

	// The remaining time can be estimated only after a part of the pass is done.
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

// A screen is a terminal with a temporary last line, which any other output replaces.
type screen struct {
	mu    sync.Mutex
	w     io.Writer
	shown bool // the line is visible
	open  bool // the latest output does not end in a line feed
}

// show replaces the progress line, unless the last line of other output is incomplete.
func (s *screen) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		return
	}
	fmt.Fprint(s.w, eraseLine, line)
	s.shown = true
}

// erase removes the line.
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

// eraseLine moves to the beginning of the line and erases it (ECMA-48, "erase in line").
const eraseLine = "\r\x1b[K"

// A sharer is an [io.Writer] for other output to a terminal that displays a progress line.
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
