package input

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/kind"
)

// cutterFor returns the cutter for an input of a kind, which is sniffed when it is
// not known: CBOR by its first byte, which no JSON text has; an array by its
// bracket; lines when the first line that is not blank ends with } and leaves
// nothing open, or the second begins with { and more and is no part of the first.
// Everything else is one document. A name that ends in .cbor says that one item is the whole.
func cutterFor(r *bufio.Reader, form Kind, name string, packed, wrapped bool) (cutter, error) {
	lines := form == Lines || form == Sniffed && namesLines(name)
	if form == Sniffed {
		var err error
		if form, err = sniff(r, name, wrapped); err != nil {
			return nil, err
		}
	}

	switch form {
	case CBOR, Sequence:
		return newCBORCutter(r, form == CBOR), nil
	case Lines:
		return &lineCutter{r: r, packed: packed, lines: lines}, nil
	}

	if first, err := firstSymbol(r); err != nil {
		return nil, err
	} else if first == '[' {
		return &arrayCutter{r: r}, nil
	}

	return cutWhole(r, lines)
}

// sniff tells the kind. It may skip blank lines of a length that lines would
// skip too, but then the line numbers count from the first line that is read.
func sniff(r *bufio.Reader, name string, wrapped bool) (Kind, error) {
	head, err := peek(r, telling)
	if len(head) == 0 {
		return JSON, err
	}
	if other, ok := foreignKind(head); ok && !(wrapped && other.Kind == kind.Attestation) {
		return JSON, &OtherKindError{other}
	}
	if isCBOR(head) {
		if strings.HasSuffix(plainName(name), ".cbor") {
			return CBOR, nil
		}
		return Sequence, nil
	}

	// A line that leaves nothing open is a document of its own.
	first, rest := cutLine(bytes.TrimLeft(head, " \t\r\n"))
	switch {
	case bytes.HasPrefix(first, []byte("[")):
		return JSON, nil
	case endsDocument(first):
		return Lines, nil
	case goesOn(first, rest):
		return JSON, nil
	case beginsDocument(rest):
		return Lines, nil
	case rest == nil && len(head) == r.Size(): // a line longer than what is seen
		return Lines, nil
	}

	return JSON, nil
}

// An OtherKindError says that an input is of a kind that holds no receipts, such as a
// PDF or the transcript of an agent.
type OtherKindError struct{ Found kind.Found }

// Error says what it is.
func (e *OtherKindError) Error() string { return "holds no receipts: it is " + e.Found.What }

// telltale is how many bytes are looked at for what an input is.
const telltale = 16 << 10

// foreignKind tells what holds no receipts. What has a member of a receipt in it is one,
// however damaged; a budget alone is in an event that submits a task, too.
func foreignKind(head []byte) (kind.Found, bool) {
	head = head[:min(len(head), telltale)]
	f := kind.Of(head, false)
	text := bytes.TrimLeft(head, " \t\r\n")
	if !bytes.HasPrefix(text, []byte("{")) || !bytes.Contains(text, []byte(`"autonomy_budget"`)) {
		return f, f.Kind.Foreign()
	}
	return f, f.Kind == kind.Events && !bytes.Contains(text, []byte(`"approvals"`))
}

// isCBOR reports an array, a map or a tag (RFC 8949 section 3.1, major types 4 to 6):
// not a byte order mark, and not a { with a bit too many.
func isCBOR(head []byte) bool { return len(head) > 0 && head[0] >= 0x80 && head[0] < 0xe0 }

// endsDocument reports whether a first line ends with a document: what is only
// the end of an object in one is followed by its rest.
func endsDocument(line []byte) bool {
	if !bytes.HasSuffix(line, []byte("}")) {
		return false
	}
	var at nesting
	for _, c := range line {
		at.read(c)
	}
	return at.depth <= 0
}

// beginsDocument reports whether the next line begins with a document. One that
// is a brace and no more begins a document of several lines, as in a quotation.
func beginsDocument(rest []byte) bool {
	line, _ := cutLine(bytes.TrimLeft(rest, " \t\r\n"))
	return bytes.HasPrefix(line, []byte("{")) && len(line) > 1
}

// goesOn reports whether the next line is an element, or the value of a member, of what
// the first line begins, as in a list with an entry a line: the first line leaves it
// open behind a bracket, a comma or a colon, and what follows is no document of its own.
// A line that was torn there is followed by documents.
func goesOn(first, rest []byte) bool {
	if len(first) == 0 || !bytes.ContainsRune([]byte("[,:"), rune(first[len(first)-1])) || !beginsDocument(rest) {
		return false
	}
	var at nesting
	for _, c := range first {
		at.read(c)
	}
	if at.depth <= 0 || at.inString {
		return false
	}

	second, behind := cutLine(bytes.TrimLeft(rest, " \t\r\n"))
	behind = bytes.TrimLeft(behind, " \t\r\n")
	return !endsDocument(second) || len(behind) > 0 && bytes.IndexByte([]byte("]},"), behind[0]) >= 0
}

// namesLines reports whether a name is that of lines, of which there may be one.
func namesLines(name string) bool {
	name = plainName(name)
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson")
}

// plainName takes the suffix of a compression off a file name.
func plainName(name string) string {
	name = strings.ToLower(name)
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
}

// cutLine returns the first line without white space at its end, and what
// follows it: nil when it does not end.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, found := bytes.Cut(text, []byte{'\n'})
	if !found {
		return bytes.TrimRight(line, " \t\r"), nil
	}
	return bytes.TrimRight(line, " \t\r"), rest
}

// firstSymbol returns the first byte that is not white space, unread, or 0.
func firstSymbol(r *bufio.Reader) (byte, error) {
	head, err := peek(r, func(head []byte) bool { return len(bytes.TrimLeft(head, " \t\r\n")) > 0 })
	if text := bytes.TrimLeft(head, " \t\r\n"); len(text) > 0 {
		return text[0], nil
	}
	return 0, err
}

// peek returns the beginning of an input as soon as it is enough, and without
// waiting for more: a pipe may bring one receipt an hour. It returns less at the
// end of the input or of the buffer, and an error only with nothing.
func peek(r *bufio.Reader, enough func([]byte) bool) ([]byte, error) {
	for n := 1; ; n = r.Buffered() + 1 {
		_, err := r.Peek(n)
		head, _ := r.Peek(r.Buffered())
		switch {
		case enough(head) || len(head) == r.Size() || err != nil && len(head) > 0 || err == io.EOF:
			return head, nil
		case err != nil:
			return nil, err
		}
	}
}

// telling reports whether two lines that are not blank are there, or less that is
// enough to tell the kind.
func telling(head []byte) bool {
	if isCBOR(head) {
		return true
	}
	first, rest := cutLine(bytes.TrimLeft(head, " \t\r\n"))
	switch {
	case bytes.HasPrefix(first, []byte("[")):
		return true
	case rest == nil:
		return false
	case endsDocument(first):
		return true
	}
	second, behind := cutLine(bytes.TrimLeft(rest, " \t\r\n"))
	if behind != nil && endsDocument(second) && bytes.ContainsRune([]byte("[,:"), rune(first[len(first)-1])) {
		return len(bytes.TrimLeft(behind, " \t\r\n")) > 0 // the third line tells
	}
	return behind != nil
}

// cutWhole reads the one document of an input. A page of a list, as the protocol's
// routes answer it, is the documents in it.
func cutWhole(r io.Reader, lines bool) (cutter, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxDocument && beginsPage(text) {
		return newPageCutter(io.MultiReader(bytes.NewReader(text), r)), nil
	}
	if len(text) <= maxDocument && len(bytes.TrimLeft(text, " \t\r\n")) == 0 {
		return &heldPieces{}, nil // more may have a document after it
	}
	if list := pageOf(text); list != nil {
		return &heldPieces{list}, nil
	}
	return &heldPieces{[]Piece{{Data: text, Kept: true, Index: 1, Single: true, last: lines && !bytes.HasSuffix(text, []byte{'\n'})}}}, nil
}

// pageOf returns the entries of a list: {"object":"list","data":[...]}.
func pageOf(text []byte) []Piece {
	if !bytes.Contains(text, []byte(`"list"`)) {
		return nil
	}
	doc := new(canon.Document)
	if doc.Parse(text, envelopeLimits()) != nil {
		return nil
	}

	data := doc.Root().Member("data")
	if doc.Root().Member("object").String() != "list" || data.Kind() != canon.KindArray {
		return nil
	}

	list := []Piece{} // an empty page is not a receipt, but a list
	for i, n := range data.Elements() {
		list = append(list, Piece{Data: n.Raw(), Kept: true, Index: i + 1})
	}

	return list
}
