package stream

import (
	"bufio"
	"fmt"
	"io"
)

// A Source is one of several inputs.
type Source struct {
	Name string
	Kind Kind // zero: sniffed

	// Index names one document of the source, as reports and [receipt.Report.Address]
	// count. The others are cut out and not judged. 0: all of them.
	Index int

	// Open returns the content. An input of several sources is read twice: once
	// for the links, once to verify.
	Open func() (io.ReadCloser, error)

	// Found says that the source was not named but found, as in a folder. Other
	// documents of this toolkit that lie beside receipts are then skipped and
	// named, instead of refuted for not being receipts.
	Found bool
}

// An opened source is being cut into documents.
type opened struct {
	cutter
	close func()
}

// cut opens, decompresses and sniffs a source. meter sees every byte read.
func (s *Source) cut(packed compression, meter func(int)) (*opened, error) {
	file, err := s.Open()
	if err != nil {
		return nil, err
	}

	from := &metered{Reader: file, meter: meter}
	plain, compressed, done, err := decompress(bufio.NewReaderSize(from, readBytes), packed, &from.count)
	if err != nil {
		file.Close()
		return nil, err
	}

	closer := func() { done(); file.Close() }
	cut, err := cutterFor(plain, s.Kind, s.Name, compressed)
	if err != nil {
		closer()
		return nil, err
	}

	if s.Index > 0 {
		cut = &chosen{cutter: cut, index: s.Index}
	}
	return &opened{cut, closer}, nil
}

// A chosen cutter hands out one document of another and ends.
type chosen struct {
	cutter
	index int
	done  bool
}

func (c *chosen) ready() bool { return c.done || c.cutter.ready() }

func (c *chosen) next() (piece, error) {
	if c.done {
		return piece{}, io.EOF
	}
	for {
		d, err := c.cutter.next()
		switch {
		case err == io.EOF:
			return d, fmt.Errorf("it has no document %d", c.index)
		case err != nil:
			return d, err
		case d.index == c.index:
			c.done = true
			return d, nil
		}
	}
}

// metered tells how much was read. An error is final: looking ahead must not
// swallow it.
type metered struct {
	io.Reader
	meter func(int)
	count int64
	err   error
}

func (m *metered) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.Reader.Read(p)
	m.meter(n)
	m.count += int64(n)
	m.err = err
	return n, err
}
