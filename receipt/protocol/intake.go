package protocol

import (
	"errors"
	"io"
	"net"

	"github.com/receiptkit/receiptkit/receipt/protocol/conn"
)

// An intake reads the body of a request into memory that all requests share.
type intake struct {
	body   *conn.Body
	memory *Shares // in bytes
	client string  // whose share it is
	stated int64   // Content-Length; -1: none

	held int64
}

// read reads a body of at most limit bytes. The error is an *[Error]: the body is longer,
// with a word on what may be sent instead; there is no memory left; it does not come, or not
// in time.
func (in *intake) read(limit int64, instead string) ([]byte, error) {
	if in.stated > limit {
		return nil, TooLarge(limit, instead)
	}

	var data []byte
	for {
		if len(data) == cap(data) {
			if int64(len(data)) > limit {
				return nil, TooLarge(limit, instead)
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
			return nil, TooLarge(limit, instead)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, Unread(err)
		}
	}
}

// hold takes n bytes more, for what is made of a body: an index of many values takes more
// memory than their text.
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

// close gives the memory back: what was read must not be used any longer.
func (in *intake) close() {
	if in.held > 0 {
		in.memory.Give(in.client, in.held)
	}
	in.held = 0
}

// grow doubles a buffer: a client that says much and sends little holds little.
// One byte beyond the limit tells that the body is longer.
func (in *intake) grow(data []byte, limit int64) ([]byte, error) {
	const least, double = 8 << 10, 2
	size := max(least, double*int64(cap(data)))
	if in.stated >= 0 {
		size = min(size, in.stated+1)
	}

	// Both buffers count for as long as one is copied into the other.
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

// Unread says why a body could not be read to its end.
func Unread(err error) error {
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		return &Error{Code: CodeDeadline, Message: "the body did not arrive in time"}
	}
	return Invalid("", "the body ends before its end: expected as many bytes as the request states")
}
