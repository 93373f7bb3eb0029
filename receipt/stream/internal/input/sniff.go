package input

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/kind"
)

// cutterFor returns the cutter for an input. If the kind of the input is not known, it is detected.
// CBOR is recognized by its first byte, which cannot begin a JSON text, and an array is recognized
// by its opening bracket. An input consists of lines if its first nonblank line ends with } and
// leaves nothing open, or if its second line begins with { followed by other text and is not part
// of the first document. Any other input is a single document. If the file name ends in .cbor, the
// input is a single CBOR item.
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

// sniff detects the kind of an input from its beginning. The input may have as many leading blank
// lines as a lineCutter accepts; line numbers then start at the first line that is read.
func sniff(r *bufio.Reader, name string, wrapped bool) (Kind, error) {
	head, err := peek(r, telling)
	if len(head) == 0 {
		return JSON, err
	}
	if other, ok := foreignKind(head); ok && !(wrapped && other.Kind == kind.Attestation) {
		return JSON, &OtherKindError{other}
	}
	if f := kind.Of(head, false); f.Kind == kind.AELLine {
		return Lines, nil
	}
	if isCBOR(head) {
		if strings.HasSuffix(plainName(name), ".cbor") {
			return CBOR, nil
		}
		return Sequence, nil
	}

	// A line that leaves no object or array open is a complete document.
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
	case rest == nil && len(head) == r.Size(): // the line is longer than the buffer
		return Lines, nil
	}

	return JSON, nil
}

// An OtherKindError indicates that an input cannot contain receipts because of its kind, such as a
// PDF or an agent transcript.
type OtherKindError struct{ Found kind.Found }

// Error describes the kind of the input.
func (e *OtherKindError) Error() string { return "contains no receipts: it is " + e.Found.What }

// telltale is the maximum number of bytes that are used to detect the kind of an input.
const telltale = 16 << 10

// foreignKind returns the kind of an input if inputs of that kind contain no receipts. An input
// with the member autonomy_budget, which receipts have, is assumed to contain receipts, even if it
// is damaged. An event that submits a task is an exception, because it has that member, too.
func foreignKind(head []byte) (kind.Found, bool) {
	all := head
	head = head[:min(len(head), telltale)]
	f := kind.Of(head, false)

	// The format of the receipt in the payload of an envelope may be beyond the first bytes.
	if f.Kind.Foreign() && len(all) > len(head) {
		f = kind.Of(all, false)
	}

	text := bytes.TrimLeft(head, " \t\r\n")
	if !bytes.HasPrefix(text, []byte("{")) || !bytes.Contains(text, []byte(`"autonomy_budget"`)) {
		return f, f.Kind.Foreign()
	}
	return f, f.Kind == kind.Events && !bytes.Contains(text, []byte(`"approvals"`))
}

// isCBOR reports whether head begins with a CBOR array, map, or tag (RFC 8949 section 3.1, major
// types 4 to 6). A byte order mark is excluded, as is the byte { with a flipped high bit.
func isCBOR(head []byte) bool { return len(head) > 0 && head[0] >= 0x80 && head[0] < 0xe0 }

// endsDocument reports whether a document ends at the end of its first line. If the line only ends
// a nested object, the document continues on the next line.
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

// beginsDocument reports whether the next line begins with a new document. A line with only a brace
// is not enough, because it may be part of a document of several lines.
func beginsDocument(rest []byte) bool {
	line, _ := cutLine(bytes.TrimLeft(rest, " \t\r\n"))
	return bytes.HasPrefix(line, []byte("{")) && len(line) > 1
}

// goesOn reports whether the document in the first line continues in the next line with an element
// or the value of a member, as in a list with one entry per line. In this case, the first line ends
// with an open bracket, a comma, or a colon, and the following text is not a complete document. If
// the first line is merely truncated, complete documents follow.
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

// namesLines reports whether the extension of a file name indicates an input of lines, even if the
// file has only one line.
func namesLines(name string) bool {
	name = plainName(name)
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson")
}

// plainName returns a file name in lowercase, without the extension of a compression format.
func plainName(name string) string {
	name = strings.ToLower(name)
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
}

// cutLine returns the first line without trailing whitespace, and the text after that line. rest is
// nil if the line has no line ending.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, found := bytes.Cut(text, []byte{'\n'})
	if !found {
		return bytes.TrimRight(line, " \t\r"), nil
	}
	return bytes.TrimRight(line, " \t\r"), rest
}

// firstSymbol returns the first byte that is not whitespace, without consuming it, or 0 if there is
// none.
func firstSymbol(r *bufio.Reader) (byte, error) {
	head, err := peek(r, func(head []byte) bool { return len(bytes.TrimLeft(head, " \t\r\n")) > 0 })
	if text := bytes.TrimLeft(head, " \t\r\n"); len(text) > 0 {
		return text[0], nil
	}
	return 0, err
}

// peek returns the beginning of an input as soon as enough reports true. It does not wait for more
// data, because a pipe may deliver only one receipt per hour. It returns less data at the end of
// the input or if the buffer is full. If the error is not nil, there is no data.
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

// telling reports whether head contains two nonblank lines or is otherwise sufficient to detect the
// kind of the input.
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

	// The document in the first line may continue in the second line.
	second, behind := cutLine(bytes.TrimLeft(rest, " \t\r\n"))
	if endsDocument(second) && bytes.ContainsRune([]byte("[,:"), rune(first[len(first)-1])) {
		return len(bytes.TrimLeft(behind, " \t\r\n")) > 0 // only the third line determines the kind
	}
	return behind != nil
}

// cutWhole reads an input that is a single document. If the document is a page of a list, as
// returned by the routes of the protocol, it is treated as the documents in the list.
func cutWhole(r io.Reader, lines bool) (cutter, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxDocument && beginsPage(text) {
		return newPageCutter(io.MultiReader(bytes.NewReader(text), r)), nil
	}
	if len(text) <= maxDocument && len(bytes.TrimLeft(text, " \t\r\n")) == 0 {
		return &heldPieces{}, nil // if the input is longer, a document may follow the whitespace
	}
	if list := pageOf(text); list != nil {
		return &heldPieces{list}, nil
	}
	return &heldPieces{[]Piece{{Data: text, Kept: true, Index: 1, Single: true, last: lines && !bytes.HasSuffix(text, []byte{'\n'})}}}, nil
}

// pageOf returns the entries of a page, {"object":"list","data":[...]}, or nil if text is not a
// page.
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

	list := []Piece{} // an empty page is a list without entries, not a receipt
	for i, n := range data.Elements() {
		list = append(list, Piece{Data: n.Raw(), Kept: true, Index: i + 1})
	}

	return list
}
