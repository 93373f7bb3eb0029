package input

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// An arrayCutter splits a JSON array into its elements without keeping the entire array in memory.
// To find the end of an element, it considers only brackets and strings; each element is then
// parsed as strictly as any other document. The cutter itself checks the commas and the whitespace
// between elements (RFC 8259 section 5).
type arrayCutter struct {
	r       *bufio.Reader
	element []byte
	index   int
	begun   bool
	ended   bool
	inside  bool // the array is part of a document that continues after it
	offset  int64
}

func (a *arrayCutter) Ready() bool { return a.r.Buffered() > readBytes/2 }

func (a *arrayCutter) Next() (Piece, error) {
	if a.ended {
		return Piece{}, io.EOF
	}
	d, err := a.read()
	a.ended = a.ended || err != nil || d.fault != nil
	return d, err
}

func (a *arrayCutter) read() (Piece, error) {
	// An array consists of brackets around elements with commas between them (RFC 8259 section 5).
	if !a.begun {
		a.begun = true
		if _, err := a.symbol(); err != nil { // the bracket that was seen when the format was detected
			return Piece{}, err
		}
	} else {
		c, err := a.symbol()
		switch {
		case err == io.EOF:
			return a.cut(), nil
		case err != nil:
			return Piece{}, err
		case c == ']':
			return a.end()
		case c != ',':
			return a.malformed("a comma or ] after an element", c), nil
		}
	}

	// An array may be empty, but a comma must be followed by an element.
	c, err := a.symbol()
	switch {
	case err == io.EOF:
		return a.cut(), nil
	case err != nil:
		return Piece{}, err
	case c == ']' && a.index == 0:
		return a.end()
	case c == ']' || c == ',':
		return a.malformed("an element", c), nil
	}

	// The first byte of the element has already been read.
	a.index++
	a.element = append(a.element[:0], c)
	return a.readElement(c)
}

// readElement reads the rest of the element that begins with c.
func (a *arrayCutter) readElement(c byte) (Piece, error) {
	var at nesting
	at.read(c)
	for {
		// Outside brackets and strings, any byte can be the last byte of the element.
		if at.outside() {
			if ends, err := a.elementEnds(c); err != nil || ends {
				return a.handOut(), err
			}
		}
		if len(a.element) > maxDocument {
			return Piece{Index: a.index, fault: &Fault{Code: receipt.CodeSizeLimit,
				Detail: fmt.Sprintf("expected an element of at most %d bytes, found more; the rest was not read", maxDocument)}}, nil
		}

		// All buffered bytes up to the end of the element are appended in one step.
		buffered, err := a.buffered()
		switch {
		case err == io.EOF && damaged(a.element):
			a.ended = true
			return a.handOut(), nil
		case err == io.EOF:
			return a.cut(), nil
		case err != nil:
			return Piece{}, err
		}
		n := at.follow(buffered[:min(len(buffered), maxDocument+1-len(a.element))])
		c = buffered[n-1]
		a.take(buffered[:n])
	}
}

// handOut returns the current element. Large elements are rare, so their memory is not reused.
func (a *arrayCutter) handOut() Piece {
	d := Piece{Data: a.element, Index: a.index}
	if d.Kept = cap(a.element) > 4*readBytes; d.Kept {
		a.element = nil
	}
	return d
}

// buffered returns the buffered bytes, and waits for input if the buffer is empty.
func (a *arrayCutter) buffered() ([]byte, error) {
	if _, err := a.r.Peek(1); err != nil {
		return nil, err
	}
	return a.r.Peek(a.r.Buffered())
}

// take appends buffered bytes to the element. The memory grows by doubling, because most elements
// are small and few are close to the limit.
func (a *arrayCutter) take(text []byte) {
	if len(text) > cap(a.element)-len(a.element) {
		a.element = slices.Grow(a.element, min(len(a.element), maxDocument-len(a.element))+len(text))
	}
	a.element = append(a.element, text...)
	a.skip(len(text))
}

// skip discards n buffered bytes.
func (a *arrayCutter) skip(n int) {
	_, _ = a.r.Discard(n) // buffered
	a.offset += int64(n)
}

// elementEnds reports whether an element ends after its byte c. A bracket or a quote ends an
// element; a number or a literal ends before a byte that cannot be part of it.
func (a *arrayCutter) elementEnds(c byte) (bool, error) {
	if c == '}' || c == ']' || c == '"' {
		return true, nil
	}
	following, err := a.r.Peek(1)
	if err == io.EOF {
		return false, nil // readElement detects that
	}
	if err != nil {
		return false, err
	}

	// These bytes may follow a value in an array (RFC 8259 section 2).
	switch following[0] {
	case ',', ']', ' ', '\t', '\r', '\n':
		return true, nil
	}

	return false, nil
}

// end checks that only whitespace follows the array.
func (a *arrayCutter) end() (Piece, error) {
	a.ended = true
	if a.inside {
		return Piece{}, io.EOF
	}

	c, err := a.symbol()
	if err != nil {
		return Piece{}, err // io.EOF
	}
	return Piece{Index: a.index + 1, fault: &Fault{Code: receipt.CodeTrailingData,
		Detail: fmt.Sprintf("expected nothing after the array, found %q at offset %d", c, a.offset-1)}}, nil
}

func (a *arrayCutter) cut() Piece {
	return Piece{Index: max(a.index, 1), fault: &Fault{Code: receipt.CodeTornTail, Torn: true,
		Detail: fmt.Sprintf("the array is incomplete at offset %d", a.offset)}}
}

func (a *arrayCutter) malformed(expected string, found byte) Piece {
	return Piece{Index: a.index + 1, fault: &Fault{Code: receipt.CodeSyntax,
		Detail: fmt.Sprintf("expected %s, found %q at offset %d; the rest was not read", expected, found, a.offset-1)}}
}

// symbol returns the next byte that is not whitespace.
func (a *arrayCutter) symbol() (byte, error) {
	for skipped := 0; ; {
		buffered, err := a.buffered()
		if err != nil {
			return 0, err
		}
		text := bytes.TrimLeft(buffered, " \t\r\n")
		n := len(buffered) - len(text)
		if skipped += n; skipped > maxPackedGap {
			return 0, fmt.Errorf("more than %d bytes of whitespace at offset %d", maxPackedGap, a.offset+int64(n))
		}
		if len(text) > 0 {
			c := text[0]
			a.skip(n + 1)
			return c, nil
		}
		a.skip(n)
	}
}
