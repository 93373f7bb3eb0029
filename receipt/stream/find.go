package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/receipt/archive"
)

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
	in, err := one.cut(compression{long: long}, func(int) {})
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
