package main

import (
	"fmt"
	"path/filepath"
)

// A sink takes the receipts in one form. Nothing has its final name before keep.
type sink interface {
	put(number int, text []byte) error
	keep() (told string, err error) // says what was written
	discard()                       // removes what was not kept
}

// The forms of a corpus.
const (
	formLines    = "jsonl"
	formZstd     = "zst"
	formSequence = "cborseq"
	formFiles    = "files"
)

func forms() []string { return []string{formLines, formZstd, formSequence, formFiles} }

func newSink(form, dir string) (sink, error) {
	switch form {
	case formLines:
		return newLines(filepath.Join(dir, "corpus.jsonl"))
	case formZstd:
		return newZstd(filepath.Join(dir, "corpus.jsonl.zst"))
	case formSequence:
		return newSequence(filepath.Join(dir, "corpus.cborseq"))
	case formFiles:
		return newFiles(filepath.Join(dir, "receipts"))
	}
	return nil, fmt.Errorf("there is no form %q", form)
}
