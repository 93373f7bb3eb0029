package parquet_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/parquet"
)

// task returns the row of a valid receipt.
func task(t *testing.T) (row rows.Row) {
	t.Helper()
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, NoInputDigest: true})
	if err != nil {
		t.Fatal(err)
	}
	data, err := fixtures.Read("valid/task.json")
	if err != nil {
		t.Fatal(err)
	}
	run := stream.VerifyFiles(context.Background(), v, []stream.Source{stream.From("in.jsonl", bytes.NewReader(data))}, stream.Options{Extract: rows.Extract})
	for rep := range run.Reports() {
		row = rows.Of(rep)
	}
	return row
}

// TestColumns verifies that a file has the columns of the table, each of which is nullable.
func TestColumns(t *testing.T) {
	var names []string
	for _, field := range pq.SchemaOf(rows.Row{}).Fields() {
		names = append(names, field.Name())
		if !field.Optional() {
			t.Errorf("%s cannot be NULL", field.Name())
		}
	}
	if want := rows.Columns(); !slices.Equal(names, want) {
		t.Errorf("in files %q, want %q", names, want)
	}
}

// TestWriter verifies that rows are read back as they were written, with NULL as NULL, from files
// with many row groups.
func TestWriter(t *testing.T) {
	first := task(t)
	last := rows.Row{Kind: "finding", Verdict: "refuted"}
	for _, n := range []int{0, 1, 256, 257, 65_537} {
		var file bytes.Buffer
		w := parquet.NewWriter(&file)
		for i := range n {
			row := first
			row.Index = int64(i + 1)
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Write(last); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}

		groups, list := readBack(t, file.Bytes())
		if want := n/65_000 + 1; groups != want || len(list) != n+1 { // the lengths of strings also determine the groups
			t.Fatalf("%d groups of %d rows, want %d of %d", groups, len(list), want, n+1)
		}
		for i, row := range list[:n] {
			if row.Index != int64(i+1) || row.ReceiptHash != first.ReceiptHash || *row.Cost != *first.Cost || *row.IssuedAt != *first.IssuedAt || !*row.First || row.CostLeast != nil {
				t.Fatalf("row %d of %d: %v", i, n, row.AppendCells(nil))
			}
		}
		if got, want := list[n].AppendCells(nil), last.AppendCells(nil); !slices.Equal(got, want) {
			t.Errorf("last: %q, want %q", got, want)
		}
	}
}

func readBack(t *testing.T, file []byte) (groups int, list []rows.Row) {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	list, err = pq.Read[rows.Row](bytes.NewReader(file), int64(len(file)))
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return len(f.RowGroups()), list
}

// TestNullIsNull verifies that absent values are NULL in the file, at any position, instead of an
// empty string or zero. A Go struct could not distinguish these values.
func TestNullIsNull(t *testing.T) {
	c := rand.New(rand.NewPCG(1, 2))
	full := task(t)
	rounds := testsize.Of(100, 300)
	for round := range rounds {
		var file bytes.Buffer
		w := parquet.NewWriter(&file)
		list := make([]rows.Row, 1+c.IntN(20))
		for i := range list {
			row := reflect.ValueOf(&list[i]).Elem()
			for k := range row.NumField() {
				if c.IntN(3) > 0 {
					row.Field(k).Set(reflect.ValueOf(full).Field(k))
				}
			}
			list[i].Previous += strings.Repeat("x", c.IntN(2))
			list[i].Tenant = list[i].Tenant[:len(list[i].Tenant)*c.IntN(2)] // "" that points to memory
			if err := w.Write(list[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}

		in := pq.NewReader(bytes.NewReader(file.Bytes()))
		values := make([]pq.Row, len(list))
		if n, err := in.ReadRows(values); n != len(list) || err != nil && err != io.EOF {
			t.Fatal(n, err)
		}
		for i := range list {
			for k, cell := range list[i].AppendCells(nil) {
				if values[i][k].IsNull() != (cell == "") {
					t.Fatalf("round %d, row %d of %d: %s is %q, but NULL is %t", round, i, len(list), rows.Columns()[k], cell, values[i][k].IsNull())
				}
			}
		}
	}
}

// TestFileIsWhatWasWritten verifies each value in a file with many pages. Some of the strings share
// a prefix with the previous string, some extend it, and others have nothing in common with it.
func TestFileIsWhatWasWritten(t *testing.T) {
	c := rand.New(rand.NewPCG(3, 4))
	texts := []string{"", "a", "ab", "abc", "é", "sha256:", strings.Repeat("a", 256), strings.Repeat("a", 255) + "b"}
	list := make([]rows.Row, 3000)
	var file bytes.Buffer
	w := parquet.NewWriter(&file)
	for i := range list {
		row := reflect.ValueOf(&list[i]).Elem()
		for k := range row.NumField() {
			n, there := c.Int64()-c.Int64(), c.IntN(4) > 0
			switch to := row.Field(k).Addr().Interface().(type) {
			case *string:
				if *to = texts[c.IntN(len(texts))]; there {
					*to += canon.Sum(binary.AppendVarint(nil, n)).String()[:c.IntN(72)]
				}
			case *int64:
				*to = max(0, n)
			case **int64:
				*to = pointer(n, there)
			case **float64:
				*to = pointer(c.NormFloat64(), there)
			case **bool:
				*to = pointer(n > 0, there)
			case **rows.Instant:
				*to = pointer(rows.Instant(c.Int64N(4e15)), there)
			default:
				t.Fatalf("%T", to)
			}
		}
		if err := w.Write(list[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	_, back := readBack(t, file.Bytes())
	if len(back) != len(list) {
		t.Fatalf("%d rows, want %d", len(back), len(list))
	}
	for i := range list {
		if got, want := back[i].AppendCells(nil), list[i].AppendCells(nil); !slices.Equal(got, want) {
			t.Fatalf("row %d is\n%q, want\n%q", i, got, want)
		}
	}
}

func pointer[T any](value T, there bool) *T {
	if !there {
		return nil
	}
	return &value
}

// TestHashesAreHalved verifies that each digit of a hash takes up four bits.
func TestHashesAreHalved(t *testing.T) {
	const n = 10_000
	var file bytes.Buffer
	w := parquet.NewWriter(&file)
	for i := range n {
		if err := w.Write(rows.Row{ReceiptHash: canon.Sum(fmt.Append(nil, i)).String()}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if each := file.Len() / n; each > 35 {
		t.Errorf("%d bytes for a hash of 32", each)
	}
}

// TestGroupsAreBounded verifies that long strings end a row group early.
func TestGroupsAreBounded(t *testing.T) {
	var file bytes.Buffer
	w := parquet.NewWriter(&file)
	const n = 20_000
	for i := range n {
		text := strings.Repeat(fmt.Sprintf("%08d", i), 40)
		if err := w.Write(rows.Row{Issuer: text, Workspace: text, Stream: text, Model: text, Source: text}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if groups, list := readBack(t, file.Bytes()); groups != n*5*320/(16<<20)+1 || len(list) != n {
		t.Errorf("%d rows in %d groups", len(list), groups)
	}
}

// TestMemory verifies that memory use does not grow with the number of rows.
func TestMemory(t *testing.T) {
	n := testsize.Of(150_000, 1_000_000)
	row := task(t)
	w := parquet.NewWriter(io.Discard)
	var most uint64
	for i := range n {
		row := row
		hash := canon.Sum(fmt.Append(nil, i)).String()
		row.Index, row.ReceiptHash, row.Stated, row.Address, row.ReceiptID = int64(i+1), hash, hash, fmt.Sprintf("in.jsonl:%d", i+1), fmt.Sprintf("receipt_%d", i)
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
		if i%50_000 == 49_999 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows: at most %d MiB in use", n, most>>20)
	if most > 48<<20 {
		t.Errorf("%d MiB in use, expected at most 48", most>>20)
	}
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after -= len(p); f.after < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// TestWriteFails verifies that a full disk never leads to a complete file.
func TestWriteFails(t *testing.T) {
	row := task(t)
	for _, after := range []int{0, 3, 4, 1000} {
		w := parquet.NewWriter(&failing{after})
		err := w.Write(row)
		if closed := w.Close(); err == nil && closed == nil {
			t.Errorf("no error after %d bytes", after)
		}
	}

	// This must also hold if space becomes available again.
	disk := &failing{1 << 10}
	w, before := parquet.NewWriter(disk), error(nil)
	row.ReceiptID = strings.Repeat("a", 1<<20)
	for n := 0; before == nil && n < 16; n++ {
		before = w.Write(row)
	}
	if before == nil {
		t.Fatal("no error in a group")
	}
	disk.after = 1 << 30
	if err := w.Write(row); err != before {
		t.Errorf("%v after %v", err, before)
	}
	if err := w.Close(); err != before {
		t.Errorf("%v after %v", err, before)
	}
}
