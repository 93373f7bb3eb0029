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

// A pageCutter cuts a list, {"object":"list","data":[…]}, into its entries without keeping the
// entire list in memory, because a list may be larger than any receipt. Everything except the
// entries is kept as the page's frame, which is parsed at the end as strictly as any document.
type pageCutter struct {
	r       *bufio.Reader
	at      nesting
	frame   []byte       // the page without its entries
	name    []byte       // the last string in the page's own object, in quotes
	named   bool         // name is a member name whose value follows
	entries *arrayCutter // while the entries are being read
	found   bool         // the entries were found
	count   int          // entries so far
	ended   bool
}

func newPageCutter(r io.Reader) *pageCutter { return &pageCutter{r: bufio.NewReaderSize(r, readBytes)} }

// beginsPage reports whether text is the beginning of a page.
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

// seek reads up to the entries. If it reaches the end of the page instead, it checks the frame.
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

		// Only the frame is kept in memory, so its size is limited.
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

	// Depth 1 is the page itself. Deeper names belong to nested objects.
	switch {
	case inString || p.at.inString:
		if !inString {
			p.name = p.name[:0]
		}
		p.name = append(p.name, c)
	case c == ':':
		p.named = true
	case c == ',' || c == '{':
		p.named = false
	}
}

// end checks the frame.
func (p *pageCutter) end() (Piece, error) {
	doc := new(canon.Document)
	err := doc.Parse(p.frame, canon.Limits{Bytes: 2 * MaxWrapping})

	// A syntax error while an object or array is open means that the list is truncated.
	var syntax *canon.SyntaxError
	switch {
	case errors.As(err, &syntax) && p.at.depth > 0:
		d := p.fault(receipt.CodeTornTail, "the list ends in its middle")
		d.fault.Torn = true
		return d, nil
	case errors.As(err, &syntax):
		return p.fault(receipt.Code(syntax.Code), "outside the entries of the list: "+syntax.Detail), nil
	case doc.Root().Member("object").String() != "list" || !p.found:
		return p.fault(receipt.CodeSizeLimit, fmt.Sprintf("expected at most %d bytes, or a page of a list, found neither", receipt.MaxBytes)), nil
	}
	return Piece{}, io.EOF
}

func (p *pageCutter) fault(code receipt.Code, detail string) Piece {
	return Piece{Index: p.count + 1, fault: &Fault{Code: code, Detail: detail}}
}
