package main

import (
	"errors"

	"github.com/receiptkit/receiptkit/canon"
)

// readHashable reads one document whose hash tells it from every other. Where an
// integer is lossy, others with another integer in its place have the same.
func readHashable(e *env, path string) (*canon.Document, error) {
	doc, err := readDocument(e, path)
	if err != nil {
		return nil, err
	}
	if n, found := doc.LossyInteger(); found {
		return nil, refuted("issuers write such values as strings", "%q: number_precision: expected integers within ±9007199254740991, found %.40s at %.80q",
			sourceName(path), n.Raw(), n.Pointer())
	}
	return doc, nil
}

// readDocument reads and parses one JSON document.
func readDocument(e *env, path string) (*canon.Document, error) {
	data, err := readInput(e, path)
	if err != nil {
		return nil, err
	}
	doc, err := canon.Parse(data)
	if err != nil {
		return nil, syntaxFailure(path, err)
	}
	return doc, nil
}

// syntaxFailure words a parse error: the input is refuted, not unreadable.
func syntaxFailure(path string, err error) error {
	hint := ""
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) {
		hint = syntax.Hint
	}
	return refuted(hint, "%q: %w", sourceName(path), err)
}
