package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash"
	"os"
)

// A part is a file that gets its name when it is complete.
type part struct {
	*bufio.Writer
	path  string
	file  *os.File
	tally *tally
}

// A tally counts and hashes what is written to a file.
type tally struct {
	file  *os.File
	hash  hash.Hash
	bytes int64
}

func (t *tally) Write(b []byte) (int, error) {
	n, err := t.file.Write(b)
	t.hash.Write(b[:n])
	t.bytes += int64(n)
	return n, err
}

func newPart(path string) (*part, error) {
	file, err := os.Create(path + ".part")
	if err != nil {
		return nil, err
	}
	t := &tally{file: file, hash: sha256.New()}
	return &part{bufio.NewWriterSize(t, 1<<20), path, file, t}, nil
}

func (p *part) keep() (string, error) {
	if err := p.Flush(); err != nil {
		return "", err
	}
	if err := p.file.Close(); err != nil {
		return "", err
	}
	if err := os.Rename(p.file.Name(), p.path); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %d bytes, sha256:%x", p.path, p.tally.bytes, p.tally.hash.Sum(nil)), nil
}

// discard does nothing to a part that was kept.
func (p *part) discard() {
	p.file.Close()
	os.Remove(p.file.Name())
}
