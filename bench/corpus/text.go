package main

import "github.com/receiptkit/receiptkit/bench/internal/corpus"

// A textForm is a way to spell the same JSON value.
type textForm string

const (
	textCanonical textForm = "canonical"
	textPretty    textForm = "pretty"
	textASCII     textForm = "ascii"
)

func (f textForm) known() bool { return f == textCanonical || f == textPretty || f == textASCII }

// append appends a canonical text, spelled in this form.
func (f textForm) append(dst, text []byte) []byte {
	switch f {
	case textPretty:
		return corpus.Pretty(dst, text)
	case textASCII:
		return corpus.ASCII(dst, text)
	}
	return append(dst, text...)
}
