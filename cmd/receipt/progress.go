package main

import (
	"fmt"
	"os"
	"time"

	"github.com/receiptkit/receiptkit/receipt/stream"
)

// progress shows on stderr how far a run is, until stop is called. Some runs read
// their input twice.
func (o *outputFlags) progress(e *env, run *stream.Run, s *selection, twice bool) (stop func()) {
	if o.progressed == "never" || o.progressed == "auto" && !e.errTerminal {
		return func() {}
	}
	bar := progressBar{started: e.now(), total: s.size(twice)}
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(200 * time.Millisecond)
		defer ticker.Stop()
		shown := false
		for {
			select {
			case <-ticker.C:
				bytes, receipts := run.Progress()
				fmt.Fprintf(e.err, "\r\x1b[K%s", bar.text(bytes, receipts, e.now()))
				shown = true
			case <-quit:
				if shown {
					fmt.Fprint(e.err, "\r\x1b[K")
				}
				return
			}
		}
	}()
	return func() { close(quit); <-gone }
}

// size is how many bytes will be read; 0 when that is not known.
func (s *selection) size(twice bool) (total int64) {
	for _, src := range s.sources {
		info, err := os.Stat(src.Name)
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		total += info.Size()
	}
	if len(s.sources) > 1 || twice {
		total *= 2 // once for the links or the root, once to verify
	}
	return total
}

type progressBar struct {
	started time.Time
	total   int64
}

// text is one line: how much, how fast, how much longer.
func (p *progressBar) text(bytes, receipts int64, now time.Time) string {
	elapsed := max(now.Sub(p.started), time.Millisecond)
	rate := fmt.Sprintf("%s receipts, %s/s", count(int(receipts)), count(int(float64(receipts)/elapsed.Seconds())))
	if p.total == 0 || bytes == 0 {
		return fmt.Sprintf("%s, %s", sizeText(bytes), rate)
	}
	done := min(float64(bytes)/float64(p.total), 1)
	const width = 20
	filled := int(done * width)
	bar := ""
	for i := range width {
		if i < filled {
			bar += "#"
		} else {
			bar += "."
		}
	}
	left := time.Duration(float64(elapsed) * (1 - done) / done).Round(time.Second)
	return fmt.Sprintf("[%s] %3.0f %% of %s, %s, %s left", bar, 100*done, sizeText(p.total), rate, durationText(left))
}
