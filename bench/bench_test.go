package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/schemas"
)

func TestCorpus(t *testing.T) {
	schema, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	all, again := corpora(), corpora()
	if len(all) != 6 {
		t.Fatalf("%d corpora", len(all))
	}
	for i, c := range all {
		seen := map[string]bool{}
		for j, src := range c.receipts {
			doc, err := canon.Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			if r := schema.Check(doc.Root()); r.Total != 0 {
				t.Fatalf("%s: receipt %d: %v", c.name, j, r.Problems)
			}
			if !bytes.Equal(src, again[i].receipts[j]) {
				t.Fatalf("%s: receipt %d differs from run to run", c.name, j)
			}
			seen[string(src)] = true
		}
		if len(seen) != len(c.receipts) || len(seen) == 0 {
			t.Errorf("%s: %d of %d receipts are distinct", c.name, len(seen), len(c.receipts))
		}
		t.Logf("%s: mean %d bytes", c.name, c.bytes/len(c.receipts))
	}
}

func TestRivalsAgree(t *testing.T) {
	for _, c := range corpora() {
		if _, err := compare(c, rivals(), 1, time.Nanosecond); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	liar := rival{"liar", func(_, src []byte) ([]byte, error) { return src, nil }}
	if agree(corpora()[0], []rival{rivals()[0], liar}) == nil {
		t.Error("a rival that copies its input agrees")
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	if err := table(&b, 1, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 7 {
		t.Errorf("%d lines:\n%s", len(lines), b.String())
	}
	for _, line := range lines[1:] {
		if got := len(strings.Fields(line)); got != 10 {
			t.Errorf("%d fields: %s", got, line)
		}
	}
}

// TestSteadyState: a reused Document allocates nothing.
func TestSteadyState(t *testing.T) {
	first := rivals()[0]
	for _, c := range corpora() {
		var dst []byte
		i := 0
		next := func() {
			var err error
			if dst, err = first.canonicalize(dst, c.receipts[i%len(c.receipts)]); err != nil {
				t.Fatal(err)
			}
			i++
		}
		for range c.receipts {
			next() // grow to the size of the largest
		}
		if n := testing.AllocsPerRun(len(c.receipts), next); n != 0 {
			t.Errorf("%s: %v allocations a receipt", c.name, n)
		}
	}
}

func BenchmarkCanonicalize(b *testing.B) {
	for _, c := range corpora() {
		for _, r := range rivals() {
			b.Run(c.name+"/"+r.name, func(b *testing.B) {
				b.SetBytes(int64(c.bytes / len(c.receipts)))
				b.ReportAllocs()
				var dst []byte
				for i := 0; b.Loop(); i++ {
					var err error
					if dst, err = r.canonicalize(dst, c.receipts[i%len(c.receipts)]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
