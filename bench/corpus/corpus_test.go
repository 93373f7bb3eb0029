package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// made runs the command, and returns the directory that it wrote and its output.
func made(t *testing.T, args ...string) (dir, told string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "corpus")
	o, err := parse(append([]string{"-o", dir}, args...), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := write(t.Context(), o, &b); err != nil {
		t.Fatal(err)
	}
	if parts, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(parts) > 0 {
		t.Errorf("files remain: %q", parts)
	}
	return dir, b.String()
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestForms verifies that all forms contain the same receipts, and that the other files in the
// directory suffice to verify them.
func TestForms(t *testing.T) {
	dir, told := made(t, "-receipts", "40", "-form", "jsonl,zst,cborseq,files")
	lines := read(t, dir, "corpus.jsonl")
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	if plain, err := decoder.DecodeAll(read(t, dir, "corpus.jsonl.zst"), nil); err != nil || !bytes.Equal(plain, lines) {
		t.Errorf("the compressed form has other lines (%v)", err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "receipts", "*.json"))
	if err != nil || len(names) != 40 {
		t.Fatalf("%d files (%v)", len(names), err)
	}
	var joined []byte
	for _, name := range names {
		joined = append(joined, read(t, name)...)
	}
	if !bytes.Equal(joined, lines) {
		t.Error("the files are not the lines")
	}
	if !bytes.Equal(fromCBOR(t, filepath.Join(dir, "corpus.cborseq")), lines) {
		t.Error("the items are not the lines")
	}
	verify(t, dir, bytes.Lines(lines))
	if want := "40 receipts, "; !strings.HasPrefix(told, want) || strings.Count(told, "\n") != 5 {
		t.Errorf("reported %q", told)
	}
}

// fromCBOR returns the receipts in a CBOR sequence as JSON lines.
func fromCBOR(t *testing.T, path string) (lines []byte) {
	t.Helper()
	codec, r := archive.NewCodec(), archive.NewReader(bytes.NewReader(read(t, path)))
	for {
		item, err := r.Next()
		if err == io.EOF {
			return lines
		}
		if err == nil {
			lines, err = codec.AppendJSON(lines, item)
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, '\n')
	}
}

func verify(t *testing.T, dir string, texts func(func([]byte) bool)) {
	t.Helper()
	set, err := keys.ParseSet(read(t, dir, "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for text := range texts {
		if _, err := v.Open(text); err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count == 0 {
		t.Error("no receipts")
	}
}

// TestTexts verifies that each text format contains the same values as the plain format.
func TestTexts(t *testing.T) {
	plain, _ := made(t, "-receipts", "10", "-form", "files")
	for _, text := range []string{"pretty", "ascii"} {
		dir, _ := made(t, "-receipts", "10", "-form", "files", "-text", text)
		for _, name := range []string{"0000001.json", "0000010.json"} {
			want, got := read(t, plain, "receipts", name), read(t, dir, "receipts", name)
			back, err := canon.Transform(got)
			if err != nil || !bytes.Equal(append(back, '\n'), want) || bytes.Equal(got, want) {
				t.Errorf("%s: %s: not another spelling of the same (%v)", text, name, err)
			}
		}
	}
}

func TestDamage(t *testing.T) {
	whole, _ := made(t, "-receipts", "10")
	dir, _ := made(t, "-receipts", "10", "-damage", "3:break", "-damage", "7:hash")
	lines := bytes.SplitAfter(read(t, whole, "corpus.jsonl"), []byte("\n"))
	damaged := bytes.SplitAfter(read(t, dir, "corpus.jsonl"), []byte("\n"))
	if len(lines) != 11 || len(damaged) != 10 { // each with an empty end
		t.Fatalf("%d and %d lines", len(lines), len(damaged))
	}
	for i, line := range damaged {
		before := lines[i]
		if i >= 2 {
			before = lines[i+1]
		}
		if same := bytes.Equal(line, before); same != (i != 5) { // 7, of which 3 is gone, from 0
			t.Errorf("line %d is unchanged: %t", i+1, same)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, line := range []string{
		"", "-o x y", "-o x -form xml", "-o x -form jsonl,jsonl", "-o x -form ,", "-o x -text ugly",
		"-o x -text pretty", "-o x -text pretty -form files,jsonl", "-o x -damage 5", "-o x -seed -1",
	} {
		if _, err := parse(strings.Fields(line), io.Discard); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}

// TestFailureLeavesNothing verifies that a failed run leaves only the trust file, which was completed
// before the failure.
func TestFailureLeavesNothing(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	dir := t.TempDir()
	o, err := parse([]string{"-o", dir, "-receipts", "100", "-form", "jsonl,zst,cborseq,files"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(ctx, o, io.Discard); err == nil {
		t.Error("interrupted, yet no error")
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) != 1 || filepath.Base(left[0]) != "keys.json" {
		t.Errorf("files remain: %q", left)
	}
}

// TestFilesAreNotMixed verifies that the command does not add receipts to an existing directory of
// receipts.
func TestFilesAreNotMixed(t *testing.T) {
	dir, _ := made(t, "-receipts", "2", "-form", "files")
	o, err := parse([]string{"-o", dir, "-receipts", "1", "-form", "files"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), o, io.Discard); err == nil {
		t.Error("the folder is there already, yet no error")
	}
}
