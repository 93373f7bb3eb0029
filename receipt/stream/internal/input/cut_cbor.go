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

// A cborCutter splits CBOR into its data items. A malformed item ends the input, because the start
// of the next item cannot be determined.
type cborCutter struct {
	r     *archive.Reader
	under *bufio.Reader
	only  bool // the input must contain only one item
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

	// The next read determines whether the first item is the only one.
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
		// An item is not treated as truncated if it is malformed before the end of the input,
		// because no further bytes could complete it.
		torn := errors.Is(err, io.ErrUnexpectedEOF) && !(s.only && s.count == 1)
		if damage := s.r.Damage(); damage != nil {
			bad, torn = damage, false
		}

		// Items have no separator between them (RFC 8742), so the start of the next item cannot be
		// determined.
		s.ended = true
		f := &Fault{Code: receipt.Code(bad.Code), Hint: bad.Hint,
			Detail: fmt.Sprintf("item %d at offset %d: %s; the rest was not read", s.count, bad.Offset, bad.Detail)}
		if torn {
			f.Code, f.Torn = receipt.CodeTornTail, true
		}
		return Piece{Index: s.count, Single: s.count == 1, fault: f}, nil
	}

	return Piece{}, err
}
