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
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
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
	once bool  // Open returns the content once
}

// From returns a source of what r holds. It can be read twice if r is an io.Seeker.
func From(name string, r io.Reader) Source {
	again, seeks := r.(io.Seeker)
	readings := 0
	open := func() (io.ReadCloser, error) {
		if readings++; readings > 1 && seeks {
			if _, err := again.Seek(0, io.SeekStart); err != nil {
				return nil, err
			}
		}
		return io.NopCloser(r), nil
	}
	return Source{Name: name, Open: open, size: sizeOf(r), once: !seeks}
}

// sizeOfOnly returns how many bytes the only source has at most; 0 when that is not known.
func sizeOfOnly(sources []Source) int64 {
	if len(sources) == 1 {
		return sources[0].size
	}
	return 0
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

// cut opens a source, which is read through buffer until it is closed. meter sees every
// byte read. Wrapped says that receipts in signed envelopes are receipts.
func (s *Source) cut(buffer *bufio.Reader, packed unpack.Options, wrapped bool, meter func(int)) (*input.Opened, error) {
	in := input.File{Name: s.Name, Kind: s.Kind, Index: s.Index, Open: s.Open, Packed: packed, Wrapped: wrapped, Meter: meter}
	return in.Cut(buffer)
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
	in, err := one.cut(input.NewBuffer(0), unpack.Options{Long: long}, false, func(int) {})
	if err != nil {
		return nil, err
	}
	defer in.Close()

	d, err := in.Next()
	switch {
	case err == io.EOF:
		return nil, errors.New("it holds no document")
	case err != nil:
		return nil, err
	}

	// Nothing is judged: a text that does not parse is found, too.
	decoder := input.NewDecoder(archive.NewCodec())
	c := decoder.Decode(&d, false)
	if c.Whole == nil {
		return nil, fmt.Errorf("%s: %s", c.Fault.Code, c.Fault.Words())
	}

	// That it is the only one is known once the next was asked for.
	text := bytes.Clone(c.Whole)
	switch _, err := in.Next(); err {
	case io.EOF:
		return text, nil
	case nil:
		return nil, ErrSeveral
	default:
		return nil, err
	}
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

// An OtherKindError says that a source is of a kind that holds no receipts, such as a
// PDF or the transcript of an agent: nothing of it was judged.
type OtherKindError = input.OtherKindError

// namesOf returns the names of sources.
func namesOf(sources []Source) (list []string) {
	for i := range sources {
		list = append(list, sources[i].Name)
	}
	return list
}

// A Kind is how an input holds its receipts.
type Kind = input.Kind

// The kinds of inputs.
const (
	Sniffed  = input.Sniffed  // found out from its first bytes
	JSON     = input.JSON     // one document: a receipt, a list or an array of them
	Lines    = input.Lines    // a JSON document a line (JSONL, NDJSON)
	CBOR     = input.CBOR     // one item
	Sequence = input.Sequence // items one after the other (RFC 8742)
)

// ParseKind reads json, lines, cbor, cborseq, or "" for Sniffed.
func ParseKind(name string) (Kind, error) {
	for k := Sniffed; k <= Sequence; k++ {
		if k.String() == name {
			return k, nil
		}
	}
	return Sniffed, fmt.Errorf("stream: expected json, lines, cbor or cborseq, found %.40q", name)
}
