package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A pageCutter splits a list, {"object":"list","data":[…]}, into its entries without keeping the
// entire list in memory, because a list can be larger than any receipt. Everything outside the
// entries is kept as the frame of the page. At the end, the frame is parsed as strictly as any
// document.
type pageCutter struct {
	r       *bufio.Reader
	at      nesting
	frame   []byte       // the page without the entries of data
	name    []byte       // the last string directly inside the page's object, with its quotes
	named   bool         // the string in name is the name of a member, whose value follows
	entries *arrayCutter // non-nil while the entries are being read
	found   bool         // the start of the entries has been found
	count   int          // entries so far
	ended   bool
}

func newPageCutter(r io.Reader) *pageCutter { return &pageCutter{r: bufio.NewReaderSize(r, readBytes)} }

// beginsPage reports whether text is the beginning of a page of a list.
func beginsPage(text []byte) bool {
	p := newPageCutter(bytes.NewReader(text))
	_, err := p.seek()
	return err == nil && p.entries != nil
}

func (p *pageCutter) Ready() bool { return p.r.Buffered() > readBytes/2 }

func (p *pageCutter) Next() (Piece, error) {
	for !p.ended {
		if p.entries == nil {
			if d, err := p.seek(); err != nil || d.fault != nil {
				p.ended = true
				return d, err
			}
			continue
		}

		d, err := p.entries.Next()
		if err != io.EOF {
			p.count++
			p.ended = err != nil || d.fault != nil
			return d, err
		}
		p.entries = nil
	}
	return Piece{}, io.EOF
}

// seek reads the page up to the start of its entries. If it reaches the end of the page instead, it
// checks the frame.
func (p *pageCutter) seek() (Piece, error) {
	for {
		c, err := p.r.ReadByte()
		switch {
		case err == io.EOF:
			return p.end()
		case err != nil:
			return Piece{}, err
		case c == '[' && p.at.depth == 1 && p.named && string(p.name) == `"data"` && !p.found:
			p.found = true
			p.frame = append(p.frame, "[]"...)
			p.entries = &arrayCutter{r: p.r, inside: true}
			return Piece{}, p.r.UnreadByte()
		}

		// Only the frame is kept in memory, so only the size of the frame is limited.
		p.read(c)
		if len(p.frame) > MaxWrapping {
			return p.fault(receipt.CodeSizeLimit, fmt.Sprintf("expected at most %d bytes outside the entries of a list, found more; the rest was not read", MaxWrapping)), nil
		}
	}
}

// read adds a byte to the frame.
func (p *pageCutter) read(c byte) {
	inString := p.at.inString
	p.at.read(c)
	p.frame = append(p.frame, c)
	if p.at.depth != 1 {
		return
	}

	// The members of the page itself are at depth 1. Names at a greater depth belong to nested
	// objects.
	switch {
	case inString || p.at.inString:
		if !inString {
			p.name = p.name[:0]
		}
		p.name = append(p.name, c)
	case c == ':':
		p.named = true
	case c == ',':
		p.named = false
	}
}

// end parses and checks the frame.
func (p *pageCutter) end() (Piece, error) {
	doc := new(canon.Document)
	err := doc.Parse(p.frame, canon.Limits{Bytes: 2 * MaxWrapping})

	// If an object or array is still open, a syntax error means that the list is truncated.
	var syntax *canon.SyntaxError
	switch {
	case errors.As(err, &syntax) && p.at.depth > 0:
		d := p.fault(receipt.CodeTornTail, "the list ends in its middle")
		d.fault.Torn = true
		return d, nil
	case errors.As(err, &syntax):
		return p.fault(receipt.Code(syntax.Code), "outside the entries of the list: "+syntax.Detail), nil
	case doc.Root().Member("object").String() != "list":
		return p.fault(receipt.CodeSizeLimit, fmt.Sprintf("expected at most %d bytes, or a page of a list, found neither", receipt.MaxBytes)), nil
	}
	return Piece{}, io.EOF
}

func (p *pageCutter) fault(code receipt.Code, detail string) Piece {
	return Piece{Index: p.count + 1, fault: &Fault{Code: code, Detail: detail}}
}
