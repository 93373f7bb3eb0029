package main

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
)

// A keptLog writes the file of --log, whole or not at all: beside it first, as a
// log may be larger than memory. It holds what the task did, so only its owner may
// read it. The zero keptLog writes nothing.
type keptLog struct {
	path string
	file *os.File
	out  *bufio.Writer
}

func newKeptLog(path string, force bool) (*keptLog, error) {
	if path == "" {
		return &keptLog{}, nil
	}
	if path == stdinName {
		return nil, usage("", "--log takes a file: the draft goes to stdout")
	}
	if _, err := mayWrite(path, force); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".receipt-*") // mode 0600
	if err != nil {
		return nil, usage("", "%q: %w", path, reason(err))
	}
	return &keptLog{path, f, bufio.NewWriter(f)}, nil
}

func (k *keptLog) add(line []byte) error {
	if k.file == nil {
		return nil
	}
	_, err := k.out.Write(line)
	return k.fault(err)
}

// finish makes the file appear under its name.
func (k *keptLog) finish() error {
	if k.file == nil {
		return nil
	}
	err := errors.Join(k.out.Flush(), k.file.Sync(), k.file.Close())
	if err == nil {
		err = os.Rename(k.file.Name(), k.path)
	}
	if err != nil {
		return k.fault(err)
	}
	k.file = nil
	return nil
}

// discard removes what was not finished.
func (k *keptLog) discard() {
	if k.file != nil {
		k.file.Close()
		os.Remove(k.file.Name())
	}
}

func (k *keptLog) fault(err error) error {
	if err == nil {
		return nil
	}
	return usage("", "%q: %w", k.path, reason(err))
}
