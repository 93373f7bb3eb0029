package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

func TestSame(t *testing.T) {
	c, err := corpus.New(corpus.Config{Receipts: 300, Streams: 3})
	if err != nil {
		t.Fatal(err)
	}
	trust, err := c.Keys()
	if err != nil {
		t.Fatal(err)
	}
	var lines, items []byte
	codec := archive.NewCodec()
	for _, r := range c.All() {
		lines = append(append(lines, r...), '\n')
		d, err := canon.Parse(r)
		if err != nil {
			t.Fatal(err)
		}
		if items, err = codec.Append(items, d); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	keys, jsonl, cborseq := write("keys.json", trust), write("a.jsonl", lines), write("a.cborseq", items)
	if err := same(io.Discard, []string{keys, jsonl, cborseq}); err != nil {
		t.Error(err)
	}
	altered := write("b.jsonl", bytes.Replace(lines, []byte("SUCCEEDED"), []byte("FAILED"), 1))
	if same(io.Discard, []string{keys, jsonl, altered}) == nil {
		t.Error("an altered corpus says the same")
	}
	if same(io.Discard, []string{keys, jsonl, write("c.jsonl", lines[:len(lines)/2])}) == nil {
		t.Error("half a corpus says the same")
	}
}
