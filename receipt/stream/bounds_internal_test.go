package stream

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestStreamBounds verifies the limits on the number of streams and on the length of their names.
func TestStreamBounds(t *testing.T) {
	for _, c := range []struct {
		limit, streams, names int
		want                  bool
	}{
		{0, 1 << 30, 1 << 40, true},
		{2, 2, 2 * nameBytes, true},
		{2, 3, 0, false},
		{2, 2, 2*nameBytes + 1, false},
	} {
		if got := (&Bounds{Streams: c.limit}).allows(c.streams, c.names); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// TestWeight verifies that only large documents need a turn, and that CBOR needs more memory.
func TestWeight(t *testing.T) {
	text := bytes.Repeat([]byte(" "), largeDocument+1)
	for k, want := range map[Kind]int64{JSON: 2*int64(len(text)) + canon.Size(text), Lines: 2*int64(len(text)) + canon.Size(text), CBOR: 50 * int64(len(text)), Sequence: 50 * int64(len(text))} {
		if got := Weight(text, k); got != want {
			t.Errorf("%v: %d, expected %d", k, got, want)
		}
		if got := Weight(text[1:], k); got != 0 {
			t.Errorf("%v: %d for a small document", k, got)
		}
	}
}

// TestTurnWeight verifies that a large document waits for the memory that its kind needs.
func TestTurnWeight(t *testing.T) {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	text := append(bytes.Repeat([]byte(" "), largeDocument), "{}"...)
	item := append([]byte{0xa1, 0x61, 'a', 0x7a, 0, 4, 0, 0}, bytes.Repeat([]byte("a"), 4<<16)...) // a map with one string
	for kind, data := range map[Kind][]byte{JSON: text, CBOR: item} {
		var weights []int64
		turn := func(_ context.Context, weight int64) (func(), error) {
			weights = append(weights, weight)
			return func() {}, nil
		}
		for range Verify(t.Context(), v, bytes.NewReader(data), Options{Bounds: Bounds{Turn: turn}}).Reports() {
		}
		if !slices.Equal(weights, []int64{Weight(data, kind)}) {
			t.Errorf("%v: %v, expected %d", kind, weights, Weight(data, kind))
		}
	}
}
