package archive_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// nested returns a document of the given depth, with alternating arrays and objects.
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

// TestDepth (item 264) verifies that both directions have the same depth limit.
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

// TestCounts (item 266) verifies that the numbers of elements and members are not limited.
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

// TestMaxItemBytes verifies the longest item that can result from JSON of the maximum length,
// except for a few bytes. Unless it runs at full size, the test uses an item of half that length,
// which is still longer than the JSON may be.
func TestMaxItemBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a few seconds")
	}
	const count = 1 << 16 // number of elements for which the array head takes five bytes
	tenth := unhex(t, "fb3fb999999999999a")
	inner, text := unhex(t, "9a00010000"), "["+strings.Repeat("0.1,", count-1)+"0.1]"
	inner = append(inner, bytes.Repeat(tenth, count)...)
	box := len(text)
	boxes := receipt.MaxBytes / (box + 1)
	rest := (receipt.MaxBytes - boxes*(box+1) - 1) / len("0.1,")
	textSize, itemSize := boxes*(box+1)+rest*len("0.1,")+1, 5+boxes*len(inner)+rest*len(tenth)
	if textSize > receipt.MaxBytes || textSize < receipt.MaxBytes-4 {
		t.Fatalf("%d bytes of JSON", textSize)
	}
	if itemSize > archive.MaxItemBytes || itemSize < archive.MaxItemBytes-1024 {
		t.Errorf("%d bytes of CBOR for %d of JSON, the limit is %d", itemSize, textSize, archive.MaxItemBytes)
	}
	var item []byte
	if testsize.Full() {
		item = binary.BigEndian.AppendUint32(unhex(t, "9a"), uint32(boxes+rest))
		item = append(append(item, bytes.Repeat(inner, boxes)...), bytes.Repeat(tenth, rest)...)
		text = "[" + strings.Repeat(text+",", boxes) + strings.Repeat("0.1,", rest-1) + "0.1]"
		if len(item) != itemSize || len(text) != textSize {
			t.Fatalf("%d and %d bytes, expected %d and %d", len(item), len(text), itemSize, textSize)
		}
	} else {
		boxes = receipt.MaxBytes/len(inner) + 1
		item = append(make([]byte, 0, 2+boxes*len(inner)), 0x98, byte(boxes))
		for range boxes {
			item = append(item, inner...)
		}
		text = "[" + strings.Repeat(text+",", boxes-1) + text + "]"
	}
	if got, err := archive.NewCodec().ToJSON(item); err != nil || string(got) != text {
		t.Errorf("%d bytes of JSON, %v", len(got), err)
	}
}

// TestSize verifies that the size limit for an archive is exactly the limit for its JSON.
func TestSize(t *testing.T) {
	c := archive.NewCodec()
	long := bytes.Repeat([]byte("x"), receipt.MaxBytes)
	long[0], long[len(long)-1] = '"', '"'
	boxed, err := c.Append(append(make([]byte, 0, len(long)+8), 0x81), parse(t, long))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decode(t, c, boxed[1:]); err != nil || !bytes.Equal(got, long) {
		t.Errorf("a string of the longest length: %v", err)
	}
	// The JSON form is two bytes too long, which is detected at the beginning of the string.
	if e := refused(t, c, boxed, "size_limit"); e.Offset != 1 {
		t.Error(e)
	}
	refused(t, c, make([]byte, archive.MaxItemBytes+1), "size_limit")
	longer := new(canon.Document)
	odd := `[ [ ], { } , 1.0, -0, true, null, "\u0061\u0000\/é", {"b" : [1, 2.50, {"" : {}}], "\u0061": "\ud83c\udf31"}]`
	grows := "[" + strings.Repeat("1e15,", receipt.MaxBytes/16) + odd + "]"
	if err := longer.Parse([]byte(grows), canon.Limits{}); err != nil {
		t.Fatal(err)
	}
	found := fmt.Sprintf("found %d", len(grows)+receipt.MaxBytes/16*len("000000000000")-len(odd)+len(parse(t, odd).AppendCanonical(nil)))
	if got, err := c.Append(nil, longer); got != nil || err == nil || err.(*archive.ItemError).Code != "size_limit" || !strings.HasSuffix(err.Error(), found) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestHostileMemory (item 265 and similar items) verifies that a stated length causes no
// allocation. An item with many small values must need little more memory than its JSON form may
// need.
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
		if took := after.TotalAlloc - before.TotalAlloc; took > test.most {
			t.Errorf("%s: took %d bytes", name, took)
		}
	}
}
