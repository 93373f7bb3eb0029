package canon

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzTransform verifies that accepted documents have all required properties, and that a reused
// Document behaves like a new one. If a document is rejected, there must be no result, and the
// error's position must be inside the input.
func FuzzTransform(f *testing.F) {
	for _, test := range transforms {
		f.Add([]byte(test.src))
	}
	for _, test := range refusals {
		f.Add([]byte(test.src))
	}
	f.Add(receiptLike())
	reused := parse(f, `{"b":[1.50,"\/"],"a":{"d":1,"c":2}}`)
	f.Fuzz(func(t *testing.T, src []byte) {
		kept := bytes.Clone(src)
		out, err := Transform(src)
		if !bytes.Equal(src, kept) {
			t.Fatal("the input was changed")
		}
		if again := reused.Parse(src, Limits{}); (again == nil) != (err == nil) {
			t.Fatalf("a new Document returns %v, a reused one %v", err, again)
		}
		if err != nil {
			checkRefused(t, src, out, err)
			return
		}
		if got := reused.AppendCanonical(nil); !bytes.Equal(got, out) {
			t.Fatalf("a new Document writes %q, a reused one %q", out, got)
		}
		checkAccepted(t, src)
		checkNodes(t, reused)
	})
}

func checkRefused(t *testing.T, src, out []byte, err error) {
	t.Helper()
	e, ok := err.(*SyntaxError)
	if !ok || out != nil {
		t.Fatalf("value %q, error %v", out, err)
	}
	before := src[:e.Offset]
	if e.Line != bytes.Count(before, []byte("\n"))+1 || e.Column != e.Offset-bytes.LastIndexByte(before, '\n') {
		t.Errorf("offset %d is not line %d, column %d", e.Offset, e.Line, e.Column)
	}
	if e.Detail == "" || !utf8.ValidString(e.Error()) || len(e.Error()) > 2000 {
		t.Errorf("error text %q", e.Error())
	}
	if _, err := Reference(src); err == nil {
		if _, ok := stricter[e.Code]; !ok || e.Code == codeNumberRange && len(src) < maxMantissa {
			t.Errorf("the reference accepts a text that the package refuses: %v", e)
		}
	}
}

// stricter lists the only reasons for which this package may reject input that the reference
// accepts. This package never accepts input that the reference rejects.
var stricter = map[Code]string{
	CodeDepthLimit:  "the default is 1,000 levels, the reference stops at 10,000",
	CodeSizeLimit:   "the reference has no limit of its own",
	codeNumberRange: "the reference misreads long numbers with an exponent",
}

func TestStricterThanReference(t *testing.T) {
	reached := map[Code]bool{}
	for _, src := range [][]byte{
		append(bytes.Repeat([]byte("["), MaxDepth+1), bytes.Repeat([]byte("]"), MaxDepth+1)...),
		append(bytes.Repeat([]byte(" "), MaxBytes), '1'),
		[]byte("1" + strings.Repeat("0", maxMantissa) + "e-800"),
	} {
		_, err := Transform(src)
		e, ok := err.(*SyntaxError)
		if !ok {
			t.Fatalf("error %v", err)
		}
		if _, err := Reference(src); err != nil {
			t.Errorf("%s: the reference refuses it too: %v", e.Code, err)
		}
		reached[e.Code] = true
	}
	for code, reason := range stricter {
		if !reached[code] {
			t.Errorf("%s (%s): no case", code, reason)
		}
	}
}

// FuzzPointer verifies that parsing and formatting a pointer are inverse operations, and that a
// pointer finds the same value as its tokens, applied one by one.
func FuzzPointer(f *testing.F) {
	for _, s := range []string{"", "/", "/a~1b", "/m~0n", "/~01", "/a~b", "/~2", "/foo/-", "/foo/01", "/foo/0", "/ʼ", "a", "//"} {
		f.Add(s)
	}
	d := parse(f, `{"":{"":0},"a/b":1,"m~n":2,"foo":["bar","baz"],"~1":3,"-":[[]],"0":[1,2,3,4,5,6,7,8,9,10,11]}`)
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePointer(s)
		if err != nil {
			if e, ok := err.(*PointerError); !ok || e.Offset > len(s) || p.tokens != nil {
				t.Fatalf("%q: %v, %v", s, p, err)
			}
			return
		}
		if p.String() != s {
			t.Fatalf("%q became %q", s, p.String())
		}
		var again []byte
		for _, token := range p.Tokens() {
			again = AppendToken(again, token)
		}
		if string(again) != s {
			t.Fatalf("the tokens of %q make %q", s, again)
		}
		if n, ok := d.Find(p); ok != !n.IsZero() || ok && n.Pointer() != s {
			t.Fatalf("%q finds the value at %q, %t", s, n.Pointer(), ok)
		}
	})
}

// FuzzString verifies that UTF-8 text survives a round trip, and that encoding/json decodes the
// same text.
func FuzzString(f *testing.F) {
	for _, s := range someNames {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := AppendString(nil, s)
		if !utf8.ValidString(s) {
			refused(t, b, codeInvalidUTF8)
			return
		}
		var back string
		if err := json.Unmarshal(b, &back); err != nil || back != s {
			t.Errorf("%q became %q, %v", s, back, err)
		}
		checkAccepted(t, b)
		if d := parse(t, string(b)); d.Root().String() != s || !d.IsCanonical() {
			t.Errorf("%q became %q, canonical %t", s, d.Root().String(), d.IsCanonical())
		}
	})
}

// FuzzFloat verifies that every finite double except -0 survives a round trip.
func FuzzFloat(f *testing.F) {
	for _, bits := range []uint64{0, 1 << 63, 1, 0x7fefffffffffffff, 0x4340000000000000, 0x3eb0c6f7a0b5ed8d, 0x444b1ae4d6e2ef50} {
		f.Add(bits)
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		want := math.Float64frombits(bits)
		b := AppendFloat(nil, want)
		if math.IsNaN(want) || math.IsInf(want, 0) {
			if json.Valid(b) {
				t.Errorf("%v is written as JSON: %s", want, b)
			}
			return
		}
		checkNumber(t, b, want+0)
		checkNumber(t, strconv.AppendFloat(nil, want+0, 'e', 17, 64), want+0)
		d := parse(t, string(b))
		const safe = 1<<53 - 1
		if _, lossy := d.LossyInteger(); lossy != (want == math.Trunc(want) && math.Abs(want) > safe) {
			t.Errorf("%s: lossy %t", b, lossy)
		}
	})
}

// FuzzNumber verifies that this package, encoding/json, and the reference accept the same
// numbers and read the same doubles.
func FuzzNumber(f *testing.F) {
	for _, test := range transforms {
		f.Add(test.src)
	}
	for _, test := range refusals {
		f.Add(test.src)
	}
	for _, s := range []string{"0.1", "1e23", "123456789012345", "1234567890.12345", "0.00000123456789012345", "-0.000001", "5e-325", "2.2250738585072011e-308"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := Parse([]byte(s))
		if err != nil {
			number := strings.TrimLeft(s, " \t\r\n")
			if e := err.(*SyntaxError); json.Valid([]byte(s)) && strings.IndexAny(number, "-0123456789") == 0 && e.Code != codeNumberRange {
				t.Errorf("%q is a number for encoding/json: %v", s, err)
			}
			return
		}
		if d.Root().Kind() != KindNumber {
			return
		}
		var want float64
		if err := json.Unmarshal([]byte(s), &want); err != nil {
			t.Fatalf("%q is no number for encoding/json: %v", s, err)
		}
		checkNumber(t, d.Root().Raw(), want)
		checkAccepted(t, []byte(s))
	})
}
