package stream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/kind"
	"github.com/receiptkit/receiptkit/receipt/unpack"
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

	size int64 // how many bytes Open returns at most; 0: not known
}

// An opened source is being cut into documents.
type opened struct {
	cutter
	close func()
}

// newBuffer returns what sources are read through, one after the other. A single one that
// is small, and in memory, fits into it with its end.
func newBuffer(sources ...Source) *bufio.Reader {
	size := int64(readBytes)
	if len(sources) == 1 && sources[0].size > 0 {
		size = min(size, sources[0].size+1)
	}
	return bufio.NewReaderSize(nil, int(size))
}

// sizeOf returns how many bytes a reader in memory holds, or 0 for any other.
func sizeOf(r io.Reader) int64 {
	switch r := r.(type) {
	case *bytes.Reader:
		return r.Size()
	case *strings.Reader:
		return r.Size()
	}
	return 0
}

// cut opens, decompresses and sniffs a source, which is read through buffer until it is
// closed. meter sees every byte read. Wrapped says that receipts in signed envelopes are
// receipts.
func (s *Source) cut(buffer *bufio.Reader, packed unpack.Options, wrapped bool, meter func(int)) (*opened, error) {
	file, err := s.Open()
	if err != nil {
		return nil, err
	}

	from := &metered{Reader: file, meter: meter}
	buffer.Reset(from)
	plain, compressed, done, err := unpack.Plain(buffer, packed, &from.count)
	if err != nil {
		file.Close()
		return nil, err
	}

	closer := func() { done(); file.Close() }
	cut, err := cutterFor(plain, s.Kind, s.Name, compressed, wrapped)
	if err != nil {
		closer()
		return nil, err
	}

	// One document is found by counting those before it.
	if s.Index > 0 {
		cut = &chosen{cutter: cut, index: s.Index}
	}
	return &opened{cut, closer}, nil
}

// ErrSeveral is returned by Find for a source that holds several documents when
// none of them was named.
var ErrSeveral = errors.New("it holds several documents")

// Find returns the JSON text of one document of a source: the one of an index,
// as reports and [receipt.Report.Address] count, or for 0 the one that the Index of
// the source names, or the only one. A receipt inside an API envelope is returned
// with its envelope. Nothing is judged.
func (s *Source) Find(index int, long bool) ([]byte, error) {
	one := *s
	if index > 0 {
		one.Index = index
	}
	in, err := one.cut(newBuffer(), unpack.Options{Long: long}, false, func(int) {})
	if err != nil {
		return nil, err
	}
	defer in.close()

	d, err := in.next()
	switch {
	case err == io.EOF:
		return nil, errors.New("it holds no document")
	case err != nil:
		return nil, err
	}

	// Nothing is judged: a text that does not parse is found, too.
	decoder := newDecoder(archive.NewCodec())
	c := decoder.decode(&d, false)
	if c.whole == nil {
		return nil, fmt.Errorf("%s: %s", c.fault.code, c.fault.words())
	}

	// That it is the only one is known once the next was asked for.
	text := bytes.Clone(c.whole)
	switch _, err := in.next(); err {
	case io.EOF:
		return text, nil
	case nil:
		return nil, ErrSeveral
	default:
		return nil, err
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

// beside tells of a log, or of evidence, that was found in a folder beside receipts: it
// is skipped. A picture, say, that has the name of receipts is not: it might have been
// put into the place of one.
func (s *Source) beside(err error) (kind.Found, bool) {
	var other *OtherKindError
	if !s.Found || !errors.As(err, &other) {
		return kind.Found{}, false
	}

	k := other.Found.Kind
	return other.Found, k.Lines() || k.Beside() || k == kind.Attestation
}
