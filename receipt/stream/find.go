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
// as reports and [receipt.Report.Address] count, or for 0 the only one. A receipt
// inside an API envelope is returned with its envelope. Nothing is judged.
func (s *Source) Find(index int, long bool) ([]byte, error) {
	in, err := s.cut(compression{long: long}, func(int) {})
	if err != nil {
		return nil, err
	}
	defer in.close()

	decoder := newDecoder(archive.NewCodec())
	var text []byte
	for count := 0; ; count++ {
		d, err := in.next()
		switch {
		case err == io.EOF && text != nil:
			return text, nil
		case err == io.EOF && index > 0:
			return nil, fmt.Errorf("it has no document %d", index)
		case err == io.EOF:
			return nil, errors.New("it holds no document")
		case err != nil:
			return nil, err
		case index == 0 && count > 0:
			return nil, ErrSeveral
		case index != 0 && d.index != index:
			continue
		}

		// Nothing is judged: a text that does not parse is found, too.
		c := decoder.decode(&d, false)
		if c.whole == nil {
			return nil, fmt.Errorf("%s: %s", c.fault.code, c.fault.words())
		}

		// That it is the only one is known once the next was asked for.
		if text = bytes.Clone(c.whole); index != 0 {
			return text, nil
		}
	}
}
