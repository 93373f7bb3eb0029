package protocol

import (
	"mime"

	"github.com/receiptkit/receiptkit/canon"
)

// readJSON reads the body as the one object that it is. Its digest is that of its canonical
// form (RFC 8785): bodies of one digest are the same, however they are spelled.
func readJSON(r *Request, data []byte, optional bool, hold func(int64) error) error {
	if len(data) == 0 && optional {
		data = []byte("{}")
	} else if _, err := ContentType(r.Request, MediaJSON); err != nil {
		return err
	}

	if err := hold(indexSize(data)); err != nil {
		return err
	}
	doc, err := canon.Parse(data)
	if err != nil {
		return Invalid("", "expected a JSON object: %v", WithoutText(err))
	}
	if doc.Root().Kind() != canon.KindObject {
		return Invalid("", "expected a JSON object")
	}
	r.JSON, r.Asked = doc, canon.Sum(doc.Root().AppendCanonical(nil))
	return nil
}

// peekJSON reads a body that may be of any form. If it is JSON, it has the digest of its
// canonical form; else that of its bytes, which it has already.
func peekJSON(r *Request, data []byte, hold func(int64) error) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != MediaJSON {
		return nil
	}
	if err := hold(indexSize(data)); err != nil {
		return err
	}
	if doc, err := canon.Parse(data); err == nil {
		r.Asked = canon.Sum(doc.Root().AppendCanonical(nil))
		if doc.Root().Kind() == canon.KindObject {
			r.JSON = doc
		}
	}
	return nil
}

// checkText reads a body that the handler parses, and only if its digest is needed: in that of a
// request with an Idempotency-Key, none is {}.
func checkText(r *Request, data []byte, hold func(int64) error) error {
	if len(data) == 0 {
		r.Asked = canon.Sum([]byte("{}"))
		return nil
	}
	if _, err := ContentType(r.Request, MediaJSON); err != nil {
		return err
	}
	if len(r.Header.Values(IdempotencyHeader)) == 0 {
		return nil
	}

	if err := hold(indexSize(data)); err != nil {
		return err
	}
	if doc, err := canon.Parse(data); err == nil {
		r.Asked = canon.Sum(doc.Root().AppendCanonical(nil))
	}
	return nil
}

// indexSize is how many bytes the index of a text takes, beside what that of every text may.
func indexSize(data []byte) int64 { return canon.Size(data) - canon.Size(nil) }
