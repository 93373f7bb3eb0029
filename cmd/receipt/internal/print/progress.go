package print

import (
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Progress shows on stderr how far a run is, until stop is called. Some runs read
// their input twice.
func (o *OutputFlags) Progress(e *cli.Env, run *stream.Run, s *input.Selection, twice bool) (stop func()) {
	if o.progressed == "never" || o.progressed == "auto" && !e.ErrTerminal {
		return func() {}
	}

	bar := progressBar{started: e.Now(), total: s.Size(twice)}
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
				fmt.Fprintf(e.Err, "\r\x1b[K%s", bar.text(bytes, receipts, e.Now()))
				shown = true
			case <-quit:
				if shown {
					fmt.Fprint(e.Err, "\r\x1b[K")
				}
				return
			}
		}
	}()

	return func() { close(quit); <-gone }
}

type progressBar struct {
	started time.Time
	total   int64
}

// text is one line: how much, how fast, how much longer.
func (p *progressBar) text(bytes, receipts int64, now time.Time) string {
	elapsed := max(now.Sub(p.started), time.Millisecond)
	rate := fmt.Sprintf("%s receipts, %s/s", cli.Count(int(receipts)), cli.Count(int(float64(receipts)/elapsed.Seconds())))
	if p.total == 0 || bytes == 0 {
		return fmt.Sprintf("%s, %s", cli.SizeText(bytes), rate)
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
	return fmt.Sprintf("[%s] %3.0f %% of %s, %s, %s left", bar, 100*done, cli.SizeText(p.total), rate, cli.DurationText(left))
}
