package canon

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

func readFile(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func readJSON(tb testing.TB, path string, v any) {
	tb.Helper()
	if err := json.Unmarshal(readFile(tb, path), v); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
}

// refused fails unless src is rejected with the given code, and returns the error.
func refused(tb testing.TB, src []byte, want Code) *SyntaxError {
	tb.Helper()
	out, err := Transform(src)
	if err == nil {
		tb.Fatalf("%.80q: accepted as %.80q, want %s", src, out, want)
	}
	e, ok := err.(*SyntaxError)
	if !ok {
		tb.Fatalf("%.80q: the error is a %T, want a *SyntaxError", src, err)
	}
	if out != nil {
		tb.Errorf("%.80q: a value came with the error", src)
	}
	if e.Code != want {
		tb.Errorf("%.80q: code %s, want %s: %v", src, e.Code, want, e)
	}
	return e
}

// accepted fails unless the canonical form of src is want.
func accepted(tb testing.TB, src []byte, want string) {
	tb.Helper()
	out, err := Transform(src)
	if err != nil {
		tb.Fatalf("%.80q: %v", src, err)
	}
	if string(out) != want {
		tb.Errorf("%.80q:\n got %.200q\nwant %.200q", src, out, want)
	}
}

// TestVectorsJCS verifies the vectors from the RFC's author and from the Go reference
// implementation: the input, the expected output, and the output in hexadecimal.
func TestVectorsJCS(t *testing.T) {
	for folder, counts := range map[string]struct{ inputs, hexes int }{
		"jcs-cyberphone": {6, 6},
		"jcs-gowebpki":   {10, 9},
	} {
		dir := vectors.Dir(t, folder)
		hexes := 0
		for _, input := range vectors.Files(t, counts.inputs, filepath.Join(dir, "input"), "*.json") {
			name := filepath.Base(input)
			t.Run(folder+"/"+name, func(t *testing.T) {
				want := bytes.TrimSuffix(readFile(t, filepath.Join(dir, "output", name)), []byte("\n"))
				accepted(t, readFile(t, input), string(want))

				digits, err := os.ReadFile(filepath.Join(dir, "outhex", strings.TrimSuffix(name, ".json")+".txt"))
				if err != nil {
					return
				}
				hexes++
				want, err = hex.DecodeString(strings.Join(strings.Fields(string(digits)), ""))
				if err != nil {
					t.Fatal(err)
				}
				accepted(t, readFile(t, input), string(want))
			})
		}
		if hexes < counts.hexes {
			t.Errorf("%s: read %d hexadecimal files, want at least %d", folder, hexes, counts.hexes)
		}
	}
}

// TestVectorsAppendixB verifies the numbers in RFC 8785 appendix B (reliability #27).
func TestVectorsAppendixB(t *testing.T) {
	var rows []struct {
		IEEE754  string  `json:"ieee754"`
		Expected *string `json:"expected"`
	}
	readJSON(t, filepath.Join(vectors.Dir(t, "jcs-rfc8785"), "appendix-b-numbers.json"), &rows)
	if len(rows) < 25 {
		t.Fatalf("read %d rows, want at least 25", len(rows))
	}
	for _, row := range rows {
		bits, err := strconv.ParseUint(row.IEEE754, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		f := math.Float64frombits(bits)
		got := string(AppendFloat(nil, f))
		if row.Expected == nil { // JSON cannot represent NaN and infinities
			if json.Valid([]byte(got)) {
				t.Errorf("%s is written as JSON: %s", row.IEEE754, got)
			}
			continue
		}
		if got != *row.Expected {
			t.Errorf("%s = %s, want %s", row.IEEE754, got, *row.Expected)
		}
		accepted(t, []byte(got), got)
		accepted(t, []byte(strconv.FormatFloat(f, 'e', 25, 64)), got)
	}
}

func TestVectorsES6File(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(string(readFile(t, filepath.Join(vectors.Dir(t, "jcs-cyberphone"), "es6testfile-10k.txt"))), "\n"), "\n")
	if len(lines) != 10_000 {
		t.Fatalf("read %d lines, want 10000", len(lines))
	}
	for i, line := range lines {
		digits, want, _ := strings.Cut(line, ",")
		bits, err := strconv.ParseUint(digits, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(AppendFloat(nil, math.Float64frombits(bits))); got != want {
			t.Errorf("line %d: %s = %s, want %s", i+1, digits, got, want)
		}
		accepted(t, []byte(want), want)
	}
}

// TestVectorsES6Generator verifies generated lines of the ES6 number file (reliability #28): the
// first 1,000,000 at full size, the first 10,000 with -short, and the first 100,000 otherwise.
func TestVectorsES6Generator(t *testing.T) {
	var facts struct {
		Static []string `json:"static_u64_hex"`
		Serial struct {
			Start string
			Count int
		}
		Checkpoints []struct {
			Lines, Bytes int64
			SHA256       string
		}
	}
	readJSON(t, filepath.Join(vectors.Dir(t, "jcs-cyberphone"), "es6-generator-facts.json"), &facts)
	most, want := int64(100_000), 3 // checkpoints
	switch {
	case testing.Short():
		most, want = 10_000, 2
	case testsize.Full():
		most, want = 1_000_000, 4
	}
	sum, checked := sha256.New(), 0
	size, lines := int64(0), int64(0)
	var line []byte
	add := func(bits uint64) {
		if lines == most {
			return
		}
		line = append(strconv.AppendUint(line[:0], bits, 16), ',')
		line = append(AppendFloat(line, math.Float64frombits(bits)), '\n')
		sum.Write(line)
		size += int64(len(line))
		lines++
		for _, c := range facts.Checkpoints {
			if c.Lines != lines {
				continue
			}
			checked++
			if got := hex.EncodeToString(sum.Sum(nil)); got != c.SHA256 || size != c.Bytes {
				t.Errorf("%d lines: %d bytes with SHA-256 %s, want %d with %s", lines, size, got, c.Bytes, c.SHA256)
			}
		}
	}

	for _, s := range facts.Static {
		bits, err := strconv.ParseUint(s, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		add(bits)
	}
	start, err := strconv.ParseUint(facts.Serial.Start, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	for i := range facts.Serial.Count {
		add(start + uint64(i))
	}
	for block := [32]byte{}; lines < most; block = sha256.Sum256(block[:]) {
		for i := 0; i < len(block); i += 8 {
			bits := binary.LittleEndian.Uint64(block[i:])
			if f := math.Float64frombits(bits); f != 0 && !math.IsNaN(f) && !math.IsInf(f, 0) {
				add(bits)
			}
		}
	}
	if checked != want {
		t.Errorf("compared %d checkpoints, want %d", checked, want)
	}
}

// These are the cases for which the JSON Parsing Test Suite allows either result (reliability #47),
// each with its canonical form or error code.
var nstImplementation = map[string]any{
	"i_number_double_huge_neg_exp.json":   "[0]",
	"i_number_real_underflow.json":        "[0]",
	"i_number_too_big_neg_int.json":       "[-1.2312312312312312e+29]",
	"i_number_too_big_pos_int.json":       "[100000000000000000000]",
	"i_number_very_big_negative_int.json": "[-2.374623746732769e+47]",
	"i_structure_500_nested_arrays.json":  strings.Repeat("[", 500) + strings.Repeat("]", 500),

	"i_number_huge_exp.json":            codeNumberRange,
	"i_number_neg_int_huge_exp.json":    codeNumberRange,
	"i_number_pos_double_huge_exp.json": codeNumberRange,
	"i_number_real_neg_overflow.json":   codeNumberRange,
	"i_number_real_pos_overflow.json":   codeNumberRange,

	"i_object_key_lone_2nd_surrogate.json":                codeLoneSurrogate,
	"i_string_1st_surrogate_but_2nd_missing.json":         codeLoneSurrogate,
	"i_string_1st_valid_surrogate_2nd_invalid.json":       codeLoneSurrogate,
	"i_string_incomplete_surrogate_and_escape_valid.json": codeLoneSurrogate,
	"i_string_incomplete_surrogate_pair.json":             codeLoneSurrogate,
	"i_string_incomplete_surrogates_escape_valid.json":    codeLoneSurrogate,
	"i_string_invalid_lonely_surrogate.json":              codeLoneSurrogate,
	"i_string_invalid_surrogate.json":                     codeLoneSurrogate,
	"i_string_inverted_surrogates_U+1D11E.json":           codeLoneSurrogate,
	"i_string_lone_second_surrogate.json":                 codeLoneSurrogate,

	"i_string_UTF-8_invalid_sequence.json":         codeInvalidUTF8,
	"i_string_UTF8_surrogate_U+D800.json":          codeInvalidUTF8,
	"i_string_invalid_utf-8.json":                  codeInvalidUTF8,
	"i_string_iso_latin_1.json":                    codeInvalidUTF8,
	"i_string_lone_utf8_continuation_byte.json":    codeInvalidUTF8,
	"i_string_not_in_unicode_range.json":           codeInvalidUTF8,
	"i_string_overlong_sequence_2_bytes.json":      codeInvalidUTF8,
	"i_string_overlong_sequence_6_bytes.json":      codeInvalidUTF8,
	"i_string_overlong_sequence_6_bytes_null.json": codeInvalidUTF8,
	"i_string_truncated-utf-8.json":                codeInvalidUTF8,

	"i_string_UTF-16LE_with_BOM.json":         CodeSyntax,
	"i_string_utf16BE_no_BOM.json":            CodeSyntax,
	"i_string_utf16LE_no_BOM.json":            CodeSyntax,
	"i_structure_UTF-8_BOM_empty_object.json": CodeSyntax,
}

func TestVectorsNSTParsing(t *testing.T) {
	dir := filepath.Join(vectors.Dir(t, "json-nst"), "test_parsing")
	for _, file := range vectors.Files(t, 188, dir, "n_*.json") {
		if out, err := Transform(readFile(t, file)); err == nil || out != nil {
			t.Errorf("%s: accepted as %.80q", filepath.Base(file), out)
		}
	}
	duplicates := 0
	for _, file := range vectors.Files(t, 95, dir, "y_*.json") {
		src := readFile(t, file)
		if name := filepath.Base(file); name == "y_object_duplicated_key.json" || name == "y_object_duplicated_key_and_value.json" {
			refused(t, src, codeDuplicateName)
			duplicates++
			continue
		}
		out, err := Transform(src)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		}
		if want, err := Reference(src); err != nil || !bytes.Equal(out, want) {
			t.Errorf("%s: got %q, the reference gives %q, %v", filepath.Base(file), out, want, err)
		}
	}
	if duplicates != 2 {
		t.Errorf("met %d files of duplicate names, want 2", duplicates)
	}
	files := vectors.Files(t, 35, dir, "i_*.json")
	if len(files) != len(nstImplementation) {
		t.Errorf("found %d files i_*, want %d", len(files), len(nstImplementation))
	}
	for _, file := range files {
		switch want := nstImplementation[filepath.Base(file)].(type) {
		case string:
			accepted(t, readFile(t, file), want)
		case Code:
			refused(t, readFile(t, file), want)
		default:
			t.Errorf("%s: nothing is known of this file", filepath.Base(file))
		}
	}
}

// TestVectorsNSTTransform verifies the handling of files that other parsers silently change
// (reliability #48). A lossy integer is rounded as RFC 8785 requires, and is also reported.
func TestVectorsNSTTransform(t *testing.T) {
	const nfc, nfd = "\u00e9", "e\u0301"
	cases := map[string]any{
		"number_-9223372036854775808.json":         "[-9223372036854776000]",
		"number_-9223372036854775809.json":         "[-9223372036854776000]",
		"number_1.0.json":                          "[1]",
		"number_1.000000000000000005.json":         "[1]",
		"number_1000000000000000.json":             "[1000000000000000]",
		"number_10000000000000000999.json":         "[10000000000000000000]",
		"number_1e-999.json":                       "[0]",
		"number_1e6.json":                          "[1000000]",
		"number_9223372036854775807.json":          "[9223372036854776000]",
		"number_9223372036854775808.json":          "[9223372036854776000]",
		"object_key_nfc_nfd.json":                  `{"` + nfd + `":"NFD","` + nfc + `":"NFC"}`,
		"object_key_nfd_nfc.json":                  `{"` + nfd + `":"NFD","` + nfc + `":"NFC"}`,
		"object_same_key_different_values.json":    codeDuplicateName,
		"object_same_key_same_value.json":          codeDuplicateName,
		"object_same_key_unclear_values.json":      codeDuplicateName,
		"string_1_escaped_invalid_codepoint.json":  codeLoneSurrogate,
		"string_1_invalid_codepoint.json":          codeInvalidUTF8,
		"string_2_escaped_invalid_codepoints.json": codeLoneSurrogate,
		"string_2_invalid_codepoints.json":         codeInvalidUTF8,
		"string_3_escaped_invalid_codepoints.json": codeLoneSurrogate,
		"string_3_invalid_codepoints.json":         codeInvalidUTF8,
		"string_with_escaped_NULL.json":            `["A\u0000B"]`,
	}
	lossy := 0
	files := vectors.Files(t, len(cases), filepath.Join(vectors.Dir(t, "json-nst"), "test_transform"), "*.json")
	for _, file := range files {
		name, src := filepath.Base(file), readFile(t, file)
		switch want := cases[name].(type) {
		case string:
			accepted(t, src, want)
			d, err := Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			if _, is := d.LossyInteger(); is {
				lossy++
			}
		case Code:
			refused(t, src, want)
		default:
			t.Errorf("%s: nothing is known of this file", name)
		}
	}
	if lossy != 5 {
		t.Errorf("reported %d lossy integers, want 5", lossy)
	}
}

// TestVectorsNumbers verifies that decimal strings are converted to doubles with the correct bits
// (reliability #50).
func TestVectorsNumbers(t *testing.T) {
	dir := vectors.Dir(t, "numbers-parse-fxx")
	finite, infinite, other := 0, 0, 0
	for _, file := range vectors.Files(t, 3, dir, "*.txt") {
		for line := range strings.Lines(string(readFile(t, file))) {
			fields := strings.Fields(line)
			if len(fields) != 4 {
				t.Fatalf("%s: %.80q", filepath.Base(file), line)
			}
			bits, err := strconv.ParseUint(fields[2], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			text := []byte(fields[3])
			want := math.Float64frombits(bits)
			switch {
			case !json.Valid(text): // these spellings are invalid: .5, 1., +1, nan
				refused(t, text, CodeSyntax)
				other++
			case math.IsInf(want, 0):
				refused(t, text, codeNumberRange)
				infinite++
			default:
				checkNumber(t, text, want)
				finite++
			}
		}
	}
	if finite < 6000 || infinite < 100 || other < 10 {
		t.Errorf("read %d finite, %d infinite and %d other rows", finite, infinite, other)
	}
}

// checkNumber fails unless both text and its canonical form have the value want, and the canonical
// form does not change when it is transformed again. The only exception is -0, which becomes 0.
func checkNumber(t *testing.T, text []byte, want float64) {
	t.Helper()
	d, err := Parse(text)
	if err != nil {
		t.Errorf("%.80s: %v", text, err)
		return
	}
	if got := d.Root().Float(); math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("%.80s: value %x, want %x", text, got, want)
	}
	out := string(d.AppendCanonical(nil))
	back, err := strconv.ParseFloat(out, 64)
	if err != nil || math.Float64bits(back) != math.Float64bits(want+0) {
		t.Errorf("%.80s: written %s, which is %x, %v, want %x", text, out, back, err, want)
	}
	accepted(t, []byte(out), out)
}

// TestVectorsPointers verifies that the pointers in the JSON Patch tests find the expected values.
func TestVectorsPointers(t *testing.T) {
	dir := vectors.Dir(t, "json-patch-tests")
	found, missing, parsed := 0, 0, 0
	for _, file := range vectors.Files(t, 2, dir, "*.json") {
		var cases []struct {
			Comment string
			Doc     json.RawMessage
			Patch   []struct {
				Op, Path, From string
				Value          json.RawMessage
			}
			Error    string
			Disabled bool
		}
		readJSON(t, file, &cases)
		for _, c := range cases {
			ops := []string{}
			for _, op := range c.Patch {
				for _, text := range []string{op.Path, op.From} {
					if p, err := ParsePointer(text); err == nil {
						parsed++
						if p.String() != text {
							t.Errorf("%s: %q became %q", c.Comment, text, p.String())
						}
					}
				}
				ops = append(ops, op.Op)
			}
			// Only test operations leave the document unchanged.
			if len(ops) == 0 || strings.Trim(strings.Join(ops, ""), "tes") != "" {
				continue
			}
			d, err := Parse(c.Doc)
			if err != nil {
				t.Errorf("%s: %v", c.Comment, err)
				continue
			}
			for _, op := range c.Patch {
				p, err := ParsePointer(op.Path)
				if err != nil {
					t.Errorf("%s: %v", c.Comment, err)
					continue
				}
				n, ok := d.Find(p)
				if c.Error == "" {
					want, err := Transform(op.Value)
					if err != nil {
						t.Fatal(err)
					}
					if got := n.AppendCanonical(nil); !ok || !bytes.Equal(got, want) {
						t.Errorf("%s: %q finds %s, want %s", c.Comment, op.Path, got, want)
					}
					if n.Pointer() != op.Path {
						t.Errorf("%s: the value at %q reports the pointer %q", c.Comment, op.Path, n.Pointer())
					}
					found++
				} else if !ok {
					missing++
				}
			}
		}
	}
	if found < 20 || missing < 3 || parsed < 100 {
		t.Errorf("%d pointers found a value, %d found none, %d were parsed", found, missing, parsed)
	}
}
