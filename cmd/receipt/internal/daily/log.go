package daily

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// A logFile is a log that has been surveyed.
type logFile struct {
	*place
	info    fs.FileInfo // file information from the time of the survey
	outline *source.Outline
	memory  *remembered // nil if no earlier result is stored
}

// A plain log is a log that has been opened and decompressed.
type plain struct {
	io.Reader
	info   fs.FileInfo // file information from the time at which it was opened
	opened *os.File
	packed bool // the file is compressed, so it can be read only in order
	done   func()
}

// An opener opens logs, and closes them when the run ends.
type opener struct {
	ctx      context.Context
	progress *cli.Progress
}

// read opens a log for reading.
func (o *opener) read(p *place) (*plain, error) {
	f, err := p.open()
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, cli.Reason(err)
	}

	// An interruption ends every read of the log.
	in := &untilDone{o.ctx, o.progress.Reader(f)}
	size := int64(0)
	text, packed, done, err := unpack.Plain(bufio.NewReader(in), unpack.Options{}, &size)
	if err != nil {
		f.Close()
		return nil, err
	}

	return &plain{Reader: text, info: info, opened: f, packed: packed, done: func() { done(); f.Close() }}, nil
}

// An untilDone reader fails after the run has ended.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (u *untilDone) Read(b []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, errInterrupted
	}
	n, err := u.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = cli.Reason(err)
	}
	return n, err
}

var (
	errInterrupted = errors.New("interrupted")
	errChanged     = errors.New("it changed while it was read")
)

// lines returns a reader of a task's lines in one log. Lines that the task needs from the rest of
// the session come first.
func (o *opener) lines(l *logFile, part *source.Part) (*plain, error) {
	in, err := o.read(l.place)
	if err != nil {
		return nil, err
	}

	// If a log has changed, it is read only if it still begins with the surveyed bytes.
	if !os.SameFile(in.info, l.info) || in.info.Size() != l.info.Size() || !in.info.ModTime().Equal(l.info.ModTime()) {
		if err := o.same(l); err != nil {
			in.done()
			return nil, err
		}
	}

	// In an uncompressed file, each part is read in place. A compressed file is read twice, because
	// lines of the session may follow lines of the task.
	if !in.packed {
		var all []io.Reader
		for _, s := range slices.Concat(part.Aside, part.Spans) {
			section := o.progress.Reader(io.NopCloser(io.NewSectionReader(in.opened, s.From, s.Until-s.From)))
			all = append(all, &spans{in: &untilDone{o.ctx, section}, at: s.From, left: []source.Span{s}})
		}
		in.Reader = io.MultiReader(all...)
		return in, nil
	}

	aside, err := io.ReadAll(&spans{in: in.Reader, left: part.Aside})
	in.done()
	if err != nil {
		return nil, err
	}
	if in, err = o.read(l.place); err != nil {
		return nil, err
	}
	in.Reader = io.MultiReader(bytes.NewReader(aside), &spans{in: in.Reader, left: part.Spans})
	return in, nil
}

// A spans reader is an [io.Reader] that reads parts of a log in order.
type spans struct {
	in   io.Reader
	at   int64
	left []source.Span
}

func (s *spans) Read(b []byte) (int, error) {
	for len(s.left) > 0 {
		next := s.left[0]
		if skip := next.From - s.at; skip > 0 {
			n, err := io.CopyN(io.Discard, s.in, skip)
			if s.at += n; err != nil {
				return 0, shorter(err)
			}
		}

		// After a part has been read completely, the next part follows.
		if s.at == next.Until {
			s.left = s.left[1:]
			continue
		}
		n, err := s.in.Read(b[:min(int64(len(b)), next.Until-s.at)])
		s.at += int64(n)
		if err == io.EOF && s.at < next.Until {
			return n, errChanged
		}
		if n > 0 {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}

	return 0, io.EOF
}

func shorter(err error) error {
	if err == io.EOF {
		return errChanged
	}
	return err
}

// still returns an error if a log changed while it was read. It accepts a log that grew and still
// begins with the surveyed bytes.
func (o *opener) still(l *logFile, in *plain) error {
	info, err := in.opened.Stat()
	if err != nil {
		return cli.Reason(err)
	}
	if info.ModTime().Equal(in.info.ModTime()) && info.Size() == in.info.Size() {
		return nil
	}
	return o.same(l)
}

// same checks that a log still begins with the surveyed bytes.
func (o *opener) same(l *logFile) error {
	in, err := o.read(l.place)
	if err != nil {
		return err
	}
	defer in.done()
	sum := sha256.New()
	if _, err := io.CopyN(sum, in.Reader, l.outline.Bytes); err != nil {
		return shorter(err)
	}
	if canon.Digest(sum.Sum(nil)) != l.outline.Digest {
		return errChanged
	}

	// The log may have grown, so its new state is stored if it has the same beginning.
	l.info = in.info
	return nil
}
