package main

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"

	"github.com/receiptkit/receiptkit/canon"
)

// A rival canonicalizes one JSON text. It may reuse dst and internal memory between calls, as a
// program that reads many receipts would.
type rival struct {
	name         string
	canonicalize func(dst, src []byte) ([]byte, error)
}

// Indexes of rivals.
const (
	jsontextRival = 2
	jcsRival      = 3
)

func rivals() []rival {
	doc := new(canon.Document)
	var scratch []byte
	return []rival{
		{"canon", func(dst, src []byte) ([]byte, error) {
			if err := doc.Parse(src, canon.Limits{}); err != nil {
				return nil, err
			}
			return doc.AppendCanonical(dst[:0]), nil
		}},
		{"transform", func(_, src []byte) ([]byte, error) { return canon.Transform(src) }},
		{"jsontext", func(_, src []byte) ([]byte, error) {
			// Canonicalize works in place if the result fits.
			scratch = append(scratch[:0], src...)
			v := jsontext.Value(scratch)
			err := v.Canonicalize()
			return v, err
		}},
		{"jcs", func(_, src []byte) ([]byte, error) { return jcs.Transform(src) }},
	}
}
