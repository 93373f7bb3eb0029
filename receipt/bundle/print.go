package bundle

import (
	"bufio"
	"io"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
)

// A printer writes JSON in the layout of bundles: two spaces per level, one member or element per
// line, minimal escaping, and numbers unchanged.
type printer struct {
	out     *bufio.Writer // nil if bytes are only counted
	under   *counter      // the writer that out writes to
	size    int64
	scratch []byte
	err     error
}

func newPrinter(w io.Writer) *printer {
	under := &counter{w: w}
	return &printer{out: bufio.NewWriterSize(under, 64<<10), under: under}
}

// A counter counts the bytes that the underlying writer accepted.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// count adds n to the size, up to the maximum size of a bundle.
func (p *printer) count(n int) {
	if p.size += int64(n); p.size > MaxBytes && p.err == nil {
		p.err = tooLarge("the bytes that would be written")
	}
}

// write writes b, up to the maximum size of a bundle.
func (p *printer) write(b []byte) {
	p.count(len(b))
	if p.out != nil && p.err == nil {
		_, p.err = p.out.Write(b)
	}
}

func (p *printer) text(s string) {
	p.scratch = append(p.scratch[:0], s...)
	p.write(p.scratch)
}

// line begins a new line, indented to the given level.
func (p *printer) line(level int) {
	if p.out == nil {
		p.count(len("\n") + 2*level)
		return
	}

	// The indentation for a deep level is written in several pieces.
	const spaces = "                                                                "
	p.scratch = append(p.scratch[:0], '\n')
	for left := 2 * level; left > 0; left -= len(spaces) {
		p.scratch = append(p.scratch, spaces[:min(left, len(spaces))]...)
	}
	p.write(p.scratch)
}

// next begins a line for a member or an element, after a comma unless it is the first.
func (p *printer) next(first bool, level int) {
	if !first {
		p.text(",")
	}
	p.line(level)
}

// end ends a list or an object at the given level.
func (p *printer) end(bracket string, empty bool, level int) {
	if !empty {
		p.line(level)
	}
	p.text(bracket)
}

func (p *printer) name(name []byte) {
	p.string(name)
	p.text(": ")
}

// string writes a string piece by piece, because a string can be as long as the bundle.
func (p *printer) string(content []byte) {
	const piece = 32 << 10
	p.text(`"`)

	for len(content) > 0 {
		end := min(len(content), piece)
		for end < len(content) && end > 0 && !utf8.RuneStart(content[end]) {
			end--
		}
		p.scratch = canon.AppendString(p.scratch[:0], content[:end])
		p.write(p.scratch[1 : len(p.scratch)-1])
		content = content[end:]
	}
	p.text(`"`)
}

// node writes a string from the document, and copies it unchanged if it has no escapes.
func (p *printer) node(n canon.Node) {
	raw, content := n.Raw(), n.Text()
	if len(raw) == len(content)+2 {
		p.write(raw)
		return
	}
	p.string(content)
}

// flush writes the rest of the buffer.
func (p *printer) flush() error {
	if p.err == nil && p.out != nil {
		p.err = p.out.Flush()
	}
	return p.err
}
