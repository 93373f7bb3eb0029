package stream_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestReadersAgree verifies that all readers interpret an input in the same way: verification, the
// first pass over links, and Read.
func TestReadersAgree(t *testing.T) {
	good := newWriter(t, "a").many(1)[0]
	for name, c := range map[string]struct {
		in    []byte
		found bool
		want  receipt.Code // the reason why the input cannot be a receipt
		other string
	}{
		"a receipt":                     {in: good},
		"an archive":                    {in: cborOf(t, good)},
		"an envelope":                   {in: text(`{"wire":{"payload":`, good, `}}`)},
		"two equal names":               {in: []byte(`{"a":1,"a":2}`), want: "duplicate_name"},
		"too deep":                      {in: text(`{"a":`, []byte(deepArray(200)), `}`), want: receipt.CodeDepthLimit},
		"an array item":                 {in: []byte("[[1]]"), want: receipt.CodeNotObject},
		"an archive of a half":          {in: []byte("\xa1\x61\x61\xf9\x40\x00"), want: "non_deterministic_cbor"},
		"lossy":                         {in: []byte(`{"a":9007199254740993}`), want: receipt.CodeNumberPrecision},
		"a line that breaks off":        {in: text("", good, "\n{\"a\":"), want: receipt.CodeTornTail},
		"deep, and breaks off":          {in: text("", good, "\n{\"a\":"+strings.Repeat("[", 200)), want: receipt.CodeDepthLimit},
		"a key set":                     {in: []byte(`{"keys":[]}`), found: true, other: "a key set"},
		"a report with a large count":   {in: []byte(`{"report_version":1,"n":9007199254740993}`), found: true, other: "a verification report"},
		"a key set that does not parse": {in: []byte(`{"keys":[}`), found: true, want: receipt.CodeSyntax},
	} {
		s := source("in", c.in)
		s.Found = c.found

		var code receipt.Code
		var other string
		for d, err := range stream.Read(t.Context(), []stream.Source{s}, stream.Options{}) {
			var bad *stream.DocumentError
			if errors.As(err, &bad) {
				code = bad.Code
			} else if err != nil {
				t.Fatal(err)
			} else {
				other = d.Other
			}
		}
		if code != c.want || other != c.other {
			t.Errorf("%s is read as %q, %q; expected %q, %q", name, code, other, c.want, c.other)
		}

		// A single source is verified while it is read. If there is a second source, the sources
		// are surveyed first.
		for _, sources := range [][]stream.Source{{s}, {s, source("beside", good)}} {
			run := stream.VerifyFiles(t.Context(), integrity(t), sources, stream.Options{})
			var judged receipt.Code
			for rep := range run.Reports() {
				if rep.Source == "in" && rep.Verdict != receipt.Verified {
					judged = rep.Finding().Code
				}
			}
			sum, err := run.Summary()
			skipped := ""
			if len(sum.Skipped) > 0 {
				skipped = sum.Skipped[0].Detail
			}
			if len(sources) == 1 && skipped != "" {
				err = nil // there is an error because the input has no other content
			}
			if judged != c.want || skipped != c.other || err != nil {
				t.Errorf("%s of %d sources is judged %q, %q, %v; expected %q, %q", name, len(sources), judged, skipped, err, c.want, c.other)
			}
		}

		// Find returns the text of a document, whatever it contains.
		if strings.Contains(name, "breaks off") {
			continue // two lines
		}
		_, err := s.Find(0, false)
		if malformed := c.want == "non_deterministic_cbor"; (err != nil) != malformed {
			t.Errorf("%s is found with %v", name, err)
		}
	}
}
