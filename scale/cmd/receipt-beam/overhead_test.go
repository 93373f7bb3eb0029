package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/lake"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/parquet"
)

// BenchmarkOverhead measures the cost per receipt with prism, and without an engine if the same
// rows are written. The ratio of these times is the overhead of the engine.
func BenchmarkOverhead(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			paths := spread(b, n, 100)
			for b.Loop() {
				started := time.Now()
				judge(b, paths)
				alone := time.Since(started)

				started = time.Now()
				prefix := filepath.Join(b.TempDir(), "v")
				if _, _, messages := runBeam(b, "--input", filepath.Join(filepath.Dir(paths[0]), "*"), "--keys", fixture(b, lake.Keys), "--output", prefix); messages != "" {
					b.Fatal(messages)
				}
				engine := time.Since(started)
				b.ReportMetric(float64(alone.Microseconds())/float64(n), "verify-µs/receipt")
				b.ReportMetric(float64(engine.Microseconds())/float64(n), "beam-µs/receipt")
				b.ReportMetric(float64(engine)/float64(alone), "ratio")
			}
		})
	}
}

// spread distributes n receipts over parts in no particular order, and writes them.
func spread(b *testing.B, n, parts int) (paths []string) {
	b.Helper()
	l, err := lake.New(n, 17)
	if err != nil {
		b.Fatal(err)
	}
	files, _ := l.Deal(parts, true, true, rand.New(rand.NewPCG(11, 12)))
	dir := b.TempDir()
	for i, text := range files {
		paths = append(paths, write(b, filepath.Join(dir, fmt.Sprintf("part-%03d.jsonl", i)), text))
	}
	return paths
}

// judge verifies files in the same way as "receipt verify --unordered --report rows.parquet".
func judge(b *testing.B, paths []string) {
	b.Helper()
	var sources []stream.Source
	for path := range slices.Values(paths) {
		sources = append(sources, stream.Source{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }})
	}
	file, err := os.Create(filepath.Join(b.TempDir(), "rows.parquet"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	table := parquet.NewWriter(file)
	run := stream.VerifyFiles(b.Context(), verifier(b, false), sources, stream.Options{Unordered: true, TempDir: b.TempDir(), Extract: rows.Extract})
	for rep := range run.Reports() {
		if err := table.Write(rows.Of(rep)); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := run.Summary(); err != nil {
		b.Fatal(err)
	}
	if err := table.Close(); err != nil {
		b.Fatal(err)
	}
}
