package archive_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// TestEveryShortItem verifies that an item is accepted if and only if the library decodes it and
// encodes it as the same item. It tries all items of up to two bytes and selected items of three
// bytes. Some of the items are also split as sequences.
func TestEveryShortItem(t *testing.T) {
	c, o := archive.NewCodec(), newOracle()
	accepted, total, least, third, split := 0, 0, 9_000, 21, 20
	if testsize.Full() {
		least, third, split = 20_000, 7, 5
	}
	check := func(item ...byte) {
		total++
		text, refused := decode(t, c, item)
		if accepts := o.accepts(item); accepts != (refused == nil) {
			t.Fatalf("%x: %s, %v; the library returns %v", item, text, refused, accepts)
		}
		if refused == nil {
			accepted++
		}
		if len(item) < 3 && total%split == 0 { // each call allocates its own buffer
			compareSplit(t, item)
		}
	}
	for a := range 256 {
		check(byte(a))
		for b := range 256 {
			check(byte(a), byte(b))
		}
	}
	for _, a := range []byte{0x18, 0x19, 0x38, 0x39, 0x61, 0x62, 0x78, 0x81, 0x82, 0x98, 0xa1, 0xb8, 0xc1, 0xd8, 0xf8, 0xf9} {
		for b := range 256 {
			for c := 0; c < 256; c += third {
				check(a, byte(b), byte(c))
			}
		}
	}
	t.Logf("%d of %d accepted", accepted, total)
	if accepted < least || accepted > total/2 {
		t.Errorf("%d of %d accepted", accepted, total)
	}
}
