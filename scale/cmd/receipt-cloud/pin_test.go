package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/object"
)

// TestPin verifies that another process can use the pin of an opened object to open the same
// version, and gets an error if the object was replaced.
func TestPin(t *testing.T) {
	l, ctx := newLake(t), context.Background()
	l.put("a.jsonl", []byte("one\n"))
	at, err := object.Parse(l.address("a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	listing, err := object.List(ctx, []object.Address{at})
	if err != nil {
		t.Fatal(err)
	}
	defer listing.Close()

	// read opens a pin in a separate process, and returns the content and the pin as it would be
	// sent.
	read := func(p object.Pin) (string, object.Pin, error) {
		var buckets object.Buckets
		defer buckets.Close()
		source, pinned, err := buckets.Source(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		r, err := source.Open()
		if err != nil {
			return "", p, err
		}
		defer r.Close()
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		now, err := pinned()
		if err != nil {
			t.Fatal(err)
		}
		sent, err := json.Marshal(now)
		if err != nil {
			t.Fatal(err)
		}
		var received object.Pin
		if err := json.Unmarshal(sent, &received); err != nil {
			t.Fatal(err)
		}
		return string(data), received, nil
	}

	text, pinned, err := read(listing.Pins[0])
	if err != nil || text != "one\n" || !bytes.Contains(pinned.Version, []byte("etag")) {
		t.Fatalf("%q, %s: %v", text, pinned.Version, err)
	}
	if text, _, err := read(pinned); err != nil || text != "one\n" {
		t.Fatalf("again: %q: %v", text, err)
	}

	l.put("a.jsonl", []byte("two\n"))
	if text, _, err := read(pinned); !errors.Is(err, stream.ErrChanged) {
		t.Fatalf("replaced: %q: %v", text, err)
	}
	if text, _, err := read(listing.Pins[0]); err != nil || text != "two\n" {
		t.Fatalf("without a version: %q: %v", text, err)
	}
}
