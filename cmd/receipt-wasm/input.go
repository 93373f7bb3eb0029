//go:build js && wasm

package main

import (
	"fmt"
	"io"
	"syscall/js"

	"github.com/receiptkit/receiptkit/receipt/stream"
)

// pieceBytes is how much of an input is asked for at once.
const pieceBytes = 1 << 20

// source reads an input of the page, any number of times.
func source(input js.Value) stream.Source {
	return stream.Source{Name: input.Get("name").String(), Open: func() (io.ReadCloser, error) {
		return &reader{input: input, size: input.Get("size").Float()}, nil
	}}
}

// A reader reads an input from its beginning. Offsets are JavaScript numbers,
// exact to 2^53.
type reader struct {
	input        js.Value
	offset, size float64
	piece        []byte
}

func (r *reader) Read(p []byte) (int, error) {
	if len(r.piece) == 0 {
		if r.offset >= r.size {
			return 0, io.EOF
		}
		if err := r.fetch(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.piece)
	r.piece = r.piece[n:]
	return n, nil
}

func (r *reader) fetch() error {
	want := min(pieceBytes, r.size-r.offset)
	value, err := await(r.input.Call("read", r.offset, want))
	if err != nil {
		return err
	}
	r.piece = bytesOf(value)
	if float64(len(r.piece)) != want {
		return fmt.Errorf("expected %.0f bytes at offset %.0f, found %d: the file has changed", want, r.offset, len(r.piece))
	}
	r.offset += want
	return nil
}

func (r *reader) Close() error { return nil }

// bytesOf copies a Uint8Array.
func bytesOf(array js.Value) []byte {
	data := make([]byte, array.Get("length").Int())
	js.CopyBytesToGo(data, array)
	return data
}

// arrayOf copies data into a Uint8Array; nil into null.
func arrayOf(data []byte) js.Value {
	if data == nil {
		return js.Null()
	}
	array := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(array, data)
	return array
}
