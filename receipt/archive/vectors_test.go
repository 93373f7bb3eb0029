package archive_test

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// A vector is a test case from the public vectors.
type vector struct {
	Hex        string
	Decoded    json.RawMessage
	Diagnostic string
	Roundtrip  bool
	Why        string
}

func load(t *testing.T, elem ...string) []vector {
	t.Helper()
	var all []vector
	if err := json.Unmarshal(vectors.File(t, elem...), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// judge decodes every vector. It returns the number of accepted vectors and the number of rejected
// vectors per code. Each accepted item must be returned byte for byte and must represent the value
// that the vector states, if any.
func judge(t *testing.T, c *archive.Codec, all []vector, names map[string]string) (accepted int, codes map[string]int) {
	t.Helper()
	codes = map[string]int{}
	for _, v := range all {
		item := unhex(t, v.Hex)
		text, refused := decode(t, c, item)
		if want, named := names[v.Hex]; named && refused != nil && refused.Code != want || named && refused == nil {
			t.Errorf("%s (%s): %s, %v; want %s", v.Hex, v.Diagnostic, text, refused, want)
		}
		if refused != nil {
			codes[refused.Code]++
			continue
		}
		accepted++
		if got := hex.EncodeToString(encode(t, c, text)); got != v.Hex {
			t.Errorf("%s: came back as %s", v.Hex, got)
		}
		if v.Decoded != nil {
			if want := parse(t, v.Decoded).AppendCanonical(nil); string(want) != string(text) {
				t.Errorf("%s: %s, want %s", v.Hex, text, want)
			}
		}
	}
	return accepted, codes
}

func wantCodes(t *testing.T, got, want map[string]int) {
	t.Helper()
	for code, n := range want {
		if got[code] != n {
			t.Errorf("%d refused with %s, want %d", got[code], code, n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("codes %v, want %v", got, want)
	}
}

// appendixA lists the vectors from RFC 8949 appendix A that are rejected for reasons other than
// "JSON has no such value" or "not deterministic".
func appendixA() map[string]string {
	return map[string]string{
		"1bffffffffffffffff": "number_precision",
		"3bffffffffffffffff": "number_precision",
		"fa7f7fffff":         "number_precision", // 3.4028234663852886e+38 is integral
		"fb7e37e43c8800759c": "number_precision", // 1e300
		"f97c00":             "number_range",
		"f97e00":             "number_range",
		"fb7ff8000000000000": "number_range",
		"f90000":             "non_deterministic_cbor", // 0.0 is the integer 0
		"f98000":             "non_deterministic_cbor", // 261
		"f93c00":             "non_deterministic_cbor",
		"fa47c35000":         "non_deterministic_cbor", // 100000.0
		"f7":                 "non_deterministic_cbor",
		"a201020304":         "non_deterministic_cbor",
	}
}

// TestAppendixA (item 251) verifies the vectors from RFC 7049 and RFC 8949. The rejected items are
// integral floats (7), numbers beyond ±(2^53−1) (4), bignums, other tags, and byte strings (10),
// NaN and infinities (9), undefined and other simple values (4), integer keys (1), and indefinite
// lengths (11 and 10).
func TestAppendixA(t *testing.T) {
	c := archive.NewCodec()
	names := appendixA()
	names["f818"] = "syntax" // allowed by RFC 7049, but not well formed according to RFC 8949
	old := load(t, "cbor-appendix-a", "appendix_a.json")
	accepted, codes := judge(t, c, old, names)
	if len(old) != 82 || accepted != 37 {
		t.Errorf("RFC 7049: accepted %d of %d", accepted, len(old))
	}
	wantCodes(t, codes, map[string]int{"syntax": 1, "number_precision": 4, "number_range": 9, "non_deterministic_cbor": 31})

	now := load(t, "cbor-rfc8949", "rfc8949-appendix-a.json")
	accepted, codes = judge(t, c, now, appendixA())
	if len(now) != 81 || accepted != 37 {
		t.Errorf("RFC 8949: accepted %d of %d", accepted, len(now))
	}
	wantCodes(t, codes, map[string]int{"number_precision": 4, "number_range": 9, "non_deterministic_cbor": 31})
}

// TestAppendixF (item 252) verifies that no malformed item is accepted. If an item has an
// indefinite length or a tag before the malformed part, it is rejected for that reason instead.
func TestAppendixF(t *testing.T) {
	all := load(t, "cbor-rfc8949", "rfc8949-appendix-f.json")
	accepted, codes := judge(t, archive.NewCodec(), all, nil)
	if len(all) != 94 || accepted != 0 {
		t.Errorf("accepted %d of %d", accepted, len(all))
	}
	wantCodes(t, codes, map[string]int{"syntax": 65, "non_deterministic_cbor": 29})
}

// TestDCBOR verifies the vectors from draft-mcnally-deterministic-cbor, which is stricter than RFC
// 8949 section 4.2.1 and allows larger numbers.
func TestDCBOR(t *testing.T) {
	c := archive.NewCodec()
	valid := load(t, "cbor-dcbor-hildjj", "valid.json")
	accepted, codes := judge(t, c, valid, map[string]string{
		// dCBOR also allows 64-bit integers, and floats beyond the range of 64-bit integers. A
		// receipt could not distinguish such numbers from their neighbors.
		"1bffffffffffffffff": "number_precision", "3b7ffffffffffffbff": "number_precision", "1bfffffffffffff800": "number_precision",
		"fa5f800000": "number_precision", "fadf7fffff": "number_precision", "fa7f7fffff": "number_precision",
		"fb47efffffe0000001": "number_precision", "fb7fefffffffffffff": "number_precision",
		// JSON cannot represent these values.
		"f97c00": "number_range", "f9fc00": "number_range", "f97e00": "number_range",
	})
	if len(valid) != 40 || accepted != 29 {
		t.Errorf("valid: accepted %d of %d", accepted, len(valid))
	}
	wantCodes(t, codes, map[string]int{"number_precision": 8, "number_range": 3})

	invalid := load(t, "cbor-dcbor-hildjj", "invalid.json")
	for _, v := range invalid {
		// dCBOR requires NFC, but the text in a receipt is never normalized.
		if _, refused := decode(t, c, unhex(t, v.Hex)); (refused == nil) != (v.Hex == "6345cc88") {
			t.Errorf("%s (%s): %v", v.Hex, v.Diagnostic, refused)
		}
	}
	if len(invalid) != 37 {
		t.Errorf("%d invalid ones", len(invalid))
	}
}
