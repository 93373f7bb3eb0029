package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/receiptkit/receiptkit/receipt"
)

// stdinName is how a verb is told to read stdin.
const stdinName = "-"

// readInput reads one document: a file, or stdin for "-". It stops one byte
// behind the largest receipt, so that endless inputs end.
func readInput(e *env, path string) ([]byte, error) {
	return readBounded(e, path, receipt.MaxBytes+1)
}

func readBounded(e *env, path string, most int64) ([]byte, error) {
	if path == stdinName {
		return readAll(e.in, "stdin", most)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, readError(path, err)
	}
	if info.IsDir() {
		return nil, usage("", "%q is a folder, expected a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, readError(path, err)
	}
	defer f.Close()
	return readAll(f, fmt.Sprintf("%q", path), most)
}

func readAll(r io.Reader, name string, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most))
	if err != nil {
		return nil, usage("", "%s: %w", name, reason(err))
	}
	return data, nil
}

func readError(path string, err error) error {
	hint := ""
	if errors.Is(err, fs.ErrNotExist) {
		hint = "check the path; - reads stdin"
	}
	return usage(hint, "%q: %w", path, reason(err))
}

// reason takes the path out of a file error, which the message names already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
