package cli

import (
	"io"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

func TestProgressText(t *testing.T) {
	verify := []string{"reading", "verifying"}
	for _, test := range []struct {
		passes           []string
		pass, width      int
		bytes, ofBytes   int64
		receipts, ofRecs int64
		elapsed          time.Duration
		want             string
	}{
		{verify, 0, 79, 120e6, 252e6, 0, 0, 0, "pass 1 of 2: reading · 120.0 MB of 252.0 MB"},
		{verify, 1, 79, 120e6, 252e6, 12300, 0, 0, "pass 2 of 2: verifying · 120.0 MB of 252.0 MB · 12,300 receipts"},
		{verify, 1, 79, 126e6, 252e6, 12300, 0, 4 * time.Second, "pass 2 of 2: verifying · 126.0 MB of 252.0 MB · 12,300 receipts · 4 s left"},
		{verify, 1, 70, 126e6, 252e6, 12300, 0, 4 * time.Second, "pass 2 of 2: verifying · 126.0 MB of 252.0 MB · 12,300 receipts"},
		{verify, 1, 60, 126e6, 252e6, 12300, 0, 4 * time.Second, "pass 2 of 2: verifying · 126.0 MB of 252.0 MB"},
		{verify, 1, 20, 126e6, 252e6, 12300, 0, 4 * time.Second, "pass 2 of 2: verifyi"},
		{verify, 0, 79, 999e9, 999e9, 0, 0, time.Hour, "pass 1 of 2: reading · 999.0 GB of 999.0 GB"},

		// The number of bytes read from a growing file never exceeds the displayed size.
		{verify[1:], 0, 79, 300e6, 252e6, 1, 0, 0, "verifying · 252.0 MB of 252.0 MB · 1 receipt"},
		{[]string{"exporting"}, 0, 79, 0, 0, 25, 100, 0, "exporting · 25 of 100 receipts"},
		{[]string{"exporting"}, 0, 79, 0, 0, 25, 100, 10 * time.Second, "exporting · 25 of 100 receipts · 30 s left"},
		{[]string{"exporting"}, 0, 79, 0, 0, 0, 100, 0, "exporting · 0 of 100 receipts"},
		{[]string{"exporting"}, 0, 79, 0, 0, 25, 0, 10 * time.Second, "exporting · 25 receipts · 10 s"},
		{[]string{"checking the file"}, 0, 79, 0, 0, 0, 0, 0, "checking the file"},
		{[]string{"checking the file"}, 0, 79, 0, 0, 0, 0, 75 * time.Second, "checking the file · 1 min 15 s"},
	} {
		now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
		p := &Progress{passes: test.passes, width: test.width, now: func() time.Time { return now }, begun: now}
		p.Pass(test.pass, test.ofBytes, test.ofRecs)
		p.Read(int(test.bytes))
		p.Receipts(int(test.receipts))
		now = now.Add(test.elapsed)
		got := p.text()
		if got != test.want || utf8.RuneCountInString(got) > test.width {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// TestProgressPasses verifies that a new pass starts at zero, and that another call for the same
// pass keeps its counts.
func TestProgressPasses(t *testing.T) {
	p := &Progress{passes: []string{"reading", "verifying"}, width: 79, now: time.Now, begun: time.Now()}
	p.Pass(0, 100, 0)
	p.Read(60)
	p.Pass(0, 100, 0) // the second file in the pass
	p.Read(40)
	if got, want := p.text(), "pass 1 of 2: reading · 100 bytes of 100 bytes"; got != want {
		t.Errorf("%q", got)
	}
	p.Pass(1, 100, 0)
	if got, want := p.text(), "pass 2 of 2: verifying · 0 bytes of 100 bytes"; got != want {
		t.Errorf("%q", got)
	}
}

// TestProgressUnseen verifies that all methods can be called on a nil Progress.
func TestProgressUnseen(t *testing.T) {
	p := (&Env{Getenv: func(string) string { return "" }}).Progress("reading")
	if p != nil {
		t.Fatal("it is shown where no terminal is")
	}
	p.Pass(0, 1, 1)
	p.Read(1)
	p.Receipts(1)
	p.hide()
	p.End()
}

// TestProgressEnds verifies that no progress is shown after End returns, even if End is called
// concurrently or repeatedly.
func TestProgressEnds(t *testing.T) {
	p := newProgress(&screen{w: io.Discard}, 80, time.Now, []string{"reading"})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			p.End()
			select {
			case <-p.gone:
			default:
				t.Error("frames after the end")
			}
		})
	}
	wg.Wait()

	var unseen *Progress
	unseen.End()
}
