package stream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
)

// A Source is an input, or one of several inputs.
type Source struct {
	Name string
	Kind Kind // zero if the kind is detected from the content

	// Index selects one document in the source by its index, as used in reports and in
	// [receipt.Report.Address]. The other documents are skipped; 0 selects all documents.
	Index int

	// Open returns the content of the source. It is called twice if there are several sources:
	// first to read the links, and then to verify the receipts.
	Open func() (io.ReadCloser, error)

	// Found states that the source was found, for example in a directory, instead of being named by
	// the user. Other documents of this toolkit in the source are then skipped and listed, instead
	// of being refuted because they are not receipts.
	Found bool

	size int64 // maximum number of bytes in the content; 0 if unknown
	once bool  // the content can be read only once
}

// From returns a source whose content is read from r. It can be read twice if r is an io.Seeker.
func From(name string, r io.Reader) Source {
	again, seeks := r.(io.Seeker)
	readings := 0
	var begin int64 // the position at which the first reading begins
	open := func() (io.ReadCloser, error) {
		switch readings++; {
		case !seeks:
		case readings == 1:
			begin, _ = again.Seek(0, io.SeekCurrent) // fails for a pipe, which can be read once
		default:
			if _, err := again.Seek(begin, io.SeekStart); err != nil {
				return nil, err
			}
		}
		return io.NopCloser(r), nil
	}
	return Source{Name: name, Open: open, size: sizeOf(r), once: !seeks}
}

// sizeOfOnly returns the maximum size, in bytes, of the only source, or 0 if the size is unknown or
// there are several sources.
func sizeOfOnly(sources []Source) int64 {
	if len(sources) == 1 {
		return sources[0].size
	}
	return 0
}

// sizeOf returns the size of a reader if its data is in memory, and 0 otherwise.
func sizeOf(r io.Reader) int64 {
	switch r := r.(type) {
	case *bytes.Reader:
		return r.Size()
	case *strings.Reader:
		return r.Size()
	}
	return 0
}

// cut opens a source, which is read through buffer until the result is closed. meter is called with
// the number of bytes of each read. wrapped states that receipts are inside signed envelopes.
func (s *Source) cut(buffer *bufio.Reader, packed unpack.Options, wrapped bool, meter func(int)) (*input.Opened, error) {
	in := input.File{Name: s.Name, Kind: s.Kind, Index: s.Index, Open: s.Open, Packed: packed, Wrapped: wrapped, Meter: meter}
	return in.Cut(buffer)
}

// ErrSeveral indicates that Find was called without an index although the source contains several
// documents.
var ErrSeveral = errors.New("input contains several documents")

// Find returns the JSON text of a document in a source. The index is the same as in reports and in
// [receipt.Report.Address]; 0 selects the document given by the Index of the source, or the only
// document. An API envelope is returned as it is. Nothing is verified.
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
		return nil, errors.New("input contains no document")
	case err != nil:
		return nil, err
	}

	// Find does not verify the document, so it even returns text that cannot be parsed.
	decoder := input.NewDecoder(archive.NewCodec())
	c := decoder.Decode(&d, false)
	if c.Whole == nil {
		return nil, fmt.Errorf("%s: %s", c.Fault.Code, c.Fault.Words())
	}

	// The next read determines whether the document is the only one.
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

// beside reports whether a source is skipped because it is a log or a piece of evidence that was
// found in a directory of receipts. It also returns the kind of the source. An image with the file
// name of a receipt is not skipped, because it may have replaced a receipt.
func (s *Source) beside(err error) (kind.Found, bool) {
	var other *OtherKindError
	if !s.Found || !errors.As(err, &other) {
		return kind.Found{}, false
	}

	k := other.Found.Kind
	return other.Found, k.Lines() || k.Beside() || k == kind.Attestation
}

// An OtherKindError indicates that a source cannot contain receipts because of its kind, such as a
// PDF or an agent transcript. Nothing in it was verified.
type OtherKindError = input.OtherKindError

// A Kind is the format of an input.
type Kind = input.Kind

// These are the formats of inputs.
const (
	Sniffed  = input.Sniffed  // detected from the beginning of the input
	JSON     = input.JSON     // one document: a receipt, a list, or an array of receipts
	Lines    = input.Lines    // one JSON document per line (JSONL, NDJSON)
	CBOR     = input.CBOR     // one item
	Sequence = input.Sequence // a sequence of items (RFC 8742)
)

// IsInput reports whether the extension of a file name is used for receipts, or for compressed
// files of receipts.
func IsInput(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(name), ".gz"), ".zst")
	at := strings.LastIndexByte(name, '.')
	return at >= 0 && slices.Contains([]string{".json", ".jsonl", ".ndjson", ".cbor", ".cborseq", ".cose"}, name[at:])
}

// ParseKind parses the name of a kind: json, lines, cbor, cborseq, or "" for Sniffed.
func ParseKind(name string) (Kind, error) {
	for k := Sniffed; k <= Sequence; k++ {
		if k.String() == name {
			return k, nil
		}
	}
	return Sniffed, fmt.Errorf("stream: invalid input format %.40q: must be json, lines, cbor, or cborseq", name)
}
