package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// A cborCutter cuts CBOR into its items. A malformed item ends the input, because the start
// of the next item is unknown.
type cborCutter struct {
	r     *archive.Reader
	under *bufio.Reader
	only  bool // a second item is an error
	count int
	ahead *Piece
	ended bool
}

func newCBORCutter(r *bufio.Reader, only bool) *cborCutter {
	return &cborCutter{r: archive.NewReader(r), under: r, only: only}
}

func (s *cborCutter) Ready() bool { return s.ahead != nil || s.under.Buffered() > readBytes/2 }

func (s *cborCutter) Next() (Piece, error) {
	if s.ahead != nil {
		d := *s.ahead
		s.ahead = nil
		return d, nil
	}

	d, err := s.read()
	if err != nil || s.count != 1 || d.fault != nil {
		return d, err
	}

	// Whether the first item is the only item is known only after the next read.
	d.Data, d.Kept = bytes.Clone(d.Data), true
	following, err := s.read()
	switch {
	case err == io.EOF:
		d.Single = true
	case err != nil:
		return Piece{}, err
	case s.only:
		s.ended = true
		return Piece{Index: 1, Single: true, fault: &Fault{Code: receipt.CodeTrailingData,
			Detail: "expected one item, found more", Hint: "a sequence of items is named .cborseq"}}, nil
	default:
		s.ahead = &following
	}

	return d, nil
}

func (s *cborCutter) read() (Piece, error) {
	if s.ended {
		return Piece{}, io.EOF
	}

	item, err := s.r.Next()
	s.count++
	var bad *archive.ItemError
	switch {
	case err == nil:
		return Piece{Data: item, Index: s.count, CBOR: true}, nil
	case errors.As(err, &bad):
		// RFC 8742: there is no separator between items, so the start of the next item is
		// unknown.
		s.ended = true
		f := &Fault{Code: receipt.Code(bad.Code), Hint: bad.Hint,
			Detail: fmt.Sprintf("item %d at offset %d: %s; the rest was not read", s.count, bad.Offset, bad.Detail)}
		if errors.Is(err, io.ErrUnexpectedEOF) && !(s.only && s.count == 1) {
			f.Code, f.Torn = receipt.CodeTornTail, true
		}
		return Piece{Index: s.count, Single: s.count == 1, fault: f}, nil
	}

	return Piece{}, err
}
