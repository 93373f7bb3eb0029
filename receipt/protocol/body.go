package protocol

import (
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/conn"
)

// An intake reads the body of a request into memory from the pool that all requests share.
type intake struct {
	body   *conn.Body
	memory *conn.Shares // in bytes
	client string       // the client to which the memory is charged
	stated int64        // Content-Length, or -1 if absent

	held int64
}

// read reads a body of at most limit bytes. The error is an *[Error] if the body is too long, is
// incomplete, or did not arrive in time, or if no memory is available for it. For a body that is
// too long, the message includes the argument instead, which describes the alternative.
func (in *intake) read(limit int64, instead string) ([]byte, error) {
	// If the stated length exceeds the limit, the body is rejected before it is read.
	if in.stated > limit {
		return nil, tooLarge(limit, instead)
	}

	var data []byte
	for {
		if len(data) == cap(data) {
			if int64(len(data)) > limit {
				return nil, tooLarge(limit, instead)
			}
			var err error
			if data, err = in.grow(data, limit); err != nil {
				return nil, err
			}
		}

		n, err := in.body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF && int64(len(data)) > limit:
			return nil, tooLarge(limit, instead)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, Unread(err)
		}
	}
}

// hold reserves n more bytes for structures that are derived from a body, because an index of many
// values needs more memory than their JSON text.
func (in *intake) hold(n int64) error {
	if !in.memory.Take(in.client, n) {
		return noMemory()
	}
	in.held += n
	return nil
}

func noMemory() *Error {
	return Busy(1, "the bodies of other requests take all the memory that there is for them")
}

// close releases the reserved memory. The body must not be used afterward.
func (in *intake) close() {
	if in.held > 0 {
		in.memory.Give(in.client, in.held)
	}
	in.held = 0
}

// grow doubles the buffer, so that a client that announces a long body but sends little data
// occupies little memory. The buffer may be one byte larger than the limit. If that byte is used,
// the body is too long.
func (in *intake) grow(data []byte, limit int64) ([]byte, error) {
	const least, double = 8 << 10, 2
	size := max(least, double*int64(cap(data)))
	if in.stated >= 0 {
		size = min(size, in.stated+1)
	}

	// While the data is copied, both buffers are charged.
	size = min(size, limit+1)
	if !in.memory.Take(in.client, size) {
		return nil, noMemory()
	}

	in.held += size
	larger := append(make([]byte, 0, size), data...)
	if old := int64(cap(data)); old > 0 {
		in.memory.Give(in.client, old)
		in.held -= old
	}

	return larger, nil
}

// Unread returns the error for a body that could not be read completely.
func Unread(err error) error {
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		return &Error{Code: CodeDeadline, Message: "the body did not arrive in time"}
	}
	return Invalid("", "the body ends before its end: expected as many bytes as the request states")
}

// readJSON parses the body as a JSON object. The digest of the body is computed from the canonical
// form (RFC 8785), so bodies that differ only in spelling have the same digest.
func readJSON(r *Request, data []byte, optional bool, hold func(int64) error) error {
	// A request without a body has no Content-Type, either.
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

	// The protocol defines only bodies that are objects.
	if doc.Root().Kind() != canon.KindObject {
		return Invalid("", "expected a JSON object")
	}
	r.JSON, r.Use.Body = doc, canon.Sum(doc.Root().AppendCanonical(nil))
	return nil
}

// peekJSON parses a body if it is JSON, and sets the digest to the digest of the canonical form.
// For any other body, the digest of its bytes is used. This digest is already set.
func peekJSON(r *Request, data []byte, hold func(int64) error) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != MediaJSON {
		return nil
	}

	// The index is also charged, because a client can choose a body with many small values.
	if err := hold(indexSize(data)); err != nil {
		return err
	}
	if doc, err := canon.Parse(data); err == nil {
		r.Use.Body = canon.Sum(doc.Root().AppendCanonical(nil))
		if doc.Root().Kind() == canon.KindObject {
			r.JSON = doc
		}
	}
	return nil
}

// checkText checks the media type of a body that the handler parses. It computes the digest only if
// the request has an Idempotency-Key. The digest of an absent body is the digest of {}.
func checkText(r *Request, data []byte, hold func(int64) error) error {
	if len(data) == 0 {
		r.Use.Body = canon.Sum([]byte("{}"))
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
		r.Use.Body = canon.Sum(doc.Root().AppendCanonical(nil))
	}
	return nil
}

// indexSize returns the additional memory, in bytes, that the index of data needs compared with
// that of an empty document.
func indexSize(data []byte) int64 { return canon.Size(data) - canon.Size(nil) }

// MediaJSON is the media type of request and response bodies.
const MediaJSON = "application/json"

// ContentType returns the media type of a request body, which must be one of the known types. It
// rejects parameters that change the meaning of the bytes, such as charset=utf-16.
func ContentType(r *http.Request, known ...string) (string, error) {
	const name = "Content-Type"
	list := r.Header.Values(name)
	if len(list) != 1 {
		return "", unsupportedMedia(name, "expected one Content-Type, %s, found %d of them", oneOf(known), len(list))
	}

	media, params, err := mime.ParseMediaType(list[0])
	if err != nil {
		return "", unsupportedMedia(name, "the Content-Type is malformed: expected %s", oneOf(known))
	}

	// RFC 8259 section 8.1 requires JSON that is exchanged between systems to be UTF-8.
	for param, value := range params {
		if param == "charset" && !strings.EqualFold(value, "utf-8") {
			return "", unsupportedMedia(name, "expected charset=utf-8, found %.40q", value)
		}
	}

	for _, k := range known {
		if media == k {
			return media, nil
		}
	}

	return "", unsupportedMedia(name, "expected the Content-Type %s, found %.40q", oneOf(known), media)
}

// ContentEncoding returns the content coding of a request body, or "" if the body is not encoded.
// The coding must be one of the known codings.
func ContentEncoding(r *http.Request, known ...string) (string, error) {
	const name = "Content-Encoding"
	list := r.Header.Values(name)
	if len(list) == 0 || len(list) == 1 && strings.EqualFold(list[0], "identity") {
		return "", nil
	}
	if len(list) == 1 {
		for _, k := range known {
			if strings.EqualFold(list[0], k) {
				return k, nil
			}
		}
	}

	// According to RFC 9110 section 15.5.16, Accept-Encoding in a 415 response lists the accepted
	// codings.
	known = append(known, "identity")
	f := unsupportedMedia(name, "expected no Content-Encoding, or %s, found %.40q", oneOf(known), strings.Join(list, ", "))
	return "", f.with("Accept-Encoding", strings.Join(known, ", "))
}

// oneOf formats a list of alternatives for a message.
func oneOf(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// unsupportedMedia returns a 415 error, for which the protocol has no code.
func unsupportedMedia(param, format string, args ...any) *Error {
	e := Invalid(param, format, args...)
	e.Status = http.StatusUnsupportedMediaType
	return e
}
