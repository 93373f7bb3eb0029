package print

import (
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

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
