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
		`{"a":"` + strings.Repeat("b", readBytes): Lines,
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
