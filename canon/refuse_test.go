package canon

import (
	"fmt"
	"strings"
	"testing"
)

// These are rejected inputs, grouped by reliability number.
var refusals = []struct {
	number int
	src    string
	code   Code
}{
	{1, `{"a":1,"a":1}`, codeDuplicateName},
	{2, `{"a":1,"a":2}`, codeDuplicateName},
	{2, `{"b":1,"a":1,"b":2}`, codeDuplicateName},
	{2, `{"":1,"":2}`, codeDuplicateName},
	{3, `{"a":1,"\u0061":2}`, codeDuplicateName},
	{4, `{"😀":1,"\ud83d\ude00":2}`, codeDuplicateName},
	{5, strings.Repeat(`{"a":`, 49) + `{"b":1,"c":[{"d":0,"d":0}]}` + strings.Repeat(`}`, 49), codeDuplicateName},
	{12, `"\ud800"`, codeLoneSurrogate},
	{12, `"\uD800"`, codeLoneSurrogate},
	{12, `"\ud800x"`, codeLoneSurrogate},
	{13, `"\udc00"`, codeLoneSurrogate},
	{13, `"\ude00\ud83d"`, codeLoneSurrogate},
	{13, `"\ud800\u0041"`, codeLoneSurrogate},
	{13, `"\ud800\ud800\udc00"`, codeLoneSurrogate},
	{13, `"\ud800\n"`, codeLoneSurrogate},
	{14, `{"\ud800":1}`, codeLoneSurrogate},
	{14, `{"a":{"\udfff":1}}`, codeLoneSurrogate},
	{15, "\"\xff\"", codeInvalidUTF8},
	{15, "\"\xc0\x80\"", codeInvalidUTF8},
	{15, "\"\xed\xa0\x80\"", codeInvalidUTF8},
	{15, "\"\xed\xa0\xbd\xed\xb8\x80\"", codeInvalidUTF8},
	{15, "\"\xf4\x90\x80\x80\"", codeInvalidUTF8},
	{15, "\"\xe2\x82\"", codeInvalidUTF8},
	{15, "\"\xe2\x82", codeInvalidUTF8},
	{15, "\"\x80\"", codeInvalidUTF8},
	{15, "\"\\n\xff\"", codeInvalidUTF8},
	{15, "{\"\xff\":1}", codeInvalidUTF8},
	{16, "\ufeff{}", CodeSyntax},
	{16, "{}\ufeff", codeTrailingData},
	{17, "\xff\xfe{\x00}\x00", CodeSyntax},
	{17, "\xfe\xff\x00{\x00}", CodeSyntax},
	{17, "{\x00}\x00", CodeSyntax},
	{17, "\x00{\x00}", CodeSyntax},
	{25, `1E400`, codeNumberRange},
	{25, `1e999`, codeNumberRange},
	{25, `-1e999`, codeNumberRange},
	{25, `1.7976931348623159e308`, codeNumberRange},
	{25, `[{"a":-1.8e308}]`, codeNumberRange},
	{31, strings.Repeat("9", 310), codeNumberRange},
	{33, `NaN`, CodeSyntax},
	{33, `Infinity`, CodeSyntax},
	{33, `-Infinity`, CodeSyntax},
	{33, `0x10`, codeTrailingData},
	{33, `[0x10]`, CodeSyntax},
	{33, `+1`, CodeSyntax},
	{33, `.5`, CodeSyntax},
	{33, `-.5`, CodeSyntax},
	{33, `1.`, CodeSyntax},
	{33, `1.e5`, CodeSyntax},
	{33, `01`, CodeSyntax},
	{33, `-01`, CodeSyntax},
	{33, `00`, CodeSyntax},
	{33, `1e`, CodeSyntax},
	{33, `1e+`, CodeSyntax},
	{33, `-`, CodeSyntax},
	{33, `--1`, CodeSyntax},
	{33, `1_000`, codeTrailingData},
	{33, `1e5.5`, codeTrailingData},
	{33, "\u0661", CodeSyntax},
	{34, `{"a":1,}`, CodeSyntax},
	{34, `[1,]`, CodeSyntax},
	{34, `[,1]`, CodeSyntax},
	{34, `[1,,2]`, CodeSyntax},
	{34, `{,}`, CodeSyntax},
	{34, `/* c */ {}`, CodeSyntax},
	{34, "// c\n{}", CodeSyntax},
	{34, `{} // c`, codeTrailingData},
	{34, `{"a":/**/1}`, CodeSyntax},
	{34, `{'a':1}`, CodeSyntax},
	{34, `['a']`, CodeSyntax},
	{34, `{a:1}`, CodeSyntax},
	{34, `{1:1}`, CodeSyntax},
	{34, `{null:1}`, CodeSyntax},
	{34, `{"a"}`, CodeSyntax},
	{34, `{"a":}`, CodeSyntax},
	{34, `{"a":1 "b":2}`, CodeSyntax},
	{34, `{"a":1:2}`, CodeSyntax},
	{34, `{"a",1}`, CodeSyntax},
	{34, `[1 2]`, CodeSyntax},
	{34, `[1:2]`, CodeSyntax},
	{34, `[1}`, CodeSyntax},
	{34, `{"a":1]`, CodeSyntax},
	{34, `]`, CodeSyntax},
	{34, `True`, CodeSyntax},
	{34, `nul`, CodeSyntax},
	{34, `truE`, CodeSyntax},
	{34, `undefined`, CodeSyntax},
	{34, `"\x41"`, CodeSyntax},
	{34, `"\'"`, CodeSyntax},
	{34, `"\U0041"`, CodeSyntax},
	{34, `"\u004"`, CodeSyntax},
	{34, `"\u00g0"`, CodeSyntax},
	{34, `"\u+123"`, CodeSyntax},
	{34, `"`, CodeSyntax},
	{34, `"\`, CodeSyntax},
	{34, `"a`, CodeSyntax},
	{34, `[`, CodeSyntax},
	{34, `[1`, CodeSyntax},
	{34, `{`, CodeSyntax},
	{34, `{"a"`, CodeSyntax},
	{34, `{"a":`, CodeSyntax},
	{34, `{"a":1`, CodeSyntax},
	{34, `{"a":1,`, CodeSyntax},
	{35, `{} x`, codeTrailingData},
	{35, `{}{}`, codeTrailingData},
	{35, "{}\x00", codeTrailingData},
	{35, `[1]]`, codeTrailingData},
	{35, `1 2`, codeTrailingData},
	{35, `{},`, codeTrailingData},
	{35, `nulll`, codeTrailingData},
	{35, `""""`, codeTrailingData},
	{36, "\u00a0{}", CodeSyntax},
	{36, "{}\u00a0", codeTrailingData},
	{36, "{}\f", codeTrailingData},
	{36, "[\f1]", CodeSyntax},
	{36, "[\v]", CodeSyntax},
	{36, "[\u2028]", CodeSyntax},
	{37, "", codeEmptyInput},
	{37, " \r\n\t ", codeEmptyInput},
}

func TestRefused(t *testing.T) {
	numbers := map[int]bool{}
	for _, test := range refusals {
		numbers[test.number] = true
		refused(t, []byte(test.src), test.code)
	}
	if len(numbers) < 16 {
		t.Errorf("tested %d numbers of the list, want at least 16", len(numbers))
	}
}

// TestRefusedControlCharacters verifies that an unescaped control character is rejected
// (reliability #18) at every position in the eight bytes that are checked together.
func TestRefusedControlCharacters(t *testing.T) {
	for c := range 0x20 {
		for before := range 17 {
			src := `"` + strings.Repeat("x", before) + string(rune(c)) + `yyyyyyyyyyyyyyyyy"`
			if e := refused(t, []byte(src), CodeSyntax); e.Offset != before+1 {
				t.Errorf("%q: offset %d, want %d", src, e.Offset, before+1)
			}
		}
	}
}

// TestRefusedBytes verifies the offsets that are reported for invalid UTF-8, quotation marks, and
// backslashes.
func TestRefusedBytes(t *testing.T) {
	for c := 0x80; c < 0x100; c++ {
		for before := range 17 {
			src := `"` + strings.Repeat("x", before) + string([]byte{byte(c)}) + `yyyyyyyyyyyyyyyyy"`
			if e := refused(t, []byte(src), codeInvalidUTF8); e.Offset != before+1 {
				t.Errorf("%q: offset %d, want %d", src, e.Offset, before+1)
			}
		}
	}
	for before := range 17 {
		x := strings.Repeat("x", before)
		accepted(t, []byte(`["`+x+`","`+x+`\\yyyyyyyyy","`+x+`é","`+x+"\u007fz"+`"]`), `["`+x+`","`+x+`\\yyyyyyyyy","`+x+`é","`+x+"\u007fz"+`"]`)
	}
}

// TestErrorText verifies the exact text of errors, because people read it and scripts compare it.
func TestErrorText(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+1)
	for _, test := range []struct{ src, want string }{
		{"", `line 1, column 1 (offset 0): expected a JSON value, found nothing`},
		{" \n", `line 2, column 1 (offset 2): expected a JSON value, found nothing`},
		{`{"a":[1,{"b":tru}]}`, `line 1, column 17 (offset 16, at "/a/1/b"): expected true, found '}'`},
		{"{\n  \"a\": 1,\n  \"b\": x\n}", `line 3, column 8 (offset 19, at "/b"): expected a value, found 'x'`},
		{`{"a":1,"a":2}`, `line 1, column 8 (offset 7, at "/a"): duplicate member name "a"`},
		{`{"a":[0,{"x":1,"\u0078":2}]}`, `line 1, column 16 (offset 15, at "/a/1/x"): duplicate member name "x"`},
		{`{"a/b":{"m~n":["\ud800"]}}`, `line 1, column 17 (offset 16, at "/a~1b/m~0n/0"): expected a surrogate pair, found \ud800 alone`},
		{"[\"\xff\"]", `line 1, column 3 (offset 2, at "/0"): expected UTF-8, found the byte 0xff`},
		{"[\ufffd]", `line 1, column 2 (offset 1, at "/0"): expected a value, found '�'`},
		{`[1e999]`, `line 1, column 2 (offset 1, at "/0"): expected a number within ±1.7976931348623157e308, found a number of 5 characters`},
		{"[\"a\nb\"]", `line 1, column 4 (offset 3, at "/0"): expected the control character 0x0a to be escaped as \u000a`},
		{`[1 2]`, `line 1, column 4 (offset 3): expected "," or "]", found '2'`},
		{`[1,]`, `line 1, column 4 (offset 3, at "/1"): expected a value, found ']'`},
		{`[`, `line 1, column 2 (offset 1, at "/0"): expected a value or "]", found the end of the input`},
		{`{"a":1 "b":2}`, `line 1, column 8 (offset 7): expected "," or "}", found '"'`},
		{`{"a" 1}`, `line 1, column 6 (offset 5, at "/a"): expected ":" after the member name, found '1'`},
		{`{'a':1}`, `line 1, column 2 (offset 1): expected a member name in double quotes, found '\''`},
		{`["\x"]`, `line 1, column 4 (offset 3, at "/0"): expected one of "\/bfnrtu after the backslash, found 'x'`},
		{`["\u12"]`, `line 1, column 3 (offset 2, at "/0"): expected four hexadecimal digits after \u`},
		{`[01]`, `line 1, column 3 (offset 2, at "/0"): expected no digit after a leading zero, found '1'`},
		{`{}x`, `line 1, column 3 (offset 2): expected the end of the input after the value, found 'x'`},
		{"{\"a\":1,\n\"\x1b[2J\":1,\"\\u001b[2J\":1}", `line 2, column 2 (offset 9): expected the control character 0x1b to be escaped as \u001b`},
		{`{"\u001b":1,"\u001b":1}`, `line 1, column 13 (offset 12, at "/\x1b"): duplicate member name "\x1b"`},
		{deep, fmt.Sprintf(`line 1, column 1001 (offset 1000, at %q): expected at most 1000 nested levels, found more`, strings.Repeat("/0", 128)+"…")},
	} {
		_, err := Transform([]byte(test.src))
		if err == nil {
			t.Errorf("%.80q: accepted", test.src)
		} else if err.Error() != test.want {
			t.Errorf("%.80q:\n got %s\nwant %s", test.src, err, test.want)
		}
	}
}

// TestErrorBounded verifies that the pointer in an error begins at the root, regardless of its
// length, and that a message contains a bounded amount of input text.
func TestErrorBounded(t *testing.T) {
	src := `{"start":` + strings.Repeat(`[0,`, 600) + `x`
	e := refused(t, []byte(src), CodeSyntax)
	if !strings.HasPrefix(e.Pointer, "/start/1/1/1/") || !strings.HasSuffix(e.Pointer, "…") || len(e.Pointer) > 260 {
		t.Errorf("pointer %q", e.Pointer)
	}
	long := strings.Repeat("é", 10_000)
	for _, test := range []struct {
		src  string
		code Code
	}{
		{`{"` + long + `":1,"` + long + `":2}`, codeDuplicateName},
		{`["` + long + `":`, CodeSyntax},
		{`{"` + long + `":x`, CodeSyntax},
		{`[` + strings.Repeat("9", 10_000) + `]`, codeNumberRange},
	} {
		if e := refused(t, []byte(test.src), test.code); len(e.Error()) > 1000 {
			t.Errorf("%.20q…: an error of %d bytes", test.src, len(e.Error()))
		}
	}
}

func TestHint(t *testing.T) {
	const resaved = "; it was probably re-saved or pasted, ask for it as an attachment"
	for _, test := range []struct{ src, want string }{
		{"\ufeff{}", "the file starts with a byte order mark" + resaved},
		{"\xff\xfe{\x00}\x00", "the file looks like UTF-16, JSON is UTF-8" + resaved},
		{"\xfe\xff\x00{\x00}", "the file looks like UTF-16, JSON is UTF-8" + resaved},
		{"{\x00}\x00", "the file looks like UTF-16, JSON is UTF-8" + resaved},
		{"\x00{\x00}", "the file looks like UTF-16, JSON is UTF-8" + resaved},
		{"{“a”:1}", "the file has curly quotation marks" + resaved},
		{`{"a":‘b’}`, "the file has curly quotation marks" + resaved},
		{"> {\n> }", "the file looks like a quoted mail" + resaved},
		{"{\"a\":\n> 1}", "the file looks like a quoted mail" + resaved},
		{"{}\n{}\n", "there are two documents in one file; give each a file of its own"},
		{"[] []", "there are two documents in one file; give each a file of its own"},
		{`{"a":1,}`, ""},
		{`{"a": >}`, ""},
		{`{"a":"“","a":1}`, ""},
		{`{} x`, ""},
		{``, "it is empty: check the path, or whatever should have written it"},
		{" \n", "it is empty: check the path, or whatever should have written it"},
		{`x`, ""},
	} {
		_, err := Transform([]byte(test.src))
		e, ok := err.(*SyntaxError)
		if !ok {
			t.Errorf("%q: error %v", test.src, err)
		} else if e.Hint != test.want {
			t.Errorf("%q: hint %q, want %q", test.src, e.Hint, test.want)
		}
	}
}
