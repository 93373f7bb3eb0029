package input

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

func reader(text string) *bufio.Reader {
	return bufio.NewReaderSize(strings.NewReader(text), readBytes)
}

// TestSniff verifies the kind that is detected from the beginning of an input.
func TestSniff(t *testing.T) {
	for text, want := range map[string]Kind{
		"":                                 JSON,
		"\n \n":                            JSON,
		"{}":                               Lines,
		"{\n}":                             JSON,
		`{"a":`:                            JSON,
		`{"a":` + strings.Repeat(" ", 100): JSON,
		"1\n{\n}":                          JSON,
		"1\n{}":                            Lines,
		"{\"a\":[\n{\"b\":1}\n]}":          JSON,
		"{\"a\":{\"b\":1\n{\"c\":1}\n}\n":  Lines,
		"\"a[\n{\"c\":1}\n]\n":             Lines,
		"[\n{}]":                           JSON,
		"\x82\x01\x02":                     Sequence,
		`{"a":"` + strings.Repeat("b", readBytes):  Lines,
		`{"a":1,` + strings.Repeat(" ", readBytes): Lines, // the line is longer than the buffer
		"1,\n{\"a\":[\n1]}":                        Lines, // the first line leaves nothing open
	} {
		got, err := sniff(reader(text), "name", false)
		if err != nil || got != want {
			t.Errorf("%.40q: %v, %v, expected %v", text, got, err, want)
		}
	}
}

// TestSniffAttestation verifies that an attestation is accepted only if its statement is going to be
// read, and that this does not concern inputs of other kinds.
func TestSniffAttestation(t *testing.T) {
	const attestation = `{"mediaType":"application/vnd.dev.sigstore.bundle+json;version=0.1"}`
	if form, err := sniff(reader(attestation), "", true); err != nil || form != Lines {
		t.Errorf("%v, %v", form, err)
	}
	for text, wrapped := range map[string]bool{attestation: false, "%PDF-1.7\n": true} {
		if _, err := sniff(reader(text), "", wrapped); !errors.As(err, new(*OtherKindError)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestTelling verifies how much of an input is read to detect its kind. More must not be read,
// because a pipe may deliver the next document much later.
func TestTelling(t *testing.T) {
	for text, want := range map[string]bool{
		"":                              false,
		" \n":                           false,
		"\x82":                          true,
		"[":                             true,
		"{}":                            false,
		"{}\n":                          true,
		"{\n\"a\":1":                    false,
		"{\n\"a\":1\n":                  true,
		"{\"a\":[\n{\"b\":1}":           false,
		"{\"a\":[\n{\"b\":1}\n":         false,
		"{\"a\":[\n{\"b\":1}\n]":        true,
		"{\"a\":\"b\"\n{\"b\":1}\n":     true,
		"{\"a\":[\n{\"b\":1\n":          true,
		"\n\n{\"a\":[\n\n{\"b\":1}\n\n": false,
	} {
		if got := telling([]byte(text)); got != want {
			t.Errorf("%q: %v, expected %v", text, got, want)
		}
	}
}

// TestUnreadable verifies that the error of an input that cannot be read is returned, for each kind
// of input, and that an empty input is not an error.
func TestUnreadable(t *testing.T) {
	failed := errors.New("disk failure")
	for _, form := range []Kind{Sniffed, JSON, Lines, CBOR, Sequence} {
		c, err := cutterFor(bufio.NewReader(iotest.ErrReader(failed)), form, "", false, false)
		if err == nil {
			_, err = c.Next()
		}
		if !errors.Is(err, failed) {
			t.Errorf("kind %v: %v", form, err)
		}
		c, err = cutterFor(reader(""), form, "", false, false)
		if err != nil {
			t.Fatalf("kind %v: %v", form, err)
		}
		if _, err := c.Next(); err != io.EOF {
			t.Errorf("kind %v: %v", form, err)
		}
	}

	// A number ends only if another byte follows it.
	c := &arrayCutter{r: bufio.NewReader(io.MultiReader(strings.NewReader("[1"), iotest.ErrReader(failed)))}
	if _, err := c.Next(); !errors.Is(err, failed) {
		t.Errorf("a number in an array: %v", err)
	}
}

// TestKindNames verifies that a number that is no kind has a description.
func TestKindNames(t *testing.T) {
	for k, want := range map[Kind]string{Sniffed: "", Sequence: "cborseq", Sequence + 1: "kind(5)"} {
		if got := k.String(); got != want {
			t.Errorf("kind %d: %q, expected %q", k, got, want)
		}
	}
}

// TestHurry verifies that the first line of a hurried input is returned before the second line is
// read, and that inputs of other kinds are not affected.
func TestHurry(t *testing.T) {
	failed := errors.New("disk failure")
	for text, kind := range map[string]Kind{"{}\n": Lines, "[1,": JSON, "\xa0": Sequence} {
		in := &File{Kind: kind, Meter: func(int) {}, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(text), iotest.ErrReader(failed))), nil
		}}
		o, err := in.Cut(NewBuffer(0))
		if err != nil {
			t.Fatal(err)
		}
		o.Hurry()
		p, err := o.Next()
		if first := kind != Sequence; (err == nil) != first || first && p.Index != 1 {
			t.Errorf("%v: piece %d, %v", kind, p.Index, err)
		}
		o.Close()
	}
}

// TestPages verifies that the entries of a list are found only in its member data, and that the rest
// of the list must be valid.
func TestPages(t *testing.T) {
	for text, want := range map[string]string{
		`{"object":"list","data":[1,[2]]}`:                        "1 [2] EOF",
		`{"object" : "list", "data" : [1 , 2 ] }`:                 "1 2 EOF",
		`{"links":[3],"object":"list","data":[1]}`:                "1 EOF",
		`{"a":"data","links":[3],"object":"list","data":[1]}`:     "1 EOF",
		`{"a":{"data":[3]},"object":"list","data":[1]}`:           "1 EOF",
		`{"a":"\"data","b\"data":[3],"data":[1],"object":"list"}`: "1 EOF",
		`{"data":{"a":[3]},"object":"list"}`:                      "EOF",
		`{"data"[3],"object":"list"}`:                             "syntax EOF",
		`{"a":"data",[3],"object":"list"}`:                        "syntax EOF",
		`{"object":"list","data":[]}`:                             "EOF",
		`{"object":"list","data":[1],"data":[2]}`:                 "1 duplicate_name EOF",
		`{"object":"list","data":[1],"more":tru}`:                 "1 syntax EOF",
		`{"object":"list","data":[1],"more":[`:                    "1 torn_tail EOF",
		`{"object":"list","data":[1]`:                             "1 torn_tail EOF",
		`{"object":"list","data":[1,`:                             "1 torn_tail EOF",
		`{"object":"list","data":[1,]}`:                           "1 syntax EOF",
		`{"object":"list","data":[1]} {}`:                         "1 trailing_data EOF",
		`{"object":"page","data":[1]}`:                            "1 size_limit EOF",
	} {
		c, got := newPageCutter(strings.NewReader(text)), ""
		for n := 1; ; n++ {
			p, err := c.Next()
			if err != nil {
				got += err.Error()
				break
			}
			if p.fault == nil {
				got += string(p.Data) + " "
				if p.Index != n {
					t.Errorf("%s: piece %d has the index %d", text, n, p.Index)
				}
				continue
			}
			got += string(p.fault.Code) + " "
			if torn := p.fault.Code == receipt.CodeTornTail; p.fault.Torn != torn {
				t.Errorf("%s: torn %v", text, p.fault.Torn)
			}
		}
		if got != want {
			t.Errorf("%s: %s, expected %s", text, got, want)
		}
	}

	// A small list is held in memory.
	for text, want := range map[string]int{
		`{"object":"list","data":[1,2]}`:                2,
		`{"object":"list","data":{}}`:                   -1,
		`{"object":"receipt","data":[1],"kind":"list"}`: -1,
		`{"object":"list","data":[1]`:                   -1,
	} {
		if got := pageOf([]byte(text)); len(got) != max(want, 0) || (got != nil) != (want >= 0) {
			t.Errorf("%s: %d entries, expected %d", text, len(got), want)
		}
	}
}

// TestLastLine verifies that only a line without a line ending may be truncated, and that a single
// line may be truncated only if the input is known to consist of lines.
func TestLastLine(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"a.jsonl", `{"a":`, true},
		{"a.jsonl", "{\"a\":\n", false},
		{"a.json", `{"a":`, false},
		{"a.jsonl", "{}\n{\"a\":", true},
		{"a.json", "{}\n{\"a\":", true},
		{"a.jsonl", "{}\n{\"a\":\n", false},
	} {
		for _, form := range []Kind{Sniffed, Lines} {
			c, err := cutterFor(reader(test.text), form, test.name, false, false)
			last := Piece{}
			for err == nil {
				var p Piece
				if p, err = c.Next(); err == nil {
					last = p
				}
			}
			if want := test.want || form == Lines && !strings.HasSuffix(test.text, "\n"); last.last != want || err != io.EOF {
				t.Errorf("%s with %q as %v: %v, %v", test.name, test.text, form, last.last, err)
			}
		}
	}
}

// TestSpace verifies that more whitespace than a document can contain is a document that is too
// large, because a receipt may follow it.
func TestSpace(t *testing.T) {
	c, err := cutWhole(strings.NewReader(strings.Repeat(" ", maxDocument+1)), false)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := c.Next(); err != nil || len(p.Data) <= maxDocument {
		t.Errorf("%d bytes, %v", len(p.Data), err)
	}
}

// faults returns the codes of the pieces of an input, and the error at its end.
func faults(t *testing.T, text string, packed bool) (codes []receipt.Code, err error) {
	t.Helper()
	c, err := cutterFor(reader(text), Lines, "", packed, false)
	for err == nil {
		var p Piece
		if p, err = c.Next(); err == nil {
			code := receipt.Code("")
			if p.fault != nil {
				code = p.fault.Code
			}
			codes = append(codes, code)
		}
	}
	return codes, err
}

// TestLargeLines verifies that a line may have maxDocument bytes, that a longer line is skipped,
// and that the rest of a compressed input is not read after a longer line.
func TestLargeLines(t *testing.T) {
	fits := `"` + strings.Repeat("a", maxDocument-2) + `"`
	page := `{"object":"list","data":[` + fits[:maxDocument] + `]}`
	for _, test := range []struct {
		name, text string
		packed     bool
		want       []receipt.Code
		err        string
	}{
		{"limit", fits + "\n1\n", false, []receipt.Code{"", ""}, "EOF"},
		{"too long", fits + "1\n1\n", false, []receipt.Code{receipt.CodeSizeLimit, ""}, "EOF"},
		{"page in the second line", "1\n" + page + "\n", false, []receipt.Code{"", receipt.CodeSizeLimit}, "EOF"},
		{"compressed", fits + "111\n1\n", true, []receipt.Code{receipt.CodeSizeLimit}, "line 1 has more than 17825792 bytes; the rest of the compressed input is not read"},
	} {
		got, err := faults(t, test.text, test.packed)
		if !slices.Equal(got, test.want) || err.Error() != test.err {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
	}
}

// TestLineRest verifies that the rest of a line is read up to its end or up to a limit, even if only
// one byte is read at a time.
func TestLineRest(t *testing.T) {
	for most, want := range map[int]string{2: "ab, c\nd", 3: "abc, d", 9: "abc, d"} {
		rest := &lineRest{r: reader("abc\nd"), most: most}
		line, err := io.ReadAll(iotest.OneByteReader(rest))
		behind, _ := io.ReadAll(rest.r)
		if got := string(line) + ", " + string(behind); err != nil || got != want || rest.ended != (most > 2) {
			t.Errorf("at most %d bytes: %q, ended %v, %v", most, got, rest.ended, err)
		}
	}
}

// TestText verifies that a document may have maxDocument bytes, and how a fault is described.
func TestText(t *testing.T) {
	text := make([]byte, maxDocument+1)
	if p := Text(text[1:], 1, true); p.fault != nil || len(p.Data) != maxDocument {
		t.Errorf("%d bytes: %v", len(p.Data), p.fault)
	}
	p := Text(text, 1, true)
	if p.fault == nil || p.Data != nil || p.fault.Words() != "expected at most 17825792 bytes, found 17825793" {
		t.Errorf("%v", p.fault)
	}
	if got := (&Fault{place: "offset 7", Detail: "no item"}).Words(); got != "offset 7: no item" {
		t.Error(got)
	}
}

// TestParsed verifies that a document may be a receipt only if nothing is wrong with it.
func TestParsed(t *testing.T) {
	for name, c := range map[string]Contents{"a fault": {Fault: &Fault{}}, "a syntax error": {Syntax: io.ErrUnexpectedEOF}, "wrong": {Wrong: &receipt.Check{}}} {
		if c.Parsed() {
			t.Errorf("%s: may be a receipt", name)
		}
	}
	if !(&Contents{}).Parsed() {
		t.Error("cannot be a receipt")
	}
}

// TestEmptied verifies that a document that exceeds a limit for receipts is not returned.
func TestEmptied(t *testing.T) {
	deep := strings.Repeat("[", receipt.MaxDepth) + strings.Repeat("]", receipt.MaxDepth)
	for text, want := range map[string]string{`{"a":1}`: `{"a":1}`, deep: deep, "[" + deep + "]": "", `{"wire":{"payload":[` + deep + `]}}`: "",
		`{"wire":{"payload":{"b":[` + deep + `]}}}`: "", `{"wire":{"payload":{"b":2}},"a":` + deep + `}`: `{"b":2}`} {
		doc := new(canon.Document)
		_, err := Receipt(doc, []byte(text))
		if got := string(doc.Root().Raw()); got != want || (err == nil) != (want != "") {
			t.Errorf("%.40s: %.40s, %v; expected %.40s", text, got, err, want)
		}
	}
}

// TestOtherKinds verifies that an object is described as a policy only if its witnesses are an
// object.
func TestOtherKinds(t *testing.T) {
	for text, want := range map[string]string{`{"witnesses":{}}`: "a policy", `{"witnesses":[]}`: "", `{"witness":{}}`: "", `{"keys":[]}`: "a key set", `{"keys":{}}`: ""} {
		doc, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := otherKind(doc.Root()); got != want {
			t.Errorf("%s: %q, expected %q", text, got, want)
		}
	}
}

// TestOpenEnvelopes verifies that a signed envelope is sealed if it contains a receipt or is wrong,
// and that a third-party receipt is not opened.
func TestOpenEnvelopes(t *testing.T) {
	wrong := &receipt.Check{Code: receipt.CodeSyntax}
	for name, c := range map[string]struct {
		inside []byte
		wrong  *receipt.Check
		format kind.Kind
		sealed bool
		text   string
	}{
		"no envelope":           {nil, nil, "", false, "{}"},
		"a receipt":             {[]byte(`{"a":1}`), nil, "", true, `{"a":1}`},
		"wrong":                 {nil, wrong, "", true, "{}"},
		"a third-party receipt": {[]byte(`{"a":1}`), wrong, kind.AELLine, false, "{}"},
	} {
		d := NewDecoder(archive.NewCodec())
		d.Unwrap = func(*canon.Document) ([]byte, *receipt.Check, func(*receipt.Verifier, *canon.Document, *receipt.Report)) {
			return c.inside, c.wrong, nil
		}
		got := Contents{Text: []byte("{}"), Format: c.format}
		d.open(&got)
		if got.Sealed != c.sealed || string(got.Text) != c.text || got.Syntax != nil || c.format != "" && got.Wrong != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
