package main

import (
	"bufio"
	"os"
	"path/filepath"
)

// A reportFile is written beside its place and moved there when it is whole, so
// that nobody reads a part of it.
type reportFile struct {
	*bufio.Writer
	path string
	temp *os.File // nil once it is moved or removed
}

func newReportFile(path string, force bool) (*reportFile, error) {
	if _, err := mayWrite(path, force); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".receipt-*")
	if err != nil {
		return nil, usage("", "%q: %w", path, reason(err))
	}
	return &reportFile{bufio.NewWriterSize(f, 64<<10), path, f}, nil
}

func (r *reportFile) commit() (err error) {
	f := r.temp
	defer func() {
		if err != nil {
			r.discard()
			err = usage("", "%q: %w", r.path, reason(err))
		}
	}()
	if err = r.Flush(); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), r.path); err == nil {
		r.temp = nil
	}
	return err
}

func (r *reportFile) discard() {
	if r.temp != nil {
		r.temp.Close()
		os.Remove(r.temp.Name())
		r.temp = nil
	}
}
