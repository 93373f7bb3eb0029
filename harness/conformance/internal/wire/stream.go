package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// These constants limit how much of a stream is read.
const (
	maxFrame  = 4 << 20  // maximum length of a block, in bytes
	maxStream = 32 << 20 // maximum length of a stream, in bytes
)

// ErrQuiet indicates that no more events arrived before the time limit.
var ErrQuiet = errors.New("nothing more came")

// A Stream is a stream of server-sent events.
type Stream struct {
	Request Request
	Code    int
	Header  http.Header
	Answer  *Answer // the answer if it is not a stream; otherwise nil

	client *Client
	ctx    context.Context
	cancel context.CancelFunc
	body   io.Closer
	lines  *bufio.Reader
	left   int
	frames int
}

// A Frame is one event of a stream.
type Frame struct {
	ID, Event string
	Data      *canon.Document
}

// Open opens a stream. The stream is read for at most the duration lasts.
func Open(ctx context.Context, c *Client, r Request, lasts time.Duration) (*Stream, error) {
	r.Accept = mediaStream
	ctx, cancel := context.WithTimeout(ctx, min(lasts, c.timeout))
	request, err := c.request(ctx, r)
	if err != nil {
		cancel()
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		err = c.unanswered(ctx, r, err)
		cancel()
		return nil, err
	}

	s := &Stream{Request: r, Code: response.StatusCode, Header: response.Header, client: c, ctx: ctx, cancel: cancel, body: response.Body, left: maxStream}
	s.lines = bufio.NewReader(response.Body)
	if s.Code == http.StatusOK {
		c.watch.look(c.key, &Answer{Request: r, Header: s.Header})
		return s, nil
	}

	defer s.Close()
	s.Answer = &Answer{Request: r, Code: s.Code, Header: s.Header}
	if s.Answer.Body, err = readAll(response.Body); err != nil {
		return nil, c.unanswered(ctx, r, err)
	}
	s.Answer.parse()
	c.watch.look(c.key, s.Answer)
	return s, nil
}

// Close closes the stream.
func (s *Stream) Close() {
	s.cancel()
	s.body.Close()
}

// Quiet ends the stream after the given duration, unless it ends earlier. A caller that has
// received all expected events uses Quiet to wait briefly for unexpected events.
func (s *Stream) Quiet(after time.Duration) { time.AfterFunc(after, s.cancel) }

// Next returns the next event. The error is io.EOF at the end of the stream, and ErrQuiet if no
// more events arrived. Any other error describes a malformed stream.
func (s *Stream) Next() (Frame, error) {
	for {
		block, err := s.block()
		if err != nil {
			return Frame{}, err
		}
		f, told, err := s.frame(block)
		s.client.watch.look(s.client.key, &Answer{Request: s.Request, Body: []byte(strings.Join(block, "\n")), doc: f.Data})
		if err != nil {
			return Frame{}, fmt.Errorf("%s: block %d: %w", s.Request, s.frames+1, err)
		}
		if told {
			s.frames++
			if f.Event != "error" {
				s.client.watch.Seen.event(s.client.key, s.Request, f.Data)
			}
			return f, nil
		}
		if s.frames == 0 {
			return Frame{}, fmt.Errorf("%s: expected an event as the first block, found a comment or no event", s.Request)
		}
	}
}

// block returns the lines before the next empty line.
func (s *Stream) block() (lines []string, err error) {
	for size := 0; ; {
		line, err := s.line(maxFrame - size)
		if err != nil {
			return nil, s.ended(err, len(lines) > 0 || line != "")
		}
		if strings.ContainsRune(line, '\r') {
			return nil, fmt.Errorf("%s: expected lines that end with LF alone, found a CR", s.Request)
		}
		if size += len(line) + 1; line != "" {
			lines = append(lines, line)
		} else if len(lines) > 0 {
			return lines, nil
		}
	}
}

// errFrame indicates that a block or a stream exceeds its limit.
var errFrame = fmt.Errorf("expected a block of at most %d bytes and a stream of at most %d, found more", maxFrame, maxStream)

// line reads a line of at most the given number of bytes. It returns the line without its LF.
func (s *Stream) line(most int) (string, error) {
	var text []byte
	for {
		part, err := s.lines.ReadSlice('\n')
		text = append(text, part...)
		if s.left -= len(part); s.left < 0 || len(text) > most {
			return "", errFrame
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return string(bytes.TrimSuffix(text, []byte("\n"))), err
	}
}

// ended explains why a stream ended. A block that is cut off is not an event.
func (s *Stream) ended(err error, within bool) error {
	switch {
	case errors.Is(err, errFrame):
		return fmt.Errorf("%s: %w", s.Request, err)
	case s.ctx.Err() != nil:
		return ErrQuiet
	case errors.Is(err, io.EOF) && !within:
		return io.EOF
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: expected an empty line (LF LF) after the last block, found the end of the stream", s.Request)
	}
	return fmt.Errorf("%s: the stream broke off: %w", s.Request, plain(err))
}

// frame parses a block. It returns false if the block is not an event, for example because it is a
// comment.
func (s *Stream) frame(block []string) (f Frame, told bool, err error) {
	var data []string
	for _, line := range block {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			f.ID = value
		case "event":
			f.Event = value
		case "data":
			data = append(data, value)
		}
	}
	if f.ID == "" && f.Event == "" && data == nil {
		return f, false, nil
	}
	if f.Data, err = canon.Parse([]byte(strings.Join(data, "\n"))); err != nil {
		return f, false, fmt.Errorf("expected a strict JSON text as data, found none: %w", plain(err))
	}
	return f, true, nil
}

// Check returns an error unless a frame has the form of an event.
func (f Frame) Check() error {
	root := f.Data.Root()
	text := func(name string) string { return root.Member(name).String() }
	switch {
	case f.ID == "" || f.Event == "":
		return errors.New("expected lines with an id and an event, found one empty or none")
	case text("object") != "event":
		return fmt.Errorf("expected an object \"event\" as data, found %s", Quote(text("object")))
	case text("id") == "" || text("event") == "":
		return errors.New("expected strings as id and event of the data, found none")
	}
	_, err := Natural(root, "sequence")
	return err
}
