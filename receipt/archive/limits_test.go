package archive_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// nested is a document of the depth, arrays and objects in turn.
func nested(depth int) (text string, item []byte) {
	text = "0"
	item = []byte{0}
	for i := range depth {
		if i%2 == 0 {
			text, item = `{"a":`+text+`}`, append([]byte("\xa1\x61a"), item...)
		} else {
			text, item = `[`+text+`]`, append([]byte{0x81}, item...)
		}
	}
	return text, item
}

// TestDepth: item 264, what is too deep for the one is too deep for the other.
func TestDepth(t *testing.T) {
	c := archive.NewCodec()
	text, item := nested(receipt.MaxDepth)
	if got := encode(t, c, text); !bytes.Equal(got, item) {
		t.Errorf("%x, want %x", got, item)
	}
	if got, err := decode(t, c, item); err != nil || string(got) != text {
		t.Errorf("%s, %v", got, err)
	}
	text, item = nested(receipt.MaxDepth + 1)
	if got, err := c.Append(nil, parse(t, text)); got != nil || err == nil || err.(*archive.ItemError).Code != "depth_limit" {
		t.Errorf("%x, %v", got, err)
	}
	if e := refused(t, c, item, "depth_limit"); e.Offset != 128/2*(3+1) {
		t.Error(e)
	}
	for _, deep := range []int{65_535, 1 << 20} {
		refused(t, c, bytes.Repeat([]byte{0x81}, deep), "depth_limit")
		refused(t, c, bytes.Repeat([]byte{0xa1, 0x60}, deep), "depth_limit")
	}
	if got := encode(t, c, strings.Repeat("[", 128)+strings.Repeat("]", 128)); len(got) != 128 || got[127] != 0x80 {
		t.Errorf("%x", got)
	}
}

// TestCounts: item 266, no number of elements or members is too many.
func TestCounts(t *testing.T) {
	c, o := archive.NewCodec(), newOracle()
	array := "[" + strings.Repeat("1,", 131_072) + "2]"
	roundTrip(t, c, o, parse(t, array), "131,073 elements")
	var b []byte
	for i := range 131_073 {
		b = append(strconv.AppendInt(append(b, `,"`...), int64(i), 36), `":0`...)
	}
	b[0] = '{'
	roundTrip(t, c, o, parse(t, append(b, '}')), "131,073 members")
}

// TestMaxItemBytes: the longest item that JSON of the longest length has, but for
// a few bytes. In its modest size what is written is half as long, and still longer than
// JSON may be.
func TestMaxItemBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a few seconds")
	}
	const count = 1 << 16 // elements whose head takes five bytes
	tenth := unhex(t, "fb3fb999999999999a")
	inner, text := unhex(t, "9a00010000"), "["+strings.Repeat("0.1,", count-1)+"0.1]"
	inner = append(inner, bytes.Repeat(tenth, count)...)
	box := len(text)
	boxes := receipt.MaxBytes / (box + 1)
	rest := (receipt.MaxBytes - boxes*(box+1) - 1) / len("0.1,")
	item := binary.BigEndian.AppendUint32(unhex(t, "9a"), uint32(boxes+rest))
	item = append(append(item, bytes.Repeat(inner, boxes)...), bytes.Repeat(tenth, rest)...)
	text = "[" + strings.Repeat(text+",", boxes) + strings.Repeat("0.1,", rest-1) + "0.1]"
	if len(text) > receipt.MaxBytes || len(text) < receipt.MaxBytes-4 {
		t.Fatalf("%d bytes of JSON", len(text))
	}
	if len(item) > archive.MaxItemBytes || len(item) < archive.MaxItemBytes-1024 {
		t.Errorf("%d bytes of CBOR for %d of JSON, the limit is %d", len(item), len(text), archive.MaxItemBytes)
	}
	if !full() {
		boxes /= 2
		item = append([]byte{0x98, byte(boxes)}, bytes.Repeat(inner, boxes)...)
		text = "[" + strings.Repeat(text[1:box+1]+",", boxes-1) + text[1:box+1] + "]"
	}
	if got, err := archive.NewCodec().ToJSON(item); err != nil || string(got) != text {
		t.Errorf("%d bytes of JSON, %v", len(got), err)
	}
}

// TestSize: an archive holds exactly what JSON holds.
func TestSize(t *testing.T) {
	c := archive.NewCodec()
	long := `"` + strings.Repeat("x", receipt.MaxBytes-2) + `"`
	item := encode(t, c, long)
	if got, err := decode(t, c, item); err != nil || string(got) != long {
		t.Errorf("a string of the longest length: %v", err)
	}
	item = append([]byte{0x81}, item...) // two bytes more of JSON
	refused(t, c, item, "size_limit")
	refused(t, c, make([]byte, archive.MaxItemBytes+1), "size_limit")
	longer := new(canon.Document)
	grows := "[" + strings.Repeat("1e15,", receipt.MaxBytes/16) + "1]"
	if err := longer.Parse([]byte(grows), canon.Limits{}); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Append(nil, longer); got != nil || err == nil || err.(*archive.ItemError).Code != "size_limit" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestHostileMemory: item 265 and its kin. A stated length takes no memory, and
// an item of many small values little more than its JSON may.
func TestHostileMemory(t *testing.T) {
	c := archive.NewCodec()
	most := archive.MaxItemBytes
	empties := binary.BigEndian.AppendUint32(unhex(t, "9a"), uint32(most-5))
	empties = append(empties, bytes.Repeat([]byte{0x80}, most-5)...)
	for name, test := range map[string]struct {
		item []byte
		code string
		most uint64
	}{
		"array":        {unhex(t, "9bffffffffffffffff"), "syntax", 64 << 10},
		"bytes":        {unhex(t, "5b7fffffffffffffff"), "non_deterministic_cbor", 64 << 10},
		"map":          {unhex(t, "bbffffffffffffffff"), "syntax", 64 << 10},
		"text":         {unhex(t, "7a7fffffff61"), "syntax", 64 << 10},
		"tower":        {bytes.Repeat(unhex(t, "9a7fffffff"), 100), "syntax", 64 << 10},
		"empty arrays": {empties, "size_limit", 128 << 20},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		refused(t, c, test.item, test.code)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc - uint64(len(test.item)); took > test.most { // decode keeps a copy of the item
			t.Errorf("%s: took %d bytes", name, took)
		}
	}
}
