package canon

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestNode(t *testing.T) {
	d := parse(t, ` {"s":"\u00e9\n","n":-1.50,"t":true,"f":false,"z":null,"a":[1,[2],{"b":3}],"o":{"y":1,"x":2},"":"empty","plain":"text"} `)
	root := d.Root()
	for _, test := range []struct {
		pointer string
		kind    Kind
		raw     string
		text    string
		float   float64
		yes     bool
		length  int
	}{
		{"/s", KindString, `"\u00e9\n"`, "é\n", 0, false, 0},
		{"/n", KindNumber, `-1.50`, "", -1.5, false, 0},
		{"/t", KindBool, `true`, "", 0, true, 0},
		{"/f", KindBool, `false`, "", 0, false, 0},
		{"/z", KindNull, `null`, "", 0, false, 0},
		{"/a", KindArray, `[1,[2],{"b":3}]`, "", 0, false, 3},
		{"/a/1", KindArray, `[2]`, "", 0, false, 1},
		{"/a/2/b", KindNumber, `3`, "", 3, false, 0},
		{"/o", KindObject, `{"y":1,"x":2}`, "", 0, false, 2},
		{"/", KindString, `"empty"`, "empty", 0, false, 0},
		{"/plain", KindString, `"text"`, "text", 0, false, 0},
	} {
		p, err := ParsePointer(test.pointer)
		if err != nil {
			t.Fatal(err)
		}
		n, ok := d.Find(p)
		if !ok || n.IsZero() {
			t.Errorf("%s: not found", test.pointer)
			continue
		}
		if n.Kind() != test.kind || string(n.Raw()) != test.raw || n.String() != test.text || string(n.Text()) != test.text ||
			n.Float() != test.float || n.Bool() != test.yes || n.Len() != test.length || n.Pointer() != test.pointer {
			t.Errorf("%s: got kind %d, raw %s, text %q, float %v, bool %t, length %d, pointer %s",
				test.pointer, n.Kind(), n.Raw(), n.Text(), n.Float(), n.Bool(), n.Len(), n.Pointer())
		}
		if (n.Text() != nil) != (test.kind == KindString) {
			t.Errorf("%s: Text %v", test.pointer, n.Text())
		}
	}
	if root.Offset() != 1 || root.Len() != 9 || root.Pointer() != "" {
		t.Errorf("the root: offset %d, length %d, pointer %q", root.Offset(), root.Len(), root.Pointer())
	}
	if got := root.Member("o").Member("x"); got.Float() != 2 {
		t.Errorf("member o, member x is %s", got.Raw())
	}
}

func TestMembersAndElements(t *testing.T) {
	d := parse(t, `{"b":1,"a":[10,{"x":0},30],"\u0063":{}}`)
	var names []string
	for name, value := range d.Root().Members() {
		names = append(names, name.String())
		if name.Kind() != KindString || value != d.Root().Member(name.String()) {
			t.Errorf("%s: Members and Member disagree", name)
		}
		if name.Pointer() != value.Pointer() {
			t.Errorf("the name %s has the pointer %q, its value %q", name, name.Pointer(), value.Pointer())
		}
	}
	if !slices.Equal(names, []string{"b", "a", "c"}) {
		t.Errorf("names %q, want source order", names)
	}
	var raws []string
	for i, value := range d.Root().Member("a").Elements() {
		if i != len(raws) {
			t.Errorf("index %d, want %d", i, len(raws))
		}
		raws = append(raws, string(value.Raw()))
	}
	if !slices.Equal(raws, []string{"10", `{"x":0}`, "30"}) {
		t.Errorf("elements %q", raws)
	}
	for range d.Root().Members() {
		break
	}
	for range d.Root().Member("a").Elements() {
		break
	}
	for range d.Root().Elements() {
		t.Error("an object has elements")
	}
	for range d.Root().Member("a").Members() {
		t.Error("an array has members")
	}
}

// TestMemberIsExact verifies that lookups do not fold case, normalize text, or ignore
// whitespace (reliability #9, #10, #11).
func TestMemberIsExact(t *testing.T) {
	d := parse(t, "{\"VERDICT\":1,\"ta\u017f\u212a\":2,\"\u00e9\":3,\" a\":4,\"a\\u0000\":5}")
	for _, name := range []string{"verdict", "Verdict", "task", "TASK", "e\u0301", "a", ""} {
		if n := d.Root().Member(name); !n.IsZero() {
			t.Errorf("%q finds %s", name, n.Raw())
		}
	}
	if d.Root().Member("\u00e9").Float() != 3 || d.Root().Member("a\x00").Float() != 5 {
		t.Error("an exact name is not found")
	}
}

// TestMarshalJSON verifies that a document is marshaled as a copy of its source, and that an empty
// document is not marshaled.
func TestMarshalJSON(t *testing.T) {
	const text = ` {"b":1.0, "a":"\u0041"} `
	d := parse(t, text)
	got, err := d.MarshalJSON()
	if string(got) != text || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	got[1] = '['
	if string(d.Source()) != text {
		t.Errorf("a caller changed the source to %q", d.Source())
	}
	if got, err := new(Document).MarshalJSON(); got != nil || err == nil {
		t.Errorf("an empty document is marshaled as %q", got)
	}
}

func TestZeroNode(t *testing.T) {
	d := parse(t, `{"a":[1]}`)
	for _, n := range []Node{
		{}, new(Document).Root(), d.Root().Member("x").Member("y").Member("z"), d.Root().Member("a").Member("0"),
	} {
		if !n.IsZero() || n.Kind() != KindInvalid || n.Raw() != nil || n.Offset() != 0 || n.Bool() || n.Float() != 0 ||
			n.Text() != nil || n.String() != "" || n.Len() != 0 || n.Pointer() != "" || n.AppendCanonical(nil) != nil {
			t.Errorf("%+v is not absent in every respect", n)
		}
		for range n.Members() {
			t.Error("it has members")
		}
		for range n.Elements() {
			t.Error("it has elements")
		}
	}
}

func TestPointer(t *testing.T) {
	for _, test := range []struct {
		text   string
		tokens []string
	}{
		{"", nil},
		{"/", []string{""}},
		{"//", []string{"", ""}},
		{"/a~1b", []string{"a/b"}},
		{"/m~0n", []string{"m~n"}},
		{"/~01", []string{"~1"}},
		{"/~10", []string{"/0"}},
		{"/~0~1~0", []string{"~/~"}},
		{"/foo/-", []string{"foo", "-"}},
		{"/ /ʼ/\"/\n/\\", []string{" ", "ʼ", `"`, "\n", `\`}},
	} {
		p, err := ParsePointer(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		if !slices.Equal(p.Tokens(), test.tokens) || p.String() != test.text {
			t.Errorf("%q: tokens %q, string %q", test.text, p.Tokens(), p)
		}
	}
	for _, test := range []struct{ text, want string }{
		{"/a~b", `json pointer "/a~b", byte 2: expected ~0 (for "~") or ~1 (for "/")`},
		{"/~2", `json pointer "/~2", byte 1: expected ~0 (for "~") or ~1 (for "/")`},
		{"/~", `json pointer "/~", byte 1: expected ~0 (for "~") or ~1 (for "/")`},
		{"/a~/b", `json pointer "/a~/b", byte 2: expected ~0 (for "~") or ~1 (for "/")`},
		{"a", `json pointer "a", byte 0: expected "/" at the start, or nothing at all`},
		{"#/a", `json pointer "#/a", byte 0: expected "/" at the start, or nothing at all`},
		{" /a", `json pointer " /a", byte 0: expected "/" at the start, or nothing at all`},
	} {
		p, err := ParsePointer(test.text)
		if err == nil || err.Error() != test.want || p.Tokens() != nil {
			t.Errorf("%q: %q, error %v, want %s", test.text, p, err, test.want)
		}
		if _, ok := err.(*PointerError); !ok {
			t.Errorf("%q: the error is a %T", test.text, err)
		}
	}
}

// TestFind verifies lookups by pointer, including pointers whose tokens resemble array indexes or
// escapes (reliability #217).
func TestFind(t *testing.T) {
	d := parse(t, `{"foo":["bar","baz"],"":0,"a/b":1,"m~n":8,"~1":9,"k\"l":6,"x\ny":7,"ʼ":5,"01":{"-":4},"n":1,"s":"ab"}`)
	for text, want := range map[string]string{
		"": string(d.Source()), "/foo": `["bar","baz"]`, "/foo/0": `"bar"`, "/foo/1": `"baz"`, "/": "0", "/a~1b": "1",
		"/m~0n": "8", "/~01": "9", "/k\"l": "6", "/x\ny": "7", "/ʼ": "5", "/01/-": "4",
		"/foo/2": "", "/foo/-": "", "/foo/01": "", "/foo/00": "", "/foo/1e0": "", "/foo/+1": "", "/foo/-1": "", "/foo/": "",
		"/foo/ 1": "", "/foo/1.0": "", "/foo/0x1": "", "/foo/١": "", "/foo/18446744073709551616": "", "/foo/4294967296": "", "/foo/bar": "",
		"/bar": "", "/n/0": "", "/s/0": "", "/n/": "", "//": "", "/foo/0/0": "", "/Foo": "",
	} {
		p, err := ParsePointer(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if n, ok := d.Find(p); string(n.Raw()) != want || ok != (want != "") {
			t.Errorf("%q: found %q, %t, want %q", text, n.Raw(), ok, want)
		}
	}
	if _, ok := new(Document).Find(Pointer{}); ok {
		t.Error("an empty document has a root")
	}
	if got := (Pointer{}).String(); got != "" {
		t.Errorf("the zero Pointer is %q", got)
	}
}

func TestDepth(t *testing.T) {
	for src, want := range map[string]int{
		`1`: 0, `"["`: 0, `[]`: 1, `{}`: 1, `[[]]`: 2, `[1,[2],3]`: 2, `{"a":{"b":[]}}`: 3, `[[],[[]],[]]`: 3,
	} {
		if got := parse(t, src).Depth(); got != want {
			t.Errorf("%s: depth %d, want %d", src, got, want)
		}
	}
}

// TestLossyInteger verifies which integers are reported as lossy (reliability #29, #30).
func TestLossyInteger(t *testing.T) {
	for src, want := range map[string]string{
		`9007199254740991`:                "",
		`-9007199254740991`:               "",
		`9007199254740992`:                "/",
		`9007199254740993`:                "/",
		`-9007199254740992`:               "/",
		`18446744073709551615`:            "/",
		`1e300`:                           "/",
		`9.007199254740992e15`:            "/",
		`9007199254740992.0`:              "/",
		`9007199254740990.9`:              "",
		`9007199254740991.00000000001`:    "",
		`1e15`:                            "",
		`0.1`:                             "",
		`1e-300`:                          "",
		`"9007199254740993"`:              "",
		`[1,{"a":9007199254740993},1e99]`: "/1/a",
		`{"z":1e17,"a":1e18}`:             "/z",
	} {
		n, ok := parse(t, src).LossyInteger()
		got := ""
		if ok {
			got = n.Pointer()
			if got == "" {
				got = "/"
			}
		}
		if got != want || ok == n.IsZero() {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
	var d Document
	if _, ok := d.LossyInteger(); ok {
		t.Error("an empty document has a lossy integer")
	}
}

func TestDigest(t *testing.T) {
	const empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	sum := Sum(nil)
	if sum.String() != empty {
		t.Fatalf("the digest of nothing is %s", sum)
	}
	d, err := ParseDigest(empty)
	if err != nil || d != sum || d.IsZero() {
		t.Errorf("read back %s, %v", d, err)
	}
	if d, err := ParseDigest([]byte(empty)); err != nil || d != sum {
		t.Errorf("read back %s, %v", d, err)
	}
	if text, err := sum.AppendText([]byte("x")); err != nil || string(text) != "x"+empty {
		t.Errorf("appended %s, %v", text, err)
	}
	type holder struct{ D Digest }
	b, err := json.Marshal(holder{sum})
	if err != nil || string(b) != `{"D":"`+empty+`"}` {
		t.Errorf("marshaled %s, %v", b, err)
	}
	var h holder
	if err := json.Unmarshal(b, &h); err != nil || h.D != sum {
		t.Errorf("unmarshaled %s, %v", h.D, err)
	}
	zero, err := ParseDigest("sha256:" + strings.Repeat("0", 64))
	if err != nil || !zero.IsZero() || zero != (Digest{}) {
		t.Errorf("the zero digest: %s, %v", zero, err)
	}
}

// TestDigestMalformed verifies that every noncanonical spelling of a digest is rejected
// (reliability #61, #62), including spellings that replace a byte with a similar byte.
func TestDigestMalformed(t *testing.T) {
	digits := strings.Repeat("0123456789abcdef", 4)
	good := "sha256:" + digits
	bad := []string{
		"", "sha256", "sha256:", digits, "sha256-" + digits, "SHA256:" + digits, "Sha256:" + digits, "sha-256:" + digits,
		"sha512:" + digits, "md5:" + digits[:32], "sha256:" + strings.ToUpper(digits), good[:len(good)-1], good + "0",
		good + "\n", " " + good, good + " ", "\ufeff" + good, "sha256: " + digits[1:], "sha256::" + digits[1:], good + good,
		"sha256:" + strings.Repeat("é", 32), "sha256:" + strings.Repeat("\x00", 64), strings.Repeat("x", 1<<20),
	}
	for i := range good {
		for _, c := range []byte("gG@/`:AF \x00\xff-") {
			if changed := good[:i] + string([]byte{c}) + good[i+1:]; changed != good {
				bad = append(bad, changed)
			}
		}
	}
	for _, text := range bad {
		d := Sum([]byte("kept"))
		err := d.UnmarshalText([]byte(text))
		if err == nil {
			t.Errorf("%.100q: read as %s", text, d)
			continue
		}
		if _, ok := err.(*digestError); !ok || len(err.Error()) > 500 {
			t.Errorf("%.100q: error %T of %d bytes", text, err, len(err.Error()))
		}
		if d != Sum([]byte("kept")) {
			t.Errorf("%.100q: changed the digest", text)
		}
		if d, err := ParseDigest(text); err == nil || !d.IsZero() {
			t.Errorf("%.100q: a value came with the error", text)
		}
	}
	_, err := ParseDigest("sha256-")
	if want := `expected sha256: and 64 lowercase hexadecimal digits, found "sha256-"`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestReuse verifies that a Document is empty after an error and can parse again.
func TestReuse(t *testing.T) {
	var d Document
	for _, test := range refusals {
		if err := d.Parse([]byte(test.src), Limits{}); err == nil {
			t.Fatalf("%q: accepted", test.src)
		}
		if !d.Root().IsZero() || d.Source() != nil || d.Depth() != 0 || d.IsCanonical() || d.AppendCanonical(nil) != nil {
			t.Fatalf("%q: a value remains", test.src)
		}
		if _, ok := d.LossyInteger(); ok {
			t.Fatalf("%q: a number remains", test.src)
		}
		if d.Digest() != Sum(nil) {
			t.Fatalf("%q: a digest remains", test.src)
		}
		for _, good := range transforms {
			if err := d.Parse([]byte(good.src), Limits{}); err != nil {
				t.Fatalf("%q after %q: %v", good.src, test.src, err)
			}
			if got := d.AppendCanonical(nil); string(got) != good.want || d.Digest() != Sum([]byte(good.want)) {
				t.Fatalf("%q after %q: %q", good.src, test.src, got)
			}
		}
	}
}

// TestSourceUnchanged verifies that the source is only read.
func TestSourceUnchanged(t *testing.T) {
	for _, test := range transforms {
		src := []byte(test.src)
		d, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		d.Digest()
		d.AppendCanonical(nil)
		if string(src) != test.src || !bytes.Equal(d.Source(), src) {
			t.Errorf("%q became %q", test.src, src)
		}
	}
}

// TestSourceBounded verifies that a Document does not read bytes after the source in the caller's
// buffer, into which another goroutine may be reading the next document.
func TestSourceBounded(t *testing.T) {
	buf := []byte(`{"b":1,"a":2}` + strings.Repeat("x", 64))
	end := bytes.IndexByte(buf, 'x')
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 1000 {
			for j := end; j < len(buf); j++ {
				buf[j] = byte(i)
			}
		}
	}()
	for range 1000 {
		accepted(t, buf[:end], `{"a":2,"b":1}`)
	}
	<-done
}

// TestOverwrite verifies that the content of a string value may be overwritten with the same
// number of bytes if none of them needs an escape.
func TestOverwrite(t *testing.T) {
	for _, src := range []string{
		`{"b":{"c":"0000","é\n":[1.0]},"a":"0000"}`, `{"a":"0000","b":"0000"}`, `["0000"]`, ` "0000" `,
	} {
		text := []byte(src)
		d := new(Document)
		if err := d.Parse(text, Limits{}); err != nil {
			t.Fatal(err)
		}
		for at := range len(text) - 4 {
			if string(text[at:at+4]) == "0000" {
				copy(text[at:], "zé~")
			}
		}
		want, err := Transform([]byte(strings.ReplaceAll(src, "0000", "zé~")))
		if err != nil {
			t.Fatal(err)
		}
		if got := d.AppendCanonical(nil); string(got) != string(want) || d.Digest() != Sum(want) {
			t.Errorf("%s: got %s, want %s", src, got, want)
		}
	}
}
