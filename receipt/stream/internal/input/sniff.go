package input

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/kind"
)

// cutterFor returns the cutter for an input. If the input's kind is not known, it is detected: CBOR
// by its first byte, with which no JSON text begins, and an array by its bracket. An input consists
// of lines if its first nonblank line ends with } and leaves nothing open, or if the second line
// begins with { followed by other text and is not part of the first document. Any other input is a
// single document. If the name ends in .cbor, the input is a single item.
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

// sniff detects the kind of an input. It may skip as many blank lines as a lineCutter may; line
// numbers then count from the first line that is read.
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

	// A line that leaves nothing open is a complete document.
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
	case rest == nil && len(head) == r.Size(): // a line that is longer than the buffer
		return Lines, nil
	}

	return JSON, nil
}

// An OtherKindError indicates that an input has a kind that contains no receipts, such as a PDF or
// an agent transcript.
type OtherKindError struct{ Found kind.Found }

// Error describes the kind.
func (e *OtherKindError) Error() string { return "contains no receipts: it is " + e.Found.What }

// telltale is the number of bytes from which the kind is detected.
const telltale = 16 << 10

// foreignKind returns the kind of an input that contains no receipts. An input with a member of a
// receipt contains receipts, however damaged. However, an event that submits a task also has a
// budget.
func foreignKind(head []byte) (kind.Found, bool) {
	all := head
	head = head[:min(len(head), telltale)]
	f := kind.Of(head, false)

	// An envelope's payload may name the format of a receipt only after its first part.
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
// types 4 to 6). A byte order mark and a { with a flipped high bit are not among these.
func isCBOR(head []byte) bool { return len(head) > 0 && head[0] >= 0x80 && head[0] < 0xe0 }

// endsDocument reports whether a first line ends with the end of a document. If it only ends an
// object inside a document, the rest of the document follows.
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

// beginsDocument reports whether the next line begins with a document. A line with only a brace
// begins a document of several lines, as in a quotation.
func beginsDocument(rest []byte) bool {
	line, _ := cutLine(bytes.TrimLeft(rest, " \t\r\n"))
	return bytes.HasPrefix(line, []byte("{")) && len(line) > 1
}

// goesOn reports whether the next line is an element, or a member's value, in the document that the
// first line begins, as in a list with one entry per line. The first line then ends with an open
// bracket, a comma, or a colon, and the text that follows is not a complete document. A truncated
// line is followed by documents.
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

// namesLines reports whether a file name indicates lines, even if there is only one line.
func namesLines(name string) bool {
	name = plainName(name)
	return strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson")
}

// plainName removes a compression format's extension from a file name.
func plainName(name string) string {
	name = strings.ToLower(name)
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
}

// cutLine returns the first line without trailing whitespace, and the text that follows it. rest is
// nil if the line does not end.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, found := bytes.Cut(text, []byte{'\n'})
	if !found {
		return bytes.TrimRight(line, " \t\r"), nil
	}
	return bytes.TrimRight(line, " \t\r"), rest
}

// firstSymbol returns the first byte that is not whitespace, without reading it, or 0.
func firstSymbol(r *bufio.Reader) (byte, error) {
	head, err := peek(r, func(head []byte) bool { return len(bytes.TrimLeft(head, " \t\r\n")) > 0 })
	if text := bytes.TrimLeft(head, " \t\r\n"); len(text) > 0 {
		return text[0], nil
	}
	return 0, err
}

// peek returns the beginning of an input as soon as it is sufficient, without waiting for more,
// because a pipe may deliver only one receipt per hour. It returns fewer bytes at the end of the
// input or the buffer. If it returns an error, it returns no bytes.
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

// telling reports whether head contains two nonblank lines, or is otherwise sufficient to detect
// the kind.
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

	// The first line may continue in the second line.
	second, behind := cutLine(bytes.TrimLeft(rest, " \t\r\n"))
	if behind != nil && endsDocument(second) && bytes.ContainsRune([]byte("[,:"), rune(first[len(first)-1])) {
		return len(bytes.TrimLeft(behind, " \t\r\n")) > 0 // the third line determines the kind
	}
	return behind != nil
}

// cutWhole reads the only document of an input. A page of a list, as returned by the protocol's
// routes, counts as the documents in it.
func cutWhole(r io.Reader, lines bool) (cutter, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxDocument && beginsPage(text) {
		return newPageCutter(io.MultiReader(bytes.NewReader(text), r)), nil
	}
	if len(text) <= maxDocument && len(bytes.TrimLeft(text, " \t\r\n")) == 0 {
		return &heldPieces{}, nil // in a longer input, a document may follow the whitespace
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

	list := []Piece{} // an empty page is a list, not a receipt
	for i, n := range data.Elements() {
		list = append(list, Piece{Data: n.Raw(), Kept: true, Index: i + 1})
	}

	return list
}
