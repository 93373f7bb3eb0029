package main

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// A sink writes the receipts in one form. The output gets its final name in keep.
type sink interface {
	put(number int, text []byte) error
	keep() (told string, err error) // describes the output
	discard()                       // removes an output that was not kept
}

// The forms of a corpus.
const (
	formLines    = "jsonl"
	formZstd     = "zst"
	formSequence = "cborseq"
	formFiles    = "files"
)

func forms() []string { return []string{formLines, formZstd, formSequence, formFiles} }

// window is the window size that a decoder of RFC 8878 must support (section 3.1.1.1.2).
const window = 8 << 20

func newSink(form, dir string) (sink, error) {
	switch form {
	case formLines:
		return newPart(filepath.Join(dir, "corpus.jsonl"), line)
	case formZstd:
		p, err := newPart(filepath.Join(dir, "corpus.jsonl.zst"), line)
		if err != nil {
			return nil, err
		}
		// A single goroutine, so that the number of processors does not affect the bytes.
		if p.encoder, err = zstd.NewWriter(p.Writer, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window)); err != nil {
			p.discard()
			return nil, err
		}
		return p, nil
	case formSequence:
		return newPart(filepath.Join(dir, "corpus.cborseq"), item())
	case formFiles:
		return newFiles(filepath.Join(dir, "receipts"))
	}
	return nil, fmt.Errorf("there is no form %q", form)
}

// line appends a receipt and a newline: JSON Lines.
func line(dst, text []byte) ([]byte, error) { return append(append(dst, text...), '\n'), nil }

// item returns a function that appends a receipt as an item of a CBOR sequence (RFC 8742).
func item() func(dst, text []byte) ([]byte, error) {
	codec, doc := archive.NewCodec(), new(canon.Document)
	return func(dst, text []byte) ([]byte, error) {
		if err := doc.Parse(text, canon.Limits{}); err != nil {
			return dst, err
		}
		return codec.Append(dst, doc)
	}
}

// A part is a file with all receipts that gets its final name when it is complete.
type part struct {
	*bufio.Writer
	encoder io.WriteCloser // between the receipts and the file; nil: none
	form    func(dst, text []byte) ([]byte, error)
	one     []byte // the last receipt in that form
	path    string
	tally   *tally
}

// A tally counts and hashes what is written to a file.
type tally struct {
	*os.File
	hash  hash.Hash
	bytes int64
}

func (t *tally) Write(b []byte) (int, error) {
	n, err := t.File.Write(b)
	t.hash.Write(b[:n])
	t.bytes += int64(n)
	return n, err
}

func newPart(path string, form func(dst, text []byte) ([]byte, error)) (*part, error) {
	file, err := os.Create(path + ".part")
	if err != nil {
		return nil, err
	}
	t := &tally{File: file, hash: sha256.New()}
	return &part{Writer: bufio.NewWriterSize(t, 1<<20), form: form, path: path, tally: t}, nil
}

func (p *part) put(_ int, text []byte) (err error) {
	if p.one, err = p.form(p.one[:0], text); err != nil {
		return err
	}
	if p.encoder != nil {
		_, err = p.encoder.Write(p.one)
		return err
	}
	_, err = p.Write(p.one)
	return err
}

func (p *part) keep() (string, error) {
	if p.encoder != nil {
		if err := p.encoder.Close(); err != nil {
			return "", err
		}
	}
	if err := errors.Join(p.Flush(), p.tally.Close()); err != nil {
		return "", err
	}
	told := fmt.Sprintf("%s: %d bytes, sha256:%x", p.path, p.tally.bytes, p.tally.hash.Sum(nil))
	return told, os.Rename(p.tally.Name(), p.path)
}

// discard has no effect on a part that was kept.
func (p *part) discard() {
	p.tally.Close()
	os.Remove(p.tally.Name())
}

// files is a directory with one file per receipt, named by its number.
type files struct {
	dir, part    string
	count, bytes int
}

func newFiles(dir string) (sink, error) {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is there already; its files would stay among the new ones", dir)
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return nil, err
	}
	return &files{dir: dir, part: part}, os.Mkdir(part, 0o777)
}

func (f *files) put(number int, text []byte) error {
	f.count++
	f.bytes += len(text) + 1
	name := filepath.Join(f.part, fmt.Sprintf("%07d.json", number))
	return os.WriteFile(name, append(slices.Clip(text), '\n'), 0o666) // the caller owns text
}

func (f *files) keep() (string, error) {
	return fmt.Sprintf("%s: %d files, %d bytes", f.dir, f.count, f.bytes), os.Rename(f.part, f.dir)
}

func (f *files) discard() { os.RemoveAll(f.part) }
