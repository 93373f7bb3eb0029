package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/receiptkit/receiptkit/fixtures/lake"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/parquet"
	"github.com/receiptkit/receiptkit/scale/terms"
)

// cells returns the sorted rows of Parquet files. Each row is the text of all of its columns.
func cells(t *testing.T, files ...string) (list []string) {
	t.Helper()
	for _, path := range files {
		table, err := pq.ReadFile[rows.Row](path)
		if err != nil {
			t.Fatal(path, err)
		}
		for i := range table {
			list = append(list, fmt.Sprintf("%q", table[i].AppendCells(nil)))
		}
	}
	slices.Sort(list)
	return list
}

// TestRows verifies that the rows equal those of "receipt verify --unordered --report", in every
// column.
func TestRows(t *testing.T) {
	l, err := lake.New(600, 17)
	if err != nil {
		t.Fatal(err)
	}
	dir, paths, _ := lay(t, l, 8, true, true, rand.New(rand.NewPCG(11, 12)))
	prefix := filepath.Join(t.TempDir(), "v")
	if code, out, messages := runBeam(t, "--input", filepath.Join(dir, "*.jsonl"), "--keys", fixture(t, lake.Keys), "--expect-head", heads(t, l), "--output", prefix, "--shards", "3"); code != terms.ExitRefuted || messages != "" {
		t.Fatalf("exit %d: %s%s", code, out, messages)
	}

	var file bytes.Buffer
	table := parquet.NewWriter(&file)
	run := stream.VerifyFiles(t.Context(), verifier(t, false), sources(paths), stream.Options{Unordered: true, Extract: rows.Extract, Continuity: stream.Continuity{Expect: l.Expect}})
	for rep := range run.Reports() {
		if err := table.Write(rows.Of(rep)); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := run.Summary()
	if err != nil {
		t.Fatal(err)
	}
	about := rows.About(sum)
	for _, r := range about {
		if err := table.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}

	files, err := filepath.Glob(prefix + "-*.parquet")
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	got, want := cells(t, files...), cells(t, write(t, filepath.Join(t.TempDir(), "v.parquet"), file.Bytes()))
	if len(want) < len(l.Lines) || len(about) == 0 {
		t.Fatalf("%d rows, %d of them about no receipt", len(want), len(about))
	}
	if len(got) != len(want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("row %d is %s, want %s", i, got[i], want[i])
		}
	}
	if !strings.Contains(strings.Join(want, ""), "chain_fork") {
		t.Error("no row has a fork")
	}
}
