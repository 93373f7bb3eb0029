package main

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// A sequence is a CBOR sequence (RFC 8742), an item for each receipt.
type sequence struct {
	*part
	codec *archive.Codec
	doc   canon.Document
	item  []byte
}

func newSequence(path string) (sink, error) {
	p, err := newPart(path)
	if err != nil {
		return nil, err
	}
	return &sequence{part: p, codec: archive.NewCodec()}, nil
}

func (s *sequence) put(_ int, text []byte) (err error) {
	if err := s.doc.Parse(text, canon.Limits{}); err != nil {
		return err
	}
	if s.item, err = s.codec.Append(s.item[:0], &s.doc); err != nil {
		return err
	}
	_, err = s.Write(s.item)
	return err
}
