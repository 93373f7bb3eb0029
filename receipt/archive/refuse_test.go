package archive_test

import (
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/archive"
)

// A refusal is an item that is not an archive, with the item's number in the checklist.
type refusal struct {
	number          int
	item, code, why string
	offset          int64
}

func refusals() []refusal {
	return []refusal{
		{251, "f818", "syntax", "the simple value 24 in two bytes", 0},
		{252, "1c", "syntax", "reserved additional information 28", 0},
		{252, "8200", "syntax", "expected an array of 2 elements, found the end", 2},
		{252, "82008100ff", "trailing_data", "found the byte 0xff", 4},
		{252, "8200ff", "syntax", "a break outside", 2},
		{253, "1817", "non_deterministic_cbor", "expected the shortest head, found an integer in 2 bytes", 0},
		{253, "8200190001", "non_deterministic_cbor", "found an integer in 3 bytes", 2},
		{253, "1b000000000000000c", "non_deterministic_cbor", "found an integer in 9 bytes", 0},
		{253, "3817", "non_deterministic_cbor", "found a negative integer in 2 bytes", 0},
		{253, "780161", "non_deterministic_cbor", "found a text of 1 bytes in 2 bytes", 0},
		{253, "980100", "non_deterministic_cbor", "found an array of 1 elements in 2 bytes", 0},
		{253, "b800", "non_deterministic_cbor", "found a map of 0 members in 2 bytes", 0},
		{253, "a178016101", "non_deterministic_cbor", "found a text of 1 bytes in 2 bytes", 1},
		{254, "fa3fc00000", "non_deterministic_cbor", "expected the byte 0xf9 of the deterministic encoding, found the byte 0xfa", 0},
		{254, "81fb3ff8000000000000", "non_deterministic_cbor", "expected the byte 0xf9", 1},
		{254, "fb3fb99999a0000000", "non_deterministic_cbor", "expected the byte 0xfa", 0},
		{255, "a2616201616101", "non_deterministic_cbor", `expected a key after "b" in the order of encodings, found "a"`, 4},
		{255, "a262616101616201", "non_deterministic_cbor", `expected a key after "aa" in the order of encodings, found "b"`, 5},
		{255, "a2616101616102", "duplicate_name", `expected a key after "a", found it again`, 4},
		{255, "81a260f660f6", "duplicate_name", `expected a key after ""`, 4},
		{256, "9fff", "non_deterministic_cbor", "expected a CBOR item of definite length, found one of indefinite length", 0},
		{256, "bf616101ff", "non_deterministic_cbor", "indefinite length", 0},
		{256, "7f6161ff", "non_deterministic_cbor", "indefinite length", 0},
		{256, "81a161619fff", "non_deterministic_cbor", "indefinite length", 4},
		{256, "a17f6161ff01", "non_deterministic_cbor", "indefinite length", 1},
		{256, "5f4100ff", "non_deterministic_cbor", "indefinite length", 0},
		{256, "1f", "syntax", "an integer or tag of indefinite length", 0},
		{257, "c074323031332d30332d32315432303a30343a30305a", "non_deterministic_cbor", "expected a value that JSON has, found tag 0", 0},
		{257, "c24101", "non_deterministic_cbor", "found tag 2", 0},
		{257, "d9d9f7a0", "non_deterministic_cbor", "found tag 55799", 0},
		{257, "d8184100", "non_deterministic_cbor", "found tag 24", 0},
		{257, "a1c1616101", "non_deterministic_cbor", "expected text as the key of a map, found tag 1", 1},
		{258, "40", "non_deterministic_cbor", "expected a value that JSON has, found a byte string of 0 bytes", 0},
		{258, "814161", "non_deterministic_cbor", "found a byte string of 1 bytes", 1},
		{258, "f7", "non_deterministic_cbor", "found undefined", 0},
		{258, "e0", "non_deterministic_cbor", "found the simple value 0", 0},
		{258, "f3", "non_deterministic_cbor", "found the simple value 19", 0},
		{258, "f8ff", "non_deterministic_cbor", "found the simple value 255", 0},
		{258, "f97e00", "number_range", "expected a finite number, found the float NaN", 0},
		{258, "f97c00", "number_range", "found the float +Inf", 0},
		{258, "81fbfff0000000000000", "number_range", "found the float -Inf", 1},
		{259, "a10000", "non_deterministic_cbor", "expected text as the key of a map, found an integer", 1},
		{259, "a1416100", "non_deterministic_cbor", "found a byte string of 1 bytes", 1},
		{259, "a1f600", "non_deterministic_cbor", "found null", 1},
		{259, "a18000", "non_deterministic_cbor", "found an array of 0 elements", 1},
		{260, "61ff", "invalid_utf8", "expected UTF-8, found the byte 0xff", 1},
		{260, "8262c3a962c080", "invalid_utf8", "found the byte 0xc0", 5},
		{260, "63eda080", "invalid_utf8", "found the byte 0xed", 1},
		{260, "a163e282c301", "invalid_utf8", "found the byte 0xe2", 2},
		{260, "62efbf", "invalid_utf8", "found the byte 0xef", 1}, // the replacement character was truncated
		{261, "f98000", "non_deterministic_cbor", "expected an integer, found the float -0", 0},
		{261, "fb8000000000000000", "non_deterministic_cbor", "expected an integer, found the float -0", 0},
		{262, "3bffffffffffffffff", "number_precision", "expected a number within ±(2^53−1), found one beyond", 0},
		{262, "1bffffffffffffffff", "number_precision", "found one beyond", 0},
		{262, "811b0020000000000000", "number_precision", "found one beyond", 1},
		{262, "3b001fffffffffffff", "number_precision", "found one beyond", 0},
		{262, "fa5a000000", "number_precision", "found one beyond", 0},
		{262, "fb7e37e43c8800759c", "number_precision", "found one beyond", 0},
		{263, "f94000", "non_deterministic_cbor", "expected an integer, found a float", 0},
		{263, "fa47c35000", "non_deterministic_cbor", "expected an integer, found a float", 0},
		{265, "9bffffffffffffffff", "syntax", "found the end of the input after 0 bytes", 9},
		{265, "5b7fffffffffffffff", "non_deterministic_cbor", "found a byte string of 9223372036854775807 bytes", 0},
		{265, "bbffffffffffffffff", "syntax", "expected a map of 18446744073709551615 members, found the end of the input", 9},
		{265, "7a7fffffff61", "syntax", "expected a text of 2147483647 bytes, found the end of the input after 1 bytes", 6},
		{265, "9b000042fa42fa42fa42", "syntax", "found the end of the input after 1 bytes", 10},
		{267, "0000", "trailing_data", "expected the end of the input after the item, found the byte 0x00", 1},
		{267, "a0a0", "trailing_data", "found the byte 0xa0", 1},
		{267, "f60a", "trailing_data", "found the byte 0x0a", 1},
		{267, "", "empty_input", "expected a CBOR item, found nothing", 0},

		// DAG-CBOR supports only 64-bit floats.
		{274, "fb3ff8000000000000", "non_deterministic_cbor", "expected the byte 0xf9", 0},
	}
}

// TestRefusals verifies items 251 to 265, 267, and 274.
func TestRefusals(t *testing.T) {
	c := archive.NewCodec()
	for _, test := range refusals() {
		e := refused(t, c, unhex(t, test.item), test.code)
		if !strings.Contains(e.Detail, test.why) || e.Offset != test.offset || e.Hint != "" {
			t.Errorf("%d, %s: %v (hint %q), want %q at %d", test.number, test.item, e, e.Hint, test.why, test.offset)
		}
	}
}

// TestDAGCBOR verifies the other half of item 274, which concerns keys that DAG-CBOR and this
// format sort in the same way.
func TestDAGCBOR(t *testing.T) {
	const item = "a661610161620261630362616104626162056361616106"
	text, err := decode(t, archive.NewCodec(), unhex(t, item))
	if want := `{"a":1,"aa":4,"aaa":6,"ab":5,"b":2,"c":3}`; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

// TestJSONIsNoArchive (item 273) verifies that JSON text is rejected as an archive.
func TestJSONIsNoArchive(t *testing.T) {
	c := archive.NewCodec()
	for _, text := range []string{"{", "{}", "[]", `{"schema":"receipt-2026-04-25"}`, "[1,2]", " {}", "\n\n[1]", string(read(t, "valid/task.json")), string(read(t, "edge/pretty.json"))} {
		if _, err := decode(t, c, []byte(text)); err == nil || !strings.Contains(err.Hint, "looks like JSON") {
			t.Errorf("%.30q: %v", text, err)
		}
		if _, err := archive.NewReader(strings.NewReader(text)).Next(); err == nil {
			if text[0] != ' ' && text[0] != '\n' { // as CBOR, these bytes are the integers -1 and 10
				t.Errorf("%.30q has a first item", text)
			}
		} else if e := err.(*archive.ItemError); !strings.Contains(e.Hint, "looks like JSON") {
			t.Errorf("%.30q: %v, hint %q", text, e, e.Hint)
		}
	}
}

// TestErrorsAreBounded verifies that untrusted text in a message is quoted and truncated.
func TestErrorsAreBounded(t *testing.T) {
	c := archive.NewCodec()
	key := "é\n\x1b" + strings.Repeat("ü", 5000)
	item := encode(t, c, `{"`+strings.Repeat("ü", 5000)+`":1}`)
	item[0]++ // adds a second member, which repeats the first member
	item = append(item, item[1:]...)
	e := refused(t, c, item, "duplicate_name")
	if len(e.Error()) > 300 || strings.ContainsAny(e.Error(), "\n\x1b") {
		t.Errorf("error text %q", e.Error())
	}
	item = append([]byte{0xa2, 0x79, 0x27, 0x14}, key...)
	item = append(item, 0, 0x61, '\n', 0)
	e = refused(t, c, item, "non_deterministic_cbor")
	if len(e.Error()) > 300 || strings.ContainsAny(e.Error(), "\n\x1b") {
		t.Errorf("error text %q", e.Error())
	}
}
