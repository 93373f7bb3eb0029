package stream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

func pretty(t testing.TB, doc []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func cborOf(t testing.TB, docs ...[]byte) (all []byte) {
	t.Helper()
	codec := archive.NewCodec()
	for _, doc := range docs {
		d, err := canon.Parse(doc)
		if err != nil {
			t.Fatal(err)
		}
		if all, err = codec.Append(all, d); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func join(sep string, docs ...[]byte) []byte { return bytes.Join(docs, []byte(sep)) }

func text(parts ...any) []byte {
	size := 0
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			size += len(p)
		case []byte:
			size += len(p)
		}
	}

	all := make([]byte, 0, size)
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			all = append(all, p...)
		case []byte:
			all = append(all, p...)
		}
	}
	return all
}

// padded returns a receipt with additional whitespace, so that it is n bytes long.
func padded(doc []byte, n int) []byte {
	long := bytes.Repeat([]byte(" "), n)
	copy(long, doc[:len(doc)-1])
	long[n-1] = '}'
	return long
}

// TestTornAnywhere verifies that a truncated last line has the code torn_tail, regardless of the
// byte after which it ends.
func TestTornAnywhere(t *testing.T) {
	first := newWriter(t, "a").many(1)[0]
	line := `{"é\u00e9":["😀\ud83d\ude00\\\u0001\n",-0.5E-7,10,true,false,null,{"":{}},[]],"z": "" }`
	for cut := 1; cut < len(line); cut++ {
		expect(t, line[:cut], verify(t, text(first, "\n", line[:cut]), stream.Options{}), "undecided 1/0/1; input:2 torn_tail; a 1")
	}
}

// TestFirstCutOff verifies that a truncated first line or item is undecided, like a truncated later
// item. A truncated single document must be refuted as malformed.
func TestFirstCutOff(t *testing.T) {
	line := newWriter(t, "a").many(1)[0]
	item := cborOf(t, line)
	for _, c := range []struct {
		name string
		kind stream.Kind
		item []byte
		want string
	}{
		{"a.json", stream.Sniffed, line, "refuted 0/1/0; a.json syntax"},
		{"a.jsonl", stream.Sniffed, line, "undecided 0/0/1; a.jsonl torn_tail"},
		{"a.ndjson.gz", stream.Sniffed, line, "undecided 0/0/1; a.ndjson.gz torn_tail"},
		{"a.json", stream.Lines, line, "undecided 0/0/1; a.json torn_tail"},
		{"a.jsonl", stream.JSON, line, "refuted 0/1/0; a.jsonl syntax"},
		{"a.cbor", stream.Sniffed, item, "refuted 0/1/0; a.cbor syntax"},
		{"a.cborseq", stream.Sniffed, item, "undecided 0/0/1; a.cborseq torn_tail"},
		{"a", stream.Sniffed, item, "undecided 0/0/1; a torn_tail"},
		{"a", stream.CBOR, item, "refuted 0/1/0; a syntax"},
	} {
		for cut := 1; cut < len(c.item); cut += 1 + cut/8 {
			source := stream.Source{Name: c.name, Kind: c.kind, Open: func() (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(c.item[:cut])), nil
			}}
			run := stream.VerifyFiles(t.Context(), integrity(t), []stream.Source{source}, stream.Options{})
			expect(t, fmt.Sprintf("%s as %v, %d bytes", c.name, c.kind, cut), collect(run), c.want)
		}
	}
}

// TestKinds verifies that every input format leads to the same verdict.
func TestKinds(t *testing.T) {
	l := newWriter(t, "a").many(3)
	envelope := func(doc []byte) []byte {
		return text(`{"object":"receipt","id":"x","wire":{"payload":`, doc, `}}`)
	}
	utf16 := []byte{0xff, 0xfe}
	for _, c := range l[0] {
		utf16 = append(utf16, c, 0)
	}
	seq := cborOf(t, l...)
	all := "verified 3/0/0; a 3"
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"one line", l[0], "verified 1/0/0; input open; a 1"},
		{"one line, ended", jsonl(l[0]), "verified 1/0/0; input open; a 1"},
		{"pretty", pretty(t, l[0]), "verified 1/0/0; input open; a 1"},
		{"pretty, CR LF", bytes.ReplaceAll(pretty(t, l[0]), []byte("\n"), []byte("\r\n")), "verified 1/0/0; input open; a 1"},
		{"broken behind a member", text(strings.Replace(string(l[0]), "},", "}\n,", 1)), "verified 1/0/0; input open; a 1"},
		{"broken before the last brace", text(l[0][:len(l[0])-1], "\r\n}\n"), "verified 1/0/0; input open; a 1"},
		{"an envelope around a line", text(`{"object":"receipt","id":"x","wire":{"payload":`, jsonl(l[0]), "}}\n"), "verified 1/0/0; input open; a 1"},
		{"a first line that leaves something open", text(`{"a":{"b":"}"}`, "\n", l[0], "\n", l[1]), "refuted 2/1/0; input:1 syntax; a 2"},
		{"braces in strings", text(strings.Replace(string(l[0]), `{"`, `{"x":"\"{{[","`, 1), "\n\n", l[1]), "refuted 1/1/0; input:1 schema_invalid; a 1"},
		{"blank lines before", text("\n\r\n \n", pretty(t, l[0])), "verified 1/0/0; input open; a 1"},
		{"pretty and trailing", text(pretty(t, l[0]), "\n", pretty(t, l[1])), "refuted 0/1/0; input trailing_data"},
		{"lines", jsonl(l...), all},
		{"lines, no last end", join("\n", l...), all},
		{"lines, CR LF", text(join("\r\n", l...), "\r\n"), all},
		{"blank lines", text("\n\n", join("\n \t\r\n\n", l...), "\n\n  "), all},
		{"lines with space around", text(" ", join(" \n\t", l...), " "), all},
		{"line numbers count blank lines", text("\n\r\n", l[0], "\n\n", altered(l[1]), "\n \n\nx\n", l[2]),
			"refuted 2/2/0; input:5 hash_mismatch; input:8 syntax; a 3"},
		{"CR alone ends no line", join("\r", l...), "refuted 0/1/0; input trailing_data"},
		{"torn line", text(l[0], "\n", l[1], "\n", l[2][:200]), "undecided 2/0/1; input:3 torn_tail; a 2"},
		{"torn in a number or word", text(l[0], "\n", l[1], "\n{\"a\":tr"), "undecided 2/0/1; input:3 torn_tail; a 2"},
		{"last line false in an escape", text(l[0], "\n", l[1], "\n{\"a\":\"\\u00g"), "refuted 2/1/0; input:3 syntax; a 2"},
		{"last line false behind a surrogate", text(l[0], "\n", l[1], "\n{\"a\":\"\\uD83D\\u00"), "refuted 2/1/0; input:3 lone_surrogate; a 2"},
		{"last line false in a raw character", text(l[0], "\n", l[1], "\n{\"a\":\"\xf0\x9f\""), "refuted 2/1/0; input:3 invalid_utf8; a 2"},
		{"last line false outside a string", text(l[0], "\n", l[1], "\n{\\u00"), "refuted 2/1/0; input:3 syntax; a 2"},
		{"last line false, not torn", text(l[0], "\n", l[1], "\n{]"), "refuted 2/1/0; input:3 syntax; a 2"},
		{"last line torn but ended", text(l[0], "\n", l[1], "\n", l[2][:200], "\n"), "refuted 2/1/0; input:3 syntax; a 2"},
		{"one torn line", l[0][:200], "refuted 0/1/0; input syntax"},
		{"two documents in one line", text(l[0], l[1], "\n", l[2]), "refuted 1/1/0; input:1 trailing_data; input:2 open; a 1"},
		{"array", text("[", join(",", l...), "]"), all},
		{"array of lines", text(" [\n", join(",\n", l...), "\n]\n"), all},
		{"pretty array", pretty(t, text("[", join(",", l...), "]")), all},
		{"array of one", text("[", l[0], "]"), "verified 1/0/0; a 1"},
		{"array of envelopes", text("[", envelope(l[0]), ",", envelope(l[1]), ",", envelope(l[2]), "]"), all},
		{"empty array", []byte("[]"), "undecided 0/0/0; error"},
		{"empty array and trailing", []byte("[] {}"), "refuted 0/1/0; input:1 trailing_data"},
		{"array and trailing", text("[", join(",", l...), "] x"), "refuted 3/1/0; input:4 trailing_data; a 3"},
		{"torn array", text("[", l[0], ",", l[1], ",", l[2][:200]), "undecided 2/0/1; input:3 torn_tail; a 2"},
		{"array torn behind a comma", text("[", l[0], ",", l[1], ","), "undecided 2/0/1; input:2 torn_tail; a 2"},
		{"array of objects without a comma", text("[", l[0], l[1], "]"), "refuted 1/1/0; input:2 syntax; a 1"},
		{"array of arrays without a comma", text("[", "[1]", "[2]", "]"), "refuted 0/2/0; input:1 not_object; input:2 syntax"},
		{"array of strings without a comma", text("[", `"a"`, `"b"`, "]"), "refuted 0/2/0; input:1 not_object; input:2 syntax"},
		{"array of words without a comma", text("[", "true", "false", "]"), "refuted 0/1/0; input:1 trailing_data"},
		{"array torn behind an element", text("[", l[0], ",", l[1]), "undecided 2/0/1; input:2 torn_tail; a 2"},
		{"array without comma", text("[", l[0], l[1], "]"), "refuted 1/1/0; input:2 syntax; a 1"},
		{"array with a comma too many", text("[", l[0], ",]"), "refuted 1/1/0; input:2 syntax; a 1"},
		{"array with two commas", text("[", l[0], ",,", l[1], "]"), "refuted 1/1/0; input:2 syntax; a 1"},
		{"array of a comma", text("[,", l[0], "]"), "refuted 0/1/0; input:1 syntax"},
		{"array closed by a brace", text("[", l[0], "}"), "refuted 1/1/0; input:2 syntax; a 1"},
		{"array that begins with a brace", text("[}", l[0], "]"), "refuted 0/2/0; input:1 syntax; input:2 syntax"},
		{"array of garbage", text(`[1, "[{", null, tru, [[]], {"a":"}"}, `, l[0], "]"),
			"refuted 1/6/0; input:1 not_object; input:2 not_object; input:3 not_object; input:4 syntax; input:5 not_object; input:6 not_a_receipt; a 1"},
		{"nested array", text("[[", l[0], "]]"), "refuted 0/1/0; input:1 not_object"},
		{"array with brackets in strings", text("[", strings.Replace(string(l[0]), `{"`, `{"x":"\\\"}{{[\\\\","`, 1), ",", l[1], "]"),
			"refuted 1/1/0; input:1 schema_invalid; a 1"},
		{"array of wrong brackets", text("[", l[0], `,{"a":[}]`, ",", l[1], "]"), "refuted 2/1/0; input:2 syntax; a 2"},
		{"page", text(`{"object":"list","data":[`, join(",", l...), `],"has_more":false}`), all},
		{"page, ended", text(`{"object":"list","data":[`, join(",", l...), `],"has_more":false}`, "\n"), all},
		{"pretty page", pretty(t, text(`{"object":"list","data":[`, join(",", l...), `]}`)), all},
		{"page of envelopes", text(`{"data":[`, envelope(l[0]), ",", envelope(l[1]), ",", envelope(l[2]), `],"object":"list"}`), all},
		{"page of one", text(`{"object":"list","data":[`, l[0], `]}`), "verified 1/0/0; a 1"},
		{"page of lines", text(`{"object":"list","data":[`, "\n", join(",\n", l...), "\n],\"has_more\":false}\n"), all},
		{"page of lines that begin with commas", text(`{"object":"list","data":[`, "\n", join("\n,", l...), "\n]}"), all},
		{"page, the first entry beside the bracket", text(`{"object":"list","data":[`, join(",\r\n", l...), "]}"), all},
		{"page of one line", text(`{"object":"list","data":[`, "\n", l[0], "\n]}"), "verified 1/0/0; a 1"},
		{"envelope around a line of its own", text(`{"object":"receipt","id":"x","wire":{"payload":`, "\n", l[0], "\n}}\n"), "verified 1/0/0; input open; a 1"},
		{"a first line torn behind a bracket", text(`{"a":[`, "\n", l[0], "\n", l[1]), "refuted 2/1/0; input:1 syntax; a 2"},
		{"a first line torn behind a comma", text(`{"a":1,`, "\n", l[0], "\n", l[1], "\n"), "refuted 2/1/0; input:1 syntax; a 2"},
		{"a first line torn before the last", text(`{"a":[`, "\n", l[0]), "refuted 1/1/0; input:1 syntax; a 1"},
		{"a first line torn in a string", text(`{"a":"[`, "\n", l[0], ",\n", l[1]), "refuted 1/2/0; input:1 syntax; input:2 trailing_data; input:3 open; a 1"},
		{"empty page", []byte(`{"object":"list","data":[]}`), "undecided 0/0/0; error"},
		{"page without data", []byte(`{"object":"list"}`), "refuted 0/1/0; input not_a_receipt"},
		{"envelope", envelope(l[0]), "verified 1/0/0; input open; a 1"},
		{"pretty envelope", pretty(t, envelope(l[0])), "verified 1/0/0; input open; a 1"},
		{"lines of envelopes", jsonl(envelope(l[0]), l[1], envelope(l[2])), all},
		{"envelope of altered", envelope(altered(l[0])), "refuted 0/1/0; input hash_mismatch"},
		{"sequence", seq, all},
		{"sequence of one", cborOf(t, l[0]), "verified 1/0/0; input open; a 1"},
		{"torn sequence", seq[:len(seq)-1], "undecided 2/0/1; input:3 torn_tail; a 2"},
		{"sequence torn in a head", text(cborOf(t, l[0], l[1]), []byte{0xb9}), "undecided 2/0/1; input:3 torn_tail; a 2"},
		{"one torn item", cborOf(t, l[0])[:100], "undecided 0/0/1; input torn_tail"},
		{"one malformed item", text([]byte{0xa1, 0xff}, cborOf(t, l[0])), "refuted 0/1/0; input syntax"},
		{"malformed item", text(cborOf(t, l[0], l[1]), []byte{0xff}, cborOf(t, l[2])), "refuted 2/1/0; input:3 syntax; a 2"},
		{"item of other bytes", text(cborOf(t, l[0]), []byte{0x18, 0x01}, cborOf(t, l[1])), "refuted 2/1/0; input:2 non_deterministic_cbor; a 2"},
		{"JSON behind CBOR", text(cborOf(t, l[0]), l[1]), "refuted 1/1/0; input:2 size_limit; a 1"},
		{"byte order mark", text("\xef\xbb\xbf", l[0]), "refuted 0/1/0; input syntax"},
		{"byte order mark and lines", text("\xef\xbb\xbf", jsonl(l...)), "refuted 2/1/0; input:1 syntax; input:2 open; a 2"},
		{"UTF-16", utf16, "refuted 0/1/0; input syntax"},
		{"empty", nil, "undecided 0/0/0; error"},
		{"blank", []byte(" \n\t\r\n "), "undecided 0/0/0; error"},
		{"NUL", []byte{0}, "refuted 0/1/0; input syntax"},
		{"a word", []byte("receipt"), "refuted 0/1/0; input syntax"},
		{"null", []byte("null"), "refuted 0/1/0; input not_object"},
	} {
		expect(t, c.name, verify(t, c.in, stream.Options{}), c.want)
		got := verify(t, c.in, stream.Options{}) // the result must not depend on how many bytes Read returns
		slow := collect(stream.Verify(t.Context(), integrity(t), &trickle{c.in, 0}, stream.Options{Jobs: 1}))
		expect(t, c.name+", slowly", slow, got.String())
	}
}

// A trickle is a reader that returns a few bytes at a time, and sometimes none.
type trickle struct {
	left []byte
	n    int
}

func (r *trickle) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		return 0, io.EOF
	}
	r.n = (r.n*7 + 3) % 11
	n := copy(p, r.left[:min(r.n%4, len(r.left))])
	r.left = r.left[n:]
	return n, nil
}

// TestKindGiven verifies that a kind that the caller specifies is used without detection.
func TestKindGiven(t *testing.T) {
	l := newWriter(t, "a").many(3)
	for _, c := range []struct {
		name string
		kind stream.Kind
		in   []byte
		want string
	}{
		{"lines as JSON", stream.JSON, jsonl(l...), "refuted 0/1/0; input trailing_data"},
		{"pretty as lines", stream.Lines, []byte("{\n\"a\":1}\n"), "refuted 0/2/0; input:1 syntax; input:2 trailing_data"},
		{"JSON as CBOR", stream.CBOR, l[0], "refuted 0/1/0; input size_limit"},
		{"CBOR as JSON", stream.JSON, cborOf(t, l[0]), "refuted 0/1/0; input syntax"},
		{"sequence as CBOR", stream.CBOR, cborOf(t, l...), "refuted 0/1/0; input trailing_data"},
		{"sequence", stream.Sequence, cborOf(t, l...), "verified 3/0/0; a 3"},
		{"one item as CBOR", stream.CBOR, cborOf(t, l[0]), "verified 1/0/0; input open; a 1"},
		{"array as lines", stream.Lines, text("[", l[0], "]"), "refuted 0/1/0; input not_object"},
		{"array as JSON", stream.JSON, text("[", join(",", l...), "]"), "verified 3/0/0; a 3"},
		{"empty as CBOR", stream.CBOR, nil, "undecided 0/0/0; error"},
		{"empty as a sequence", stream.Sequence, nil, "undecided 0/0/0; error"},
		{"empty as lines", stream.Lines, nil, "undecided 0/0/0; error"},
	} {
		expect(t, c.name, verifyOnly(t, c.in, "input", c.kind, stream.Options{}), c.want)
	}
	for _, c := range []struct{ name, want string }{
		{"x.cbor", "refuted 0/1/0; x.cbor trailing_data"},
		{"x.CBOR.gz", "refuted 0/1/0; x.CBOR.gz trailing_data"},
		{"x.cborseq", "verified 3/0/0; a 3"},
		{"x", "verified 3/0/0; a 3"},
	} {
		expect(t, c.name, verifyOnly(t, cborOf(t, l...), c.name, stream.Sniffed, stream.Options{}), c.want)
	}
	for k := stream.Sniffed; k <= stream.Sequence; k++ {
		if again, err := stream.ParseKind(k.String()); err != nil || again != k {
			t.Errorf("ParseKind(%q) = %v, %v", k.String(), again, err)
		}
	}
	if _, err := stream.ParseKind("xml"); err == nil {
		t.Error("ParseKind accepts xml")
	}
	if got := stream.Kind(9).String(); got != "kind(9)" {
		t.Errorf("Kind(9) is %s", got)
	}
}

// TestIncomplete verifies that an input without receipts leads to an error, and that the error
// states this.
func TestIncomplete(t *testing.T) {
	for _, in := range []string{"", "\n \n", "[]", `{"object":"list","data":[]}`} {
		r := verify(t, []byte(in), stream.Options{})
		var incomplete *stream.IncompleteError
		if !errors.As(r.err, &incomplete) || len(incomplete.Notices) != 1 || !strings.Contains(incomplete.Notices[0].Detail, "no receipt") {
			t.Errorf("%q: %v", in, r.err)
		}
		if r.summary.Complete || r.summary.Inputs.Files != 1 || len(r.summary.Inputs.Unreadable) != 1 {
			t.Errorf("%q: %+v", in, r.summary)
		}
	}
	r := verifyFiles(t, stream.Options{})
	if r.err == nil || r.summary.Complete {
		t.Errorf("no input at all: %v", r)
	}
}

// spaces returns a reader for n spaces.
func spaces(n int) io.Reader {
	const piece = 1 << 20
	return io.LimitReader(repeat(bytes.Repeat([]byte(" "), piece), int64(n/piece+1)), int64(n))
}

// parts returns a reader that concatenates strings and readers.
func parts(list ...any) io.Reader {
	var all []io.Reader
	for _, p := range list {
		switch p := p.(type) {
		case string:
			all = append(all, strings.NewReader(p))
		case []byte:
			all = append(all, bytes.NewReader(p))
		case io.Reader:
			all = append(all, p)
		}
	}
	return io.MultiReader(all...)
}

// TestLongLines verifies that a line may be as long as the longest receipt, and that only longer
// lines are rejected.
func TestLongLines(t *testing.T) {
	w := newWriter(t, "a")
	l := w.many(3)
	for _, n := range []int{64<<10 - 1, 64 << 10, 70 << 10, 256<<10 - 1, 256 << 10, 256<<10 + 1, 300 << 10, 1<<20 - 1, 1 << 20, 1<<20 + 1, 16 << 20} {
		for i := range l {
			in := jsonl(with(l, i, padded(l[i], n))...)
			expect(t, fmt.Sprintf("line %d of %d bytes", i+1, n), verify(t, in, stream.Options{}), "verified 3/0/0; a 3")
			if n > 300<<10 {
				break
			}
		}
	}
	if testing.Short() || raceEnabled {
		return
	}
	read := func(in io.Reader, o stream.Options) result {
		return collect(stream.Verify(t.Context(), integrity(t), in, o))
	}
	long := func(n int) io.Reader { return parts(l[1][:len(l[1])-1], spaces(n-len(l[1])), "}") }
	for _, n := range []int{16<<20 + 1, 17 << 20, 100 << 20} {
		tell := func(where, want string, in ...any) {
			t.Helper()
			expect(t, fmt.Sprintf("%s of %d bytes", where, n), read(parts(in...), stream.Options{}), want)
		}
		tell("a middle line", "refuted 2/1/0; input:2 size_limit; input:3 open; a 2", l[0], "\n", long(n), "\n", l[2])
		if n > 16<<20+1 && !testsize.Full() {
			continue
		}
		tell("a first line", "refuted 1/1/0; input:1 size_limit; input:2 open; a 1", long(n), "\n", l[2], "\n")
		tell("a last line", "refuted 1/1/0; input:2 size_limit; a 1", l[0], "\n", long(n))
		tell("one line", "refuted 0/1/0; input size_limit", long(n))
		tell("one document", "refuted 0/1/0; input size_limit", "{\n", l[1][1:len(l[1])-1], spaces(n-len(l[1])), "}")
		tell("an element", "refuted 1/1/0; input:2 size_limit; a 1", "[", l[0], ",", long(n), "]")
	}
	const document = receipt.MaxBytes + stream.MaxWrapping
	for _, kind := range []stream.Kind{stream.Sniffed, stream.JSON, stream.Lines} {
		read := func(in io.Reader) result {
			return collect(stream.VerifyFiles(t.Context(), integrity(t), []stream.Source{from("input", kind, in)}, stream.Options{}))
		}
		expect(t, "a document's space", read(spaces(document)), "undecided 0/0/0; error")
		expect(t, "more space", read(spaces(document+1)), "refuted 0/1/0; input size_limit")
		expect(t, "space before a receipt", read(parts(spaces(2*document), l[0])), "refuted 0/1/0; input size_limit")
	}
	expect(t, "10 MB of [", verify(t, bytes.Repeat([]byte("["), 10<<20), stream.Options{}), "refuted 0/1/0; input:1 depth_limit")
	expect(t, "10 MB of { in an array", verify(t, text("[", l[0], ",", bytes.Repeat([]byte("{"), 10<<20)), stream.Options{}), "refuted 1/1/0; input:2 syntax; a 1")
}

// TestTornElement verifies that an element at the end of an incomplete array is undecided only if
// further bytes can complete it.
func TestTornElement(t *testing.T) {
	l := newWriter(t, "a").many(1)
	for element, want := range map[string]string{
		`{"schema":"rec`:    "undecided 1/0/1; input:2 torn_tail; a 1",
		"{\"a\":\"\xe2\x82": "undecided 1/0/1; input:2 torn_tail; a 1",
		"1":                 "undecided 1/0/1; input:2 torn_tail; a 1",
		"\xb1dcost":         "refuted 1/1/0; input:2 syntax; a 1",
		"{\"a\":\"\xb1":     "refuted 1/1/0; input:2 invalid_utf8; a 1",
		`{"a" 1`:            "refuted 1/1/0; input:2 syntax; a 1",
	} {
		expect(t, element, verify(t, text("[", l[0], ",", element), stream.Options{}), want)
	}
}

// TestFaultDigest verifies that the report on a piece without bytes contains no digest of them.
func TestFaultDigest(t *testing.T) {
	for text, want := range map[string]bool{"[": false, "[1,": false, "{\"a\":1}\n{\"a\":1": true} {
		digest := false
		for rep := range stream.Verify(t.Context(), integrity(t), strings.NewReader(text), stream.Options{}).Reports() {
			if rep.Finding().Code == receipt.CodeTornTail {
				digest = !rep.InputSHA256.IsZero()
			}
		}
		if digest != want {
			t.Errorf("%s: digest %t", text, digest)
		}
	}
}

// TestItemDigest verifies that a report contains the digest of the received bytes, such as an
// archived receipt, unless the policy excludes it.
func TestItemDigest(t *testing.T) {
	doc, err := canon.Parse(newWriter(t, "a").many(1)[0])
	if err != nil {
		t.Fatal(err)
	}
	item, err := archive.NewCodec().Append(nil, doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, without := range []bool{false, true} {
		v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, NoInputDigest: without})
		if err != nil {
			t.Fatal(err)
		}
		for _, input := range [][]byte{item, doc.Source()} {
			want := canon.Sum(input)
			if without {
				want = canon.Digest{}
			}
			for rep := range stream.Verify(t.Context(), v, bytes.NewReader(input), stream.Options{}).Reports() {
				if rep.Verdict != receipt.Verified || rep.InputSHA256 != want {
					t.Errorf("without %t: %v, %v, expected %v", without, rep.Verdict, rep.InputSHA256, want)
				}
			}
		}
		for rep := range stream.Verify(t.Context(), v, strings.NewReader("{}\n{\"a\":1"), stream.Options{}).Reports() {
			if rep.Finding().Code == receipt.CodeTornTail && rep.InputSHA256.IsZero() != without {
				t.Errorf("without %t: %v", without, rep.InputSHA256)
			}
		}
	}
}

// TestLogs verifies that a log is not treated as a stream of receipts, even if its first event
// contains a task's budget. If an envelope has all member names of an event, the receipt in it must
// still be treated as a receipt.
func TestLogs(t *testing.T) {
	const submitted = `{"id":"1","object":"event","event":"task.submitted","sequence":1,"resource":{"object":"task","id":"t"},"payload":{"autonomy_budget":{"usd":1}}}`
	for _, tail := range []string{"", "\n", "\n" + strings.Replace(submitted, "submitted", "started", 1) + "\n"} {
		r := collect(stream.Verify(t.Context(), integrity(t), strings.NewReader(submitted+tail), stream.Options{}))
		if r.err == nil || r.err.Error() != `stream: "input": contains no receipts: it is a log of events` {
			t.Errorf("a log and %q: %v, expected a log of events", tail, r.err)
		}
	}

	l := newWriter(t, "a").many(1)
	in := text(`{"id":"1","event":"receipt.issued","sequence":1,"resource":{},"wire":{"payload":`, l[0], `}}`)
	if r := collect(stream.Verify(t.Context(), integrity(t), bytes.NewReader(in), stream.Options{})); r.err != nil || r.summary.Verified != 1 {
		t.Errorf("a receipt in an event: %v, %v", r.err, r.lines)
	}
}
