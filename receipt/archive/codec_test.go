package archive_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// TestSpecification verifies the test vectors in the format's specification.
func TestSpecification(t *testing.T) {
	c := archive.NewCodec()
	if got := hex.EncodeToString(encode(t, c, `{"b":2.0,"a":0.1842,"aa":[null,true,-1]}`)); got != "a36161fb3fc793dd97f62b6b61620262616183f6f520" {
		t.Errorf("got %s", got)
	}
	for _, test := range []struct {
		file   string
		size   int
		sha256 string
	}{
		{"task-receipt.json", 3340, "91d510f62fad545b9a6bd7350d5c6f6ce0f47f2b7483058a119511e527d18f32"},
		{"task-replay-receipt.json", 2764, "5313b1227c21d32f8828fff4e29ae115976a67c0df413204e40e73dad9f1485c"},
	} {
		item := encode(t, c, vectors.File(t, "harn", test.file))
		if sum := sha256.Sum256(item); len(item) != test.size || hex.EncodeToString(sum[:]) != test.sha256 {
			t.Errorf("%s: %d bytes, %x", test.file, len(item), sum)
		}
	}
}

// TestValues verifies the table in the package documentation, and the limits stated there.
func TestValues(t *testing.T) {
	c := archive.NewCodec()
	for _, test := range []struct{ json, canonical, item string }{
		{"null", "null", "f6"},
		{"false", "false", "f4"},
		{"true", "true", "f5"},
		{"2.0", "2", "02"},
		{"2e0", "2", "02"},
		{"-1", "-1", "20"},
		{"-0", "0", "00"}, // item 261: -0 is the integer 0
		{"-0.0", "0", "00"},
		{"[-0e-5]", "[0]", "8100"},
		{"1e-999", "0", "00"},
		{"23", "23", "17"},
		{"24", "24", "1818"},
		{"255", "255", "18ff"},
		{"256", "256", "190100"},
		{"65535", "65535", "19ffff"},
		{"65536", "65536", "1a00010000"},
		{"4294967295", "4294967295", "1affffffff"},
		{"4294967296", "4294967296", "1b0000000100000000"},
		{"-24", "-24", "37"},
		{"-25", "-25", "3818"},
		{"-256", "-256", "38ff"},
		{"-257", "-257", "390100"},
		{"-4294967297", "-4294967297", "3b0000000100000000"},
		{"9007199254740991", "9007199254740991", "1b001fffffffffffff"},
		{"-9007199254740991", "-9007199254740991", "3b001ffffffffffffe"},
		{"1.5", "1.5", "f93e00"},
		{"-1.5", "-1.5", "f9be00"},
		{"0.1842", "0.1842", "fb3fc793dd97f62b6b"},
		{"0.10000000149011612", "0.10000000149011612", "fa3dcccccd"},
		{"5.960464477539063e-8", "5.960464477539063e-8", "f90001"}, // least half, subnormal
		{"6.103515625e-5", "0.00006103515625", "f90400"},
		{"2.9802322387695312e-8", "2.9802322387695312e-8", "fa33000000"}, // half of the smallest 16-bit float
		{"1.401298464324817e-45", "1.401298464324817e-45", "fa00000001"},
		{"5e-324", "5e-324", "fb0000000000000001"},
		{"4503599627370495.5", "4503599627370495.5", "fb432fffffffffffff"}, // the greatest value that is not an integer
		{"1023.5", "1023.5", "f963ff"},
		{"2047.5", "2047.5", "fa44fff000"},
		{"8388607.5", "8388607.5", "fa4affffff"},
		{`""`, `""`, "60"},
		{`"\u0000\"\\\/"`, `"\u0000\"\\/"`, "6400225c2f"},
		{`"\ud83d\ude00"`, `"😀"`, "64f09f9880"},
		{`"\uFFFE"`, "\"\ufffe\"", "63efbfbe"},
		{"[]", "[]", "80"},
		{"{}", "{}", "a0"},
		{`{"":[{}]}`, `{"":[{}]}`, "a16081a0"},
		{`{"b":1,"aa":2}`, `{"aa":2,"b":1}`, "a261620162616102"},                           // 270
		{`{"é":1,"zz":2}`, `{"zz":2,"é":1}`, "a2627a7a0262c3a901"},                         // 270: equal lengths
		{`{"😀":1,"\ufffe":2}`, `{"😀":1,"` + "\ufffe" + `":2}`, "a263efbfbe0264f09f988001"}, // UTF-16 and UTF-8 disagree
	} {
		item := encode(t, c, test.json)
		if got := hex.EncodeToString(item); got != test.item {
			t.Errorf("%s: got %s, want %s", test.json, got, test.item)
		}
		if text, err := decode(t, c, item); err != nil || string(text) != test.canonical {
			t.Errorf("%s: back as %s, %v", test.item, text, err)
		}
	}
}

// TestKeyLengths (item 270) verifies keys of 23, 24, 255, and 256 bytes. These are the lengths
// around which the head of an item becomes longer.
func TestKeyLengths(t *testing.T) {
	c, o := archive.NewCodec(), newOracle()
	var b []byte
	lengths := []int{65_536, 256, 0, 24, 65_535, 1, 255, 23}
	for _, n := range lengths {
		b = fmt.Appendf(b, `,"%s":%d`, strings.Repeat("z", n), n)
	}
	doc := parse(t, append(append([]byte("{"), b[1:]...), '}'))
	item, err := c.Append(nil, doc)
	if err != nil || !bytes.Equal(item, o.encode(doc.Root())) {
		t.Fatalf("differs from the library; error %v", err)
	}
	if text, err := decode(t, c, item); err != nil || !bytes.Equal(text, doc.AppendCanonical(nil)) {
		t.Errorf("does not come back: %v", err)
	}
}

// TestFixtures (item 268) verifies every fixture that can be parsed, including the canonical form
// of each malicious fixture.
func TestFixtures(t *testing.T) {
	m, err := fixtures.Load()
	if err != nil {
		t.Fatal(err)
	}
	c, o := archive.NewCodec(), newOracle()
	archived, outside := 0, 0
	for _, file := range m.Cases {
		doc, err := canon.Parse(read(t, file.File))
		if err != nil {
			continue
		}
		if _, lossy := doc.LossyInteger(); lossy || doc.Depth() > 128 {
			outside++
			if item, err := c.Append(nil, doc); err == nil || item != nil {
				t.Errorf("%s: archived, though no receipt", file.File)
			}
			continue
		}
		archived++
		roundTrip(t, c, o, doc, file.File)
	}
	if archived < 170 || outside < 4 {
		t.Errorf("only %d fixtures archived, %d refused", archived, outside)
	}
}

// roundTrip compares the conversion JSON → CBOR → JSON → CBOR with the library's results, and
// checks the hash.
func roundTrip(t *testing.T, c *archive.Codec, o oracle, doc *canon.Document, name string) {
	t.Helper()
	item, err := c.Append(nil, doc)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if !bytes.Equal(item, o.encode(doc.Root())) {
		t.Errorf("%s: differs from the library's encoding", name)
	}
	text, refused := decode(t, c, item)
	if refused != nil || !bytes.Equal(text, doc.AppendCanonical(nil)) {
		t.Errorf("%s: back as %.300s, %v", name, text, refused)
		return
	}
	back := parse(t, text)
	if again := encode(t, c, text); !bytes.Equal(again, item) {
		t.Errorf("%s: encodes as %x, and from the canonical form as %x", name, clip(item), clip(again))
	}
	before, err1 := chain.Hash(doc)
	after, err2 := chain.Hash(back)
	if before != after || (err1 == nil) != (err2 == nil) {
		t.Errorf("%s: hash %v (%v) became %v (%v)", name, before, err1, after, err2)
	}
}

// TestSpelling (item 269) verifies that equivalent JSON documents produce the same item.
func TestSpelling(t *testing.T) {
	c := archive.NewCodec()
	want := encode(t, c, `{"b":[1,0.5,"é"],"aa":{"d":100,"c":null}}`)
	for _, same := range []string{
		`{"aa":{"c":null,"d":100},"b":[1,0.5,"é"]}`,
		" {\r\n\t\"b\" : [ 1.0 , 5e-1 , \"\\u00e9\" ] , \"a\\u0061\" : { \"c\" : null , \"d\" : 1e2 } }\n",
	} {
		if got := encode(t, c, same); !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", same, got, want)
		}
	}
}

// TestLossy verifies that the encoder meets item 262.
func TestLossy(t *testing.T) {
	c := archive.NewCodec()
	for _, number := range []string{"9007199254740992", "-9007199254740992", "9007199254740993", "1e16", "1e300", "-1e300", "1.7976931348623157e308", "18446744073709551615"} {
		dst := []byte("kept")
		got, err := c.Append(dst, parse(t, `{"a":[0,`+number+`]}`))
		var e *archive.ItemError
		if !errors.As(err, &e) || e.Code != "number_precision" || e.Offset != 8 || string(got) != "kept" {
			t.Errorf("%s: %q, %v", number, got, err)
			continue
		}
		if want := "offset 8: expected a number within ±(2^53−1), found " + untrusted.Number(number) + ` at "/a/1"`; err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	}
	if _, err := c.Append(nil, parse(t, `9007199254740991.5`)); err == nil { // is 9007199254740992
		t.Error("9007199254740991.5 was archived")
	}
}

// TestHalves verifies all 16-bit floats, whether or not their values are integers.
func TestHalves(t *testing.T) {
	c, o := archive.NewCodec(), newOracle()
	accepted := 0
	for bits := range 1 << 16 {
		item := []byte{0xf9, byte(bits >> 8), byte(bits)}
		text, err := decode(t, c, item)
		if want := o.accepts(item); (err == nil) != want {
			t.Fatalf("%x: %s, %v; the library returns %v", item, text, err, want)
		}
		if err == nil {
			accepted++
			if !bytes.Equal(encode(t, c, text), item) {
				t.Fatalf("%x: %s", item, text)
			}
		}
	}
	// For each of the 2 signs, there are 1,023 subnormal values and 1,024 values per exponent,
	// except for the upper exponents, where some values are integers: 1,024 − 2^k remain for 2^k up
	// to 2^9.
	want := 2 * (1023 + 14*1024 + 10*1024 - (1<<10 - 1))
	if accepted != want {
		t.Errorf("accepted %d, want %d", accepted, want)
	}
}

// TestConcurrent verifies that one Codec can be used concurrently.
func TestConcurrent(t *testing.T) {
	c := archive.NewCodec()
	text := parse(t, read(t, "valid/task.json")).AppendCanonical(nil)
	want := encode(t, c, text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				doc, err := canon.Parse(text)
				if err != nil {
					t.Error(err)
					return
				}
				item, err := c.Append(nil, doc)
				if err != nil || !bytes.Equal(item, want) {
					t.Error("another item", err)
				}
				if back, err := c.ToJSON(item); err != nil || !bytes.Equal(back, text) {
					t.Error("another text", err)
				}
			}
		})
	}
	wg.Wait()
}

// TestAppendKeeps verifies that the existing content of dst is kept, on success and on error.
func TestAppendKeeps(t *testing.T) {
	c := archive.NewCodec()
	item, err := c.Append([]byte("one"), parse(t, `{"a":[1]}`))
	if want := "one\xa1\x61a\x81\x01"; err != nil || string(item) != want {
		t.Errorf("%q, %v", item, err)
	}
	text, err := c.AppendJSON([]byte("one"), []byte("\xa1\x61a\x81\x01"))
	if err != nil || string(text) != `one{"a":[1]}` {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := c.AppendJSON([]byte("one"), []byte("\xa1")); err == nil || string(text) != "one" {
		t.Errorf("%q, %v", text, err)
	}
	if item, err := c.Append([]byte("one"), new(canon.Document)); err == nil || string(item) != "one" || !strings.Contains(err.Error(), "empty") {
		t.Errorf("%q, %v", item, err)
	}
}

// TestSteadyState verifies that no memory is allocated after the buffers have grown.
func TestSteadyState(t *testing.T) {
	c := archive.NewCodec()
	doc := parse(t, read(t, "valid/task.json"))
	item := encode(t, c, doc.Source())
	var a, b []byte
	least := math.Inf(1)
	for range 20 { // with the race detector, the pool drops some buffers
		least = min(least, testing.AllocsPerRun(1, func() {
			a, _ = c.Append(a[:0], doc)
			b, _ = c.AppendJSON(b[:0], item)
		}))
	}
	if least > 0 {
		t.Errorf("at least %v allocations", least)
	}
}
