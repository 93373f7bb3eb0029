package canon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// These are accepted inputs, grouped by reliability number, and their canonical forms.
var transforms = []struct {
	number    int
	src, want string
}{
	{6, "{\"\u00e9\":1,\"e\u0301\":2}", "{\"e\u0301\":2,\"\u00e9\":1}"},
	{9, `{"a":2,"A":1}`, `{"A":1,"a":2}`},
	{10, `{"verdict":"deny","VERDICT":"allow"}`, `{"VERDICT":"allow","verdict":"deny"}`},
	{11, `{"ta\u017f\u212a":1,"task":2}`, "{\"task\":2,\"ta\u017f\u212a\":1}"},
	{18, `"\u0000"`, `"\u0000"`},
	{19, `"\u2028\u2029\u007f<>&\/"`, "\"\u2028\u2029\u007f<>&/\""},
	{19, "\"\u2028\u2029\u007f<>&/\"", "\"\u2028\u2029\u007f<>&/\""},
	{20, `"\u00e9"`, `"é"`},
	{20, `"é"`, `"é"`},
	{20, `"\ud83d\ude00"`, `"😀"`},
	{20, `"\uD83D\uDE00\uffff\uFFFE"`, "\"😀\uffff\ufffe\""},
	{20, `"\u0022\u005c"`, `"\"\\"`},
	{21, `"\u0008\u0009\u000a\u000c\u000d"`, `"\b\t\n\f\r"`},
	{21, `"\b\t\n\f\r"`, `"\b\t\n\f\r"`},
	{22, `"\u0001\u001F\u001f\u000B"`, `"\u0001\u001f\u001f\u000b"`},
	{23, `-0`, `0`},
	{23, `-0.0`, `0`},
	{23, `0e5`, `0`},
	{23, `-0e-7`, `0`},
	{23, `[0,0.0,-0]`, `[0,0,0]`},
	{24, `1.0`, `1`},
	{24, `1e0`, `1`},
	{24, `10e-1`, `1`},
	{24, `0.1e1`, `1`},
	{24, `1E+2`, `100`},
	{24, `2.50`, `2.5`},
	{24, `1e21`, `1e+21`},
	{24, `1e20`, `100000000000000000000`},
	{24, `0.000001`, `0.000001`},
	{24, `0.0000001`, `1e-7`},
	{24, `1e-7`, `1e-7`},
	{24, `1e-10`, `1e-10`},
	{26, `1e-999`, `0`},
	{26, `-1e-999`, `0`},
	{27, `5e-324`, `5e-324`},
	{27, `4.9e-324`, `5e-324`},
	{27, `1.7976931348623157e308`, `1.7976931348623157e+308`},
	{27, `1.7976931348623158e308`, `1.7976931348623157e+308`},
	{29, `9007199254740993`, `9007199254740992`},
	{29, `18446744073709551615`, `18446744073709552000`},
	{29, `123456789012345678901234567890`, `1.2345678901234568e+29`},
	{30, `9007199254740991`, `9007199254740991`},
	{30, `9007199254740992`, `9007199254740992`},
	{36, " \t\r\n{} \t\r\n", `{}`},
	{38, `null`, `null`},
	{38, `true`, `true`},
	{38, `false`, `false`},
	{38, ` 1 `, `1`},
	{38, `""`, `""`},
	{43, "{\"\ue000\":1,\"🎉\":2}", "{\"🎉\":2,\"\ue000\":1}"},
	{43, "{\"\ufb33\":1,\"😀\":2}", "{\"😀\":2,\"\ufb33\":1}"},
	{43, "{\"\uffff\":1,\"\U0010ffff\":2}", "{\"\U0010ffff\":2,\"\uffff\":1}"},
	{43, "{\"\ud7ff\":1,\"\U00010000\":2}", "{\"\ud7ff\":1,\"\U00010000\":2}"},
	{43, "{\"\u0100\":1,\"ÿ\":2}", "{\"ÿ\":2,\"\u0100\":1}"},
	{43, "{\"\u0080\":1,\"\u007f\":2}", "{\"\u007f\":2,\"\u0080\":1}"},
	{44, `{"aa":1,"a":2,"":3,"aaa":4}`, `{"":3,"a":2,"aa":1,"aaa":4}`},
	{44, `{"€":1,"\r":2,"\ufb33":3,"1":4,"😀":5,"\u0080":6,"ö":7}`, "{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}"},
	{44, `{"\u0061":1,"\"":2,"\n":3,"\\":4}`, `{"\n":3,"\"":2,"\\":4,"a":1}`},
	{44, `{"b":{"b":1,"a":[{"d":1,"c":2}]},"a":{}}`, `{"a":{},"b":{"a":[{"c":2,"d":1}],"b":1}}`},
	{46, `{"a":[1,"b",null],"c":{}}`, `{"a":[1,"b",null],"c":{}}`},
	{46, `[ ]`, `[]`},
	{46, `{ }`, `{}`},
}

func TestTransform(t *testing.T) {
	numbers := map[int]bool{}
	for _, test := range transforms {
		numbers[test.number] = true
		accepted(t, []byte(test.src), test.want)
		accepted(t, []byte(test.want), test.want)
		checkAccepted(t, []byte(test.src))
	}
	if len(numbers) < 20 {
		t.Errorf("tested %d numbers of the list, want at least 20", len(numbers))
	}
}

// checkAccepted fails if an accepted document lacks a property that all accepted documents must
// have.
func checkAccepted(tb testing.TB, src []byte) {
	tb.Helper()
	d, err := Parse(src)
	if err != nil {
		tb.Fatalf("%.200q: %v", src, err)
	}
	out := d.AppendCanonical(nil)
	if !json.Valid(src) || !json.Valid(out) {
		tb.Errorf("%.200q, %.200q: encoding/json refuses", src, out)
	}
	if again, err := Transform(out); err != nil || !bytes.Equal(again, out) {
		tb.Errorf("%.200q: transformed again %.200q, %v", out, again, err)
	}
	if want, err := Reference(src); err != nil || !bytes.Equal(out, want) {
		tb.Errorf("%.200q:\n got %.200q\nthe reference gives %.200q, %v", src, out, want, err)
	}
	if got, want := d.IsCanonical(), bytes.Equal(src, out); got != want {
		tb.Errorf("%.200q: IsCanonical %t, want %t", src, got, want)
	}
	if canonical, err := Parse(out); err != nil || !canonical.IsCanonical() {
		tb.Errorf("%.200q: not its own canonical form, %v", out, err)
	}
	if d.Digest() != Sum(out) {
		tb.Errorf("%.200q: Digest is not the digest of AppendCanonical", src)
	}
	if got := d.Root().AppendCanonical([]byte("x")); string(got) != "x"+string(out) {
		tb.Errorf("%.200q: the root appends %.200q", src, got)
	}
}

// TestDifferentDigests verifies that similar but different documents have different digests
// (reliability #7, #8).
func TestDifferentDigests(t *testing.T) {
	seen := map[Digest]string{}
	for _, src := range []string{
		`"é"`, "\"e\u0301\"", "\"\u212b\"", "\"\u00c5\"", `"A\u030a"`,
		`null`, `"null"`, `0`, `"0"`, `[]`, `{}`, `""`, `[null]`, `{"a":null}`, `false`, `"\u0000"`,
		`{"a":1,"b":2}`, `{"a":2,"b":1}`, `[1,2]`, `[2,1]`, `[[1],2]`, `[1,[2]]`, `[12]`, `{"a":"1"}`, `{"a":1}`,
	} {
		d, err := Parse([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[d.Digest()]; ok {
			t.Errorf("%s and %s have one digest", other, src)
		}
		seen[d.Digest()] = src
	}
}

// TestSpellings verifies that whitespace, member order, escapes, and number spellings do not affect
// the digest, separately and together (reliability #45, #49, #51).
func TestSpellings(t *testing.T) {
	rng := rand.New(rand.NewPCG(8785, 1))
	var d Document
	sizes, count := 0, 2000
	if testsize.Full() {
		count = 3000
	}
	for range count {
		v := randomTree(rng, 5)
		plain := spelling{}.appendTree(nil, rng, v)
		checkAccepted(t, plain)
		want, err := Transform(plain)
		if err != nil {
			t.Fatal(err)
		}
		sizes += len(want)
		for _, s := range []spelling{
			{space: true}, {shuffle: true}, {escape: true}, {number: true},
			{space: true, shuffle: true, escape: true, number: true},
		} {
			src := s.appendTree(nil, rng, v)
			if err := d.Parse(src, Limits{}); err != nil {
				t.Fatalf("%+v %q: %v", s, src, err)
			}
			if got := d.AppendCanonical(nil); !bytes.Equal(got, want) {
				t.Fatalf("%+v %q:\n got %q\nwant %q", s, src, got, want)
			}
			if d.Digest() != Sum(want) {
				t.Fatalf("%+v %q: wrong digest", s, src)
			}
			if d.IsCanonical() != bytes.Equal(src, want) {
				t.Fatalf("%+v %q: IsCanonical %t", s, src, d.IsCanonical())
			}
			checkNodes(t, &d)
		}
	}
	if sizes < 100_000 {
		t.Errorf("the documents have %d bytes altogether, too few to tell anything", sizes)
	}
}

// checkNodes fails unless each node of d can be found by its own pointer, and unless the node's
// canonical form matches the canonical form of its source text.
func checkNodes(tb testing.TB, d *Document) {
	tb.Helper()
	eachNode(d.Root(), func(n Node) {
		p, err := ParsePointer(n.Pointer())
		if err != nil {
			tb.Fatal(err)
		}
		if found, ok := d.Find(p); !ok || found != n {
			tb.Errorf("%q: the value at offset %d has the pointer %q, which finds that at %d", d.Source(), n.Offset(), p, found.Offset())
		}
		if !bytes.HasPrefix(d.Source()[n.Offset():], n.Raw()) {
			tb.Errorf("%q: offset %d is not that of %q", d.Source(), n.Offset(), n.Raw())
		}
		want, err := Transform(n.Raw())
		if got := n.AppendCanonical(nil); err != nil || !bytes.Equal(got, want) {
			tb.Errorf("%q at %q: written %q, want %q, %v", d.Source(), p, got, want, err)
		}
	})
}

func eachNode(n Node, do func(Node)) {
	do(n)
	for _, value := range n.Members() {
		eachNode(value, do)
	}
	for _, value := range n.Elements() {
		eachNode(value, do)
	}
}

// TestWithout verifies that omitting values produces the same result as a document that never
// contained them.
func TestWithout(t *testing.T) {
	rng := rand.New(rand.NewPCG(8785, 2))
	some := 0
	for range 3000 {
		v := randomTree(rng, 5)
		s := spelling{space: rng.IntN(2) == 0, escape: rng.IntN(2) == 0, number: rng.IntN(2) == 0}
		src := s.appendTree(nil, rng, v)
		d, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		var without []Node
		rest := prune(rng, v, d.Root(), &without)
		want, err := Transform(spelling{}.appendTree(nil, rng, rest))
		if err != nil {
			t.Fatal(err)
		}
		some += len(without)
		without = append(without, Node{}) // is ignored
		rng.Shuffle(len(without), func(i, j int) { without[i], without[j] = without[j], without[i] })
		if got := d.AppendCanonical(nil, without...); !bytes.Equal(got, want) {
			t.Fatalf("%q without %d values:\n got %q\nwant %q", src, len(without), got, want)
		}
		if d.Digest(without...) != Sum(want) {
			t.Fatalf("%q without %d values: wrong digest", src, len(without))
		}
		checkAccepted(t, src) // the document is unchanged
	}
	if some < 1000 {
		t.Errorf("%d values were excluded, which is too few for a result", some)
	}
}

// prune returns v without some of its descendants, and appends the corresponding descendants of n
// to without.
func prune(rng *rand.Rand, v tree, n Node, without *[]Node) tree {
	rest := tree{kind: v.kind, text: v.text, float: v.float, str: v.str}
	var nodes []Node
	for _, value := range n.Members() {
		nodes = append(nodes, value)
	}
	for _, value := range n.Elements() {
		nodes = append(nodes, value)
	}
	for i, kid := range v.kids {
		if rng.IntN(6) == 0 {
			*without = append(*without, nodes[i])
			continue
		}
		rest.kids = append(rest.kids, prune(rng, kid, nodes[i], without))
		if v.kind == KindObject {
			rest.names = append(rest.names, v.names[i])
		}
	}
	return rest
}

func TestWithoutForeignNodes(t *testing.T) {
	const src = `{"a":1,"b":[1,2]}`
	d, other := parse(t, src), parse(t, src)
	for _, without := range [][]Node{
		nil, {}, {{}}, {d.Root()}, {other.Root()}, {other.Root().Member("a")}, {d.Root().Member("absent")},
	} {
		if got := d.AppendCanonical(nil, without...); string(got) != src {
			t.Errorf("without %d foreign nodes: %s", len(without), got)
		}
		if d.Digest(without...) != Sum([]byte(src)) {
			t.Errorf("without %d foreign nodes: another digest", len(without))
		}
	}
	if got := d.AppendCanonical(nil, d.Root().Member("a"), d.Root().Member("a")); string(got) != `{"b":[1,2]}` {
		t.Errorf("without one member twice: %s", got)
	}
}

func parse(tb testing.TB, src string) *Document {
	tb.Helper()
	d, err := Parse([]byte(src))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// TestCompareNames verifies that compareNames matches the definition for all pairs of names
// composed of critical characters (reliability #43, #44).
func TestCompareNames(t *testing.T) {
	var names []string
	for _, a := range someNames {
		for _, b := range append([]string{""}, someNames...) {
			names = append(names, a+b)
		}
	}
	names = append(names, "")
	for _, a := range names {
		units := utf16.Encode([]rune(a))
		for _, b := range names {
			got := compareNames([]byte(a), []byte(b))
			if want := slices.Compare(units, utf16.Encode([]rune(b))); got != want {
				t.Fatalf("compareNames(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

// TestPlainDecimal verifies that strconv formats every number that plainDecimal accepts exactly as
// it was written.
func TestPlainDecimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(8785, 3))
	fast, slow, count := 0, 0, 100_000
	if testsize.Full() {
		count = 500_000
	}
	for range count {
		text := randomDecimal(rng)
		number := strings.TrimPrefix(text, "-")
		integer, _, _ := strings.Cut(number, ".")
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		want := string(AppendFloat(nil, f))
		if plainDecimal([]byte(text), []byte(integer), []byte(number[len(integer):])) {
			fast++
			if want != text {
				t.Fatalf("%s is said to be canonical, but %s is", text, want)
			}
		} else if want == text {
			slow++ // allowed: only slower
		}
	}
	if fast < count/5 || slow > fast/2 {
		t.Errorf("%d canonical numbers went the fast way and %d the slow way", fast, slow)
	}
}

// randomDecimal returns a number without an exponent, often with about as many digits as a double
// can represent.
func randomDecimal(rng *rand.Rand) string {
	digits := func(n int) (s string) {
		for range n {
			s += string(rune('0' + rng.IntN(10)))
		}
		return s
	}
	text := "0"
	if rng.IntN(2) == 0 {
		text = string(rune('1'+rng.IntN(9))) + digits(rng.IntN(18))
	}
	if rng.IntN(3) > 0 {
		text += "." + strings.Repeat("0", rng.IntN(8)) + digits(1+rng.IntN(17))
	}
	if rng.IntN(4) == 0 {
		text = "-" + text
	}
	return text
}

func TestNumbersAgreeWithReference(t *testing.T) {
	rng, count := rand.New(rand.NewPCG(8785, 4)), 10_000
	if testsize.Full() {
		count = 50_000
	}
	for range count {
		checkAccepted(t, []byte(randomDecimal(rng)))
		checkAccepted(t, fmt.Appendf(nil, "%de%d", rng.Int64()-rng.Int64(), rng.IntN(590)-310))
	}
}

func TestAppendStringIsAppendCanonical(t *testing.T) {
	rng := rand.New(rand.NewPCG(8785, 5))
	for range 10_000 {
		s := randomString(rng)
		b := AppendString(nil, s)
		checkAccepted(t, b)
		if got := parse(t, string(b)).Root().String(); got != s {
			t.Errorf("%q became %q", s, got)
		}
		if !bytes.Equal(AppendString(nil, []byte(s)), b) {
			t.Errorf("%q: bytes and strings differ", s)
		}
	}
}
