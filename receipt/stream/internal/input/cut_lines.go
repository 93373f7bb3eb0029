package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/receipt"
)

// A lineCutter splits an input into lines. A line ends with LF or CR LF, except that the last line
// may lack this ending. Blank lines are counted but skipped.
type lineCutter struct {
	r      *bufio.Reader
	packed bool // the input is compressed
	eager  bool // the first line is returned before the next line is read
	lines  bool // the input is known to consist of lines, so a single incomplete line is a truncated line, not a malformed document
	line   int
	long   []byte // a line that does not fit into the reader's buffer
	kept   bool   // the current line does not share memory with the reader
	count  int    // documents so far
	ahead  []Piece
	err    error       // returned after ahead
	page   *pageCutter // used instead of lines if the first line is a page of a list
}

func (l *lineCutter) Ready() bool {
	if l.page != nil {
		return l.page.Ready()
	}
	if len(l.ahead) > 0 {
		return true
	}
	buffered, _ := l.r.Peek(l.r.Buffered())
	return bytes.IndexByte(buffered, '\n') >= 0
}

func (l *lineCutter) Next() (Piece, error) {
	if l.page != nil {
		return l.page.Next()
	}
	if len(l.ahead) > 0 {
		d := l.ahead[0]
		l.ahead = l.ahead[1:]
		return d, nil
	}

	if l.err != nil {
		return Piece{}, l.err
	}
	d, err := l.read()
	if err != nil || l.page != nil {
		return d, err
	}
	if l.count++; l.count > 1 || l.eager && pageOf(d.Data) == nil {
		return d, nil
	}
	return l.alone(d)
}

// alone reads the next line to determine whether the first document is the only document. The only
// document of an input is identified by its file alone. It may also be a page of a list.
func (l *lineCutter) alone(d Piece) (Piece, error) {
	if l.err != nil { // nothing can be read after the document, which is an oversized line
		d.Single = true
		return d, nil
	}
	if !d.Kept {
		d.Data, d.Kept = bytes.Clone(d.Data), true
	}

	// If there is another line, it is kept as the next piece.
	following, err := l.read()
	switch {
	case err == io.EOF:
		d.Single, d.last, l.err = true, d.last && l.lines, err
		if page := pageOf(d.Data); page != nil {
			l.ahead = page
			return l.Next()
		}
	case err != nil:
		l.err = err
	default:
		l.count++
		l.ahead = []Piece{following}
	}

	return d, nil
}

// read returns the next nonblank line.
func (l *lineCutter) read() (Piece, error) {
	for skipped := 0; ; {
		if skipped += l.skipBlank(); skipped > l.mostGap() {
			return Piece{}, fmt.Errorf("line %d: %d bytes of blank lines", l.line, skipped)
		}
		text, ended, err := l.readLine()
		if err != nil {
			return Piece{}, err
		}

		// A line of whitespace contains no value (RFC 8259 section 2).
		text = bytes.TrimSuffix(text, []byte{'\r'})
		switch blank := len(bytes.TrimLeft(text, " \t\r")) == 0; {
		case len(text) > maxDocument && l.count == 0 && beginsPage(text):
			l.page = l.turn(text, ended)
			return l.page.Next()
		case len(text) > maxDocument:
			return l.oversize(ended)
		case blank && !ended:
			return Piece{}, io.EOF
		case blank:
			skipped += len(text) + 1
		default:
			return Piece{Data: text, Kept: l.kept, Index: l.line, last: !ended}, nil
		}
	}
}

// turn reads the input as a page of a list. text is the part of the current line that has already
// been read from the input.
func (l *lineCutter) turn(text []byte, ended bool) *pageCutter {
	readers := []io.Reader{bytes.NewReader(text), l.r}
	if ended {
		readers = slices.Insert(readers, 1, io.Reader(strings.NewReader("\n")))
	}
	return newPageCutter(io.MultiReader(readers...))
}

// skipBlank skips and counts all buffered blank lines in one step, because there may be a billion
// blank lines.
func (l *lineCutter) skipBlank() int {
	buffered, _ := l.r.Peek(l.r.Buffered())
	text := bytes.TrimLeft(buffered, " \t\r\n")

	// Whitespace before the first symbol of a line belongs to that line.
	n := bytes.LastIndexByte(buffered[:len(buffered)-len(text)], '\n') + 1
	l.line += bytes.Count(buffered[:n], []byte{'\n'})
	_, _ = l.r.Discard(n) // buffered
	return n
}

func (l *lineCutter) mostGap() int {
	if l.packed {
		return maxPackedGap
	}
	return MaxGap
}

// readLine returns a line without its LF. If the line is longer than maxDocument+1 bytes, it
// returns more than maxDocument+1 bytes. The bytes are valid until the next call, unless l.kept is
// set.
func (l *lineCutter) readLine() (text []byte, ended bool, err error) {
	l.line++
	l.kept = false
	l.long = l.long[:0]
	for {
		piece, err := l.r.ReadSlice('\n')
		if err == nil && len(l.long) == 0 {
			return piece[:len(piece)-1], true, nil
		}

		// A line is copied only if it does not fit into the buffer.
		l.long = append(l.long, piece...)
		switch {
		case err == nil:
			return l.long[:len(l.long)-1], true, nil
		case err == io.EOF:
			return l.long, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		case len(l.long) >= 4*readBytes:
			return l.readLong()
		}
	}
}

// readLong reads the rest of a long line into separate memory, so that a large line is not copied
// again. Long lines are rare.
func (l *lineCutter) readLong() (text []byte, ended bool, err error) {
	rest := &lineRest{r: l.r, most: maxDocument + 2 - len(l.long)}
	text, err = io.ReadAll(io.MultiReader(bytes.NewReader(l.long), rest))
	l.kept = true
	return text, rest.ended, err
}

// A lineRest reads the rest of a line, up to most bytes, without the LF at its end.
type lineRest struct {
	r     *bufio.Reader
	most  int
	ended bool // the LF has been read
}

func (l *lineRest) Read(p []byte) (int, error) {
	if l.ended || l.most == 0 {
		return 0, io.EOF
	}
	if _, err := l.r.Peek(1); err != nil {
		return 0, err
	}
	buffered, _ := l.r.Peek(l.r.Buffered())
	line, _, found := bytes.Cut(buffered, []byte{'\n'})

	// The LF is discarded.
	n := copy(p, line[:min(len(line), l.most)])
	l.most -= n
	taken := n
	if l.ended = found && n == len(line); l.ended {
		taken++
	}
	_, _ = l.r.Discard(taken) // buffered
	return n, nil
}

// oversize returns a piece for a line that is too long for a receipt. The rest of the line is
// skipped, unless the input is compressed. In a compressed input, the rest of the line may be
// endless, so reading ends here.
func (l *lineCutter) oversize(ended bool) (Piece, error) {
	d := Piece{Index: l.line, fault: &Fault{Code: receipt.CodeSizeLimit,
		Detail: fmt.Sprintf("expected a line of at most %d bytes, found more", maxDocument)}}
	if ended {
		return d, nil
	}
	if l.packed {
		l.err = fmt.Errorf("line %d has more than %d bytes; the rest of the compressed input is not read", l.line, maxDocument)
		return d, nil
	}
	l.err = l.skipLine()
	return d, nil
}

func (l *lineCutter) skipLine() error {
	for skipped := 0; ; {
		piece, err := l.r.ReadSlice('\n')
		skipped += len(piece)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err // includes io.EOF, which means that nothing follows
		case skipped > MaxGap:
			return fmt.Errorf("line %d does not end within %d bytes", l.line, MaxGap)
		}
	}
}
