package archive_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// A piece is an item that a Reader returned.
type piece struct {
	bytes  []byte
	offset int64
}

// pieces reads a sequence until io.EOF or another error, and checks the properties that every
// sequence must have.
func pieces(tb testing.TB, source io.Reader) ([]piece, error) {
	tb.Helper()
	r := archive.NewReader(source)
	if r.Offset() != 0 {
		tb.Error("a new Reader is somewhere")
	}
	var all []piece
	offset := int64(0)
	for {
		item, err := r.Next()
		if err != nil {
			checkEnd(tb, r, item, err, len(all), offset)
			return all, err
		}
		all = append(all, piece{bytes.Clone(item), r.Offset()})
		if r.Offset() != offset || len(item) == 0 || cap(item) != len(item) {
			tb.Fatalf("item %d at %d of %d bytes is said to be at %d", len(all), offset, len(item), r.Offset())
		}
		offset += int64(len(item))
	}
}

// checkEnd checks that an error is returned without a value, that later calls return the same
// error, and that the location of the invalid item is correct.
func checkEnd(tb testing.TB, r *archive.Reader, item []byte, err error, before int, offset int64) {
	tb.Helper()
	again, err2 := r.Next()
	if item != nil || again != nil || err2 != err {
		tb.Fatalf("%x, %v and then %x, %v", item, err, again, err2)
	}
	var refused *archive.ItemError
	if errors.As(err, &refused) {
		checkError(tb, refused, 1<<40)
		if refused.Offset < offset {
			tb.Errorf("%v lies before the item at %d", refused, offset)
		}
	}
	if (refused != nil || err == io.EOF) && r.Offset() != offset {
		tb.Errorf("%v: ended at %d after %d items, expected %d", err, r.Offset(), before, offset)
	}
}

// chunks returns readers that deliver a sequence in different ways.
func chunks(sequence []byte) map[string]io.Reader {
	source := func() io.Reader { return bytes.NewReader(sequence) }
	return map[string]io.Reader{
		"whole": source(), "bytes": iotest.OneByteReader(source()), "halves": iotest.HalfReader(source()),
		"with the error": iotest.DataErrReader(source()), "sevens": &chunked{rest: sequence, size: 7}, "sometimes nothing": &chunked{rest: sequence, size: 3, idle: true},
	}
}

type chunked struct {
	rest []byte
	size int
	idle bool // every second Read returns nothing
	odd  bool
}

func (c *chunked) Read(p []byte) (int, error) {
	if c.odd = !c.odd; c.idle && c.odd {
		return 0, nil
	}
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func TestReader(t *testing.T) {
	c := archive.NewCodec()
	texts := []string{"0", `{"a":[1,2,{"b":null}]}`, `"` + strings.Repeat("x", 200_000) + `"`, "[]", `"` + strings.Repeat("y", 65_536-5-8) + `"`, "0.1", "{}"}
	var sequence []byte
	for _, text := range texts {
		sequence = append(sequence, encode(t, c, text)...)
	}
	for name, source := range chunks(sequence) {
		all, err := pieces(t, source)
		if err != io.EOF || len(all) != len(texts) {
			t.Errorf("%s: %d items, %v", name, len(all), err)
			continue
		}
		for i, p := range all {
			if text, err := decode(t, c, p.bytes); err != nil || string(text) != texts[i] {
				t.Errorf("%s, item %d: %.50s, %v", name, i+1, text, err)
			}
		}
	}
	for name, source := range chunks(nil) {
		if all, err := pieces(t, source); err != io.EOF || len(all) != 0 {
			t.Errorf("%s: %d items of nothing, %v", name, len(all), err)
		}
	}
}

// TestReaderRefuses (item 275) verifies that incorrect lengths and all other errors end a sequence.
func TestReaderRefuses(t *testing.T) {
	for _, test := range []struct {
		sequence, want string
		items          int
		code           string
	}{
		{"00 61", "offset 2: expected the rest of item 2, begun at offset 1, found the end of the input", 1, "syntax"},
		{"00 8201", "offset 3: expected the rest of item 2, begun at offset 1, found the end of the input", 1, "syntax"},
		{"00 1b0000", "offset 4: expected the rest of item 2, begun at offset 1, found the end of the input", 1, "syntax"},
		{"c1", "offset 1: expected the rest of item 1, begun at offset 0, found the end of the input", 0, "syntax"},
		{"00 a0 1c", "offset 2: expected a CBOR item of definite length, found the reserved additional information 28 in item 3, begun at offset 2", 2, "syntax"},
		{"00 8200ff", "offset 3: expected a CBOR item of definite length, found a break outside of an item of indefinite length in item 2, begun at offset 1", 1, "syntax"},
		{"81f810", "offset 1: expected a CBOR item of definite length, found the simple value 16 in two bytes in item 1, begun at offset 0", 0, "syntax"},
		{"00 9f00ff 00", "offset 1: expected a CBOR item of definite length, found one of indefinite length in item 2, begun at offset 1", 1, "non_deterministic_cbor"},
		{"00 7a7fffffff61", "offset 1: expected an item of at most 37749760 bytes, found a text of 2147483647 bytes in item 2, begun at offset 1", 1, "size_limit"},
		{"9bffffffffffffffff", "offset 0: expected an item of at most 37749760 bytes, found an array of 18446744073709551615 elements in item 1, begun at offset 0", 0, "size_limit"},
		{"82 00 bbffffffffffffffff", "offset 2: expected an item of at most 37749760 bytes, found a map of 18446744073709551615 members in item 1, begun at offset 0", 0, "size_limit"},
		{"5a024003fb", "offset 5: expected the rest of item 1, begun at offset 0, found the end of the input", 0, "syntax"},
		{"5a024003fc", "offset 0: expected an item of at most 37749760 bytes, found a byte string of 37749756 bytes in item 1, begun at offset 0", 0, "size_limit"},
		{"5b7fffffffffffffff", "offset 0: expected an item of at most 37749760 bytes, found a byte string of 9223372036854775807 bytes in item 1, begun at offset 0", 0, "size_limit"},
		{"5bffffffffffffffff", "offset 0: expected an item of at most 37749760 bytes, found a byte string of 18446744073709551615 bytes in item 1, begun at offset 0", 0, "size_limit"},
	} {
		sequence := unhex(t, strings.ReplaceAll(test.sequence, " ", ""))
		for name, source := range chunks(sequence) {
			all, err := pieces(t, source)
			var e *archive.ItemError
			if len(all) != test.items || !errors.As(err, &e) || e.Code != test.code || e.Error() != test.want {
				t.Errorf("%s, %s: %d items\ngot  %v\nwant %s", test.sequence, name, len(all), err, test.want)
			}
		}
	}
}

// TestReaderDamage verifies that the beginning of an item is reported as damaged if no continuation
// can make it an archive of an object.
func TestReaderDamage(t *testing.T) {
	for sequence, want := range map[string]string{
		"a0 a1":                               "",
		"a2 6161":                             "",
		"a1 6161 b9":                          "",
		"a2 6161 63c3a9":                      "", // the text may still be valid
		"ba 00010000 6161 82":                 "",
		"d2 84 43":                            "", // COSE_Sign1
		"82 00":                               "offset 0: expected a map, found the byte 0x82",
		"a0 c1":                               "offset 1: expected a map, found the byte 0xc1",
		"a2 00":                               "offset 1: expected text as the key of a map, found an integer",
		"a2 6161 42":                          "offset 3: expected a value that JSON has, found a byte string of 2 bytes",
		"a2 6161 1801":                        "offset 3: expected the shortest head, found an integer in 2 bytes",
		"a2 6161 1817":                        "offset 3: expected the shortest head, found an integer in 2 bytes",
		"a2 6161 1818":                        "",
		"a2 6161 1900ff":                      "offset 3: expected the shortest head, found an integer in 3 bytes",
		"a2 6161 190100":                      "",
		"a2 6161 1a0000ffff":                  "offset 3: expected the shortest head, found an integer in 5 bytes",
		"a2 6161 1a00010000":                  "",
		"a2 6161 1b00000000ffffffff":          "offset 3: expected the shortest head, found an integer in 9 bytes",
		"a2 6161 1b0000000100000000":          "",
		"a2 6161 61ff":                        "offset 4: expected UTF-8, found the byte 0xff",
		"a3 6161 00 6161":                     `offset 4: expected a key after "a", found it again`,
		"a3 6162 00 6161":                     `offset 4: expected a key after "b" in the order of encodings, found "a"`,
		"a2 6161 f90000":                      "offset 3: expected an integer, found the float 0",
		"a2 6161 f93800":                      "",
		"a2 6161 fa3dcccccd":                  "",
		"a2 6161 fb3ff199999999999a":          "",
		"a2 6161 fa3f000000":                  "offset 3: expected the shortest float, found one in 5 bytes",
		"a2 6161 fb3fb99999a0000000":          "offset 3: expected the shortest float, found one in 9 bytes",
		"a2 6161 7a01000001":                  "offset 3: expected at most 16777216 bytes of canonical JSON, found more",
		"a2 6161 9a01000001":                  "offset 3: expected at most 16777216 bytes of canonical JSON, found more",
		"a1 6161" + strings.Repeat("81", 128): "offset 130: expected at most 128 nested levels, found more",
	} {
		r := archive.NewReader(bytes.NewReader(unhex(t, strings.ReplaceAll(sequence, " ", ""))))
		var err error
		for err == nil {
			_, err = r.Next()
		}
		if damage := r.Damage(); !errors.Is(err, io.ErrUnexpectedEOF) || (damage == nil) != (want == "") || damage != nil && damage.Error() != want {
			t.Errorf("%s: %v, %v; want %q", sequence, err, damage, want)
		}
	}
}

// TestReaderJudgesNot verifies that a well-formed item that is not an archive does not end the
// sequence. The decoder rejects the item, and reading continues.
func TestReaderJudgesNot(t *testing.T) {
	all, err := pieces(t, bytes.NewReader(unhex(t, "c100"+"4161"+"f7"+"f94000"+"1800"+"a2616201616101"+"61ff"+"00")))
	if err != io.EOF || len(all) != 8 {
		t.Errorf("%d items, %v", len(all), err)
	}
	c := archive.NewCodec()
	for i, p := range all {
		if _, err := decode(t, c, p.bytes); (err == nil) != (i == 7) {
			t.Errorf("item %d: %v", i+1, err)
		}
	}
}

// TestReaderSourceFails verifies that all items before an error from the source are returned first.
// The error must then be returned unchanged.
func TestReaderSourceFails(t *testing.T) {
	failure := errors.New("disk on fire")
	all, err := pieces(t, io.MultiReader(strings.NewReader("\x00\x00\x82"), iotest.ErrReader(failure)))
	if len(all) != 2 || err != failure {
		t.Errorf("%d items, %v", len(all), err)
	}
	if _, err := archive.NewReader(idle{}).Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
	if _, err := archive.NewReader(liar{}).Next(); err == nil {
		t.Error("believed a reader that lies")
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

type liar struct{}

func (liar) Read(p []byte) (int, error) { return len(p) + 1, nil }

// TestReaderDoesNotWait verifies that an item is returned as soon as its last byte is read.
func TestReaderDoesNotWait(t *testing.T) {
	item := encode(t, archive.NewCodec(), `["`+strings.Repeat("x", 100_000)+`",1]`)
	source, sink := io.Pipe()
	defer source.Close()
	go func() {
		for _, part := range [][]byte{item[:1], item[1:70_000], item[70_000:], item} {
			if _, err := sink.Write(part); err != nil {
				return
			}
		}
	}() // and never closes
	r := archive.NewReader(source)
	done := make(chan error, 1)
	go func() {
		for range 2 {
			if got, err := r.Next(); err != nil || !bytes.Equal(got, item) {
				done <- fmt.Errorf("%d bytes, %v", len(got), err)
				return
			}
		}
		done <- nil
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("waits for more than the item")
	}
}

// TestReaderIsLinear verifies that reading a long item in small pieces, and reading many small
// items, takes linear time.
func TestReaderIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads a million pieces")
	}

	// The time allowed is a few times the usual duration. Quadratic algorithms take longer.
	size, items, most := 4_000_000, 200_000, 1500*time.Millisecond
	if testsize.Full() {
		size, items, most = 30_000_000, 1_000_000, 20*time.Second
	}
	long := append(binary.BigEndian.AppendUint32([]byte{0x9a}, uint32(size)), bytes.Repeat([]byte{0}, size)...)
	inTime(t, "a long item", most, func() {
		if all, err := pieces(t, &chunked{rest: long, size: 100}); err != io.EOF || len(all) != 1 || len(all[0].bytes) != len(long) {
			t.Errorf("%d items, %v", len(all), err)
		}
	})
	small := bytes.Repeat([]byte("\xa1\x61a\x01"), items)
	inTime(t, "small items", most, func() {
		r := archive.NewReader(&chunked{rest: small, size: 10})
		drain(t, r)
		if r.Offset() != int64(len(small)) {
			t.Errorf("%d bytes of %d items", r.Offset(), items)
		}
	})
}

// inTime runs work that normally takes a fraction of the given time. It tries three times, because
// the machine may be busy for a while.
func inTime(t *testing.T, name string, most time.Duration, do func()) {
	t.Helper()
	var took time.Duration
	for range 3 {
		began := time.Now()
		do()
		if took = time.Since(began); took <= most {
			return
		}
	}
	t.Errorf("%s: takes %v", name, took)
}

// TestReaderMemory verifies that a Reader uses at most twice as much memory as the part of an item
// that was read, regardless of the lengths stated in the item.
func TestReaderMemory(t *testing.T) {
	lie := append([]byte{0x7a, 0x02, 0x00, 0x00, 0x00}, bytes.Repeat([]byte{'x'}, 1<<20)...) // says 32 MiB
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := archive.NewReader(bytes.NewReader(lie)).Next(); err == nil {
		t.Fatal("a cut off item was accepted")
	}
	runtime.ReadMemStats(&after)
	// The buffer grows to 64 KiB, 128 KiB, and so on up to 2 MiB.
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20+64<<10 {
		t.Errorf("took %d bytes for 1 MiB", took)
	}
}

// libraryMode returns a decoding mode that accepts a single item in a sequence as documented for
// Reader.Next.
func libraryMode() cbor.DecMode {
	mode, err := cbor.DecOptions{
		MaxNestedLevels: 65_535, MaxArrayElements: archive.MaxItemBytes, MaxMapPairs: archive.MaxItemBytes,
		IndefLength: cbor.IndefLengthForbidden,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	return mode
}

// split uses the library to split a sequence.
func split(mode cbor.DecMode, sequence []byte) (items [][]byte, err error) {
	d := mode.NewDecoder(bytes.NewReader(sequence))
	for begin := 0; ; begin = d.NumBytesRead() {
		if err := d.Skip(); err != nil {
			return items, err
		}
		items = append(items, sequence[begin:d.NumBytesRead()])
	}
}
