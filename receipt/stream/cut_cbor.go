package stream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
)

// A cborCutter cuts CBOR into its items. What is malformed ends the input, since nobody
// can tell where the next item would begin.
type cborCutter struct {
	r     *archive.Reader
	under *bufio.Reader
	only  bool // more than one item is too many
	count int
	ahead *piece
	ended bool
}

func newCBORCutter(r *bufio.Reader, only bool) *cborCutter {
	return &cborCutter{r: archive.NewReader(r), under: r, only: only}
}

func (s *cborCutter) ready() bool { return s.ahead != nil || s.under.Buffered() > readBytes/2 }

func (s *cborCutter) next() (piece, error) {
	if s.ahead != nil {
		d := *s.ahead
		s.ahead = nil
		return d, nil
	}

	d, err := s.read()
	if err != nil || s.count != 1 || d.fault != nil {
		return d, err
	}

	// Only the next item tells whether the first one is alone.
	d.data, d.kept = bytes.Clone(d.data), true
	following, err := s.read()
	switch {
	case err == io.EOF:
		d.single = true
	case err != nil:
		return piece{}, err
	case s.only:
		s.ended = true
		return piece{index: 1, single: true, fault: &fault{code: vocab.CodeTrailingData,
			detail: "expected one item, found more", hint: "a sequence of items is named .cborseq"}}, nil
	default:
		s.ahead = &following
	}

	return d, nil
}

func (s *cborCutter) read() (piece, error) {
	if s.ended {
		return piece{}, io.EOF
	}
	item, err := s.r.Next()
	s.count++
	var bad *archive.ItemError
	switch {
	case err == nil:
		return piece{data: item, index: s.count, cbor: true}, nil
	case errors.As(err, &bad):
		// RFC 8742: nothing stands between items, so that nothing tells where
		// the next one begins.
		s.ended = true
		f := &fault{code: receipt.Code(bad.Code), hint: bad.Hint,
			detail: fmt.Sprintf("item %d at offset %d: %s; what follows was not read", s.count, bad.Offset, bad.Detail)}
		if errors.Is(err, io.ErrUnexpectedEOF) && !(s.only && s.count == 1) {
			f.code, f.torn = vocab.CodeTornTail, true
		}
		return piece{index: s.count, single: s.count == 1, fault: f}, nil
	}

	return piece{}, err
}
