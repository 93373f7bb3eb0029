package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// rateWorker issues receipts for several seconds and prints the duration of each issue in
// microseconds. The task consists of a file, a prefix, a number of goroutines, and a number of
// seconds, separated by tabs.
func rateWorker(task string) error {
	f := strings.Split(task, "\t")
	goroutines, err := strconv.Atoi(f[2])
	if err != nil {
		return err
	}
	seconds, err := strconv.Atoi(f[3])
	if err != nil {
		return err
	}
	ctx := context.Background()
	l, err := sqlite.Open(ctx, f[0])
	if err != nil {
		return err
	}
	issuer := &ledger.Issuer{Store: l, Signer: signer(panics{})}
	if _, err := issuer.Issue(ctx, draft(f[1], "w")); err != nil { // performs the one-time work
		return err
	}
	errs, took := make([]error, goroutines), make([][]time.Duration, goroutines)
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	var group sync.WaitGroup
	for g := range goroutines {
		group.Go(func() {
			for n := 0; errs[g] == nil && time.Now().Before(end); n++ {
				begun := time.Now()
				_, errs[g] = issuer.Issue(ctx, draft(fmt.Sprintf("%s_%d_%d", f[1], g, n), "w"))
				took[g] = append(took[g], time.Since(begun))
			}
		})
	}
	group.Wait()
	for g := range goroutines {
		if errs[g] != nil {
			return errs[g]
		}
		for _, d := range took[g] {
			fmt.Println(d.Microseconds())
		}
	}
	return l.Close()
}

// rate runs processes that issue into a new ledger for several seconds. It returns the number of
// receipts per second, the median duration, and the 99th percentile of the durations.
func rate(b testing.TB, path string, processes, goroutines, seconds int) (perSecond float64, p50, p99 time.Duration) {
	b.Helper()
	var running []*exec.Cmd
	outs := make([]strings.Builder, processes)
	for p := range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("LEDGER_RATE=%s\tp%d_%d\t%d\t%d", path, p, time.Now().UnixNano(), goroutines, seconds))
		cmd.Stdout, cmd.Stderr = &outs[p], os.Stderr
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		running = append(running, cmd)
	}
	var all []time.Duration
	for p, cmd := range running {
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		for _, line := range strings.Fields(outs[p].String()) {
			n, err := strconv.Atoi(line)
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, time.Duration(n)*time.Microsecond)
		}
	}
	slices.Sort(all)
	return float64(len(all)) / float64(seconds), all[len(all)/2], all[len(all)*99/100]
}

// BenchmarkProcesses issues into one stream from one process and from eight processes, alternating
// every few seconds. It prints the ratio of the rates and the ratios of the 99th-percentile and
// median latencies.
func BenchmarkProcesses(b *testing.B) {
	for _, goroutines := range []int{1, 16} {
		b.Run(fmt.Sprint("goroutines/", goroutines), func(b *testing.B) {
			var rates, tails []float64
			for range max(3, b.N) {
				one, p50, p99 := rate(b, fresh(b), 1, goroutines, 4)
				b.Logf("1 process: %.0f/s, half in %v, 99 of 100 in %v", one, p50, p99)
				eight, p50, p99 := rate(b, fresh(b), 8, goroutines, 4)
				b.Logf("8 processes: %.0f/s, half in %v, 99 of 100 in %v", eight, p50, p99)
				rates, tails = append(rates, eight/one), append(tails, float64(p99)/float64(p50))
			}
			slices.Sort(rates)
			slices.Sort(tails)
			b.ReportMetric(rates[len(rates)/2], "eight/one")
			b.ReportMetric(tails[len(tails)/2], "p99/p50")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func fresh(b testing.TB) (path string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "ledger.db")
	l, err := sqlite.Create(context.Background(), path)
	if err != nil {
		b.Fatal(err)
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkReaders issues from one process, first alone and then while a thousand goroutines of
// that process read. It prints the ratio of the rates. It also prints the median and
// 99th-percentile times that readers need for a receipt or a page, and the ratio of these times.
func BenchmarkReaders(b *testing.B) {
	ctx, l := context.Background(), create(b)
	issuer := &ledger.Issuer{Store: l, Signer: signer(b)}
	n := 0
	issue := func(d time.Duration) float64 {
		before := n
		for end := time.Now().Add(d); time.Now().Before(end); n++ {
			if _, err := issuer.Issue(ctx, draft(fmt.Sprint("receipt_", n), "w")); err != nil {
				b.Fatal(err)
			}
		}
		return float64(n-before) / d.Seconds()
	}
	issue(time.Second)
	alone := issue(3 * time.Second)

	reading, stop := context.WithCancel(ctx)
	const readers = 1000
	took := make([][]time.Duration, readers)
	var group sync.WaitGroup
	for i := range readers {
		group.Go(func() {
			for k := i; reading.Err() == nil; k += 7919 {
				begun := time.Now()
				id := fmt.Sprint("receipt_", k%100)
				if k%2 == 0 {
					ledger.Get(ctx, l, id)
				} else {
					ledger.List(ctx, l, ledger.Query{Task: "task_" + id}, "", 50)
				}
				took[i] = append(took[i], time.Since(begun))
			}
		})
	}
	among := issue(6 * time.Second)
	stop()
	group.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	b.Logf("alone %.0f/s, among readers %.0f/s; %d reads, half in %v, 99 of 100 in %v, all in %v", alone, among, len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
	b.ReportMetric(among/alone, "among/alone")
	b.ReportMetric(float64(all[len(all)*99/100])/float64(all[len(all)/2]), "p99/p50")
	b.ReportMetric(0, "ns/op")
}
