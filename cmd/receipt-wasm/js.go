//go:build js && wasm

package main

import (
	"errors"
	"fmt"
	"io"
	"syscall/js"

	"github.com/receiptkit/receiptkit/receipt/stream"
)

// pieceBytes is the maximum number of bytes that one call requests from an input.
const pieceBytes = 1 << 20

// source returns a source that reads an input of the page, which can be read any number of times.
func source(input js.Value) stream.Source {
	return stream.Source{Name: input.Get("name").String(), Open: func() (io.ReadCloser, error) {
		return &reader{input: input, size: input.Get("size").Float()}, nil
	}}
}

// A reader reads an input from the beginning. Offsets are JavaScript numbers, which are exact up to
// 2^53.
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

// arrayOf copies data into a Uint8Array. It returns null for nil.
func arrayOf(data []byte) js.Value {
	if data == nil {
		return js.Null()
	}
	array := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(array, data)
	return array
}

// promising converts f to a JavaScript function that returns a promise. Each call of f runs in its
// own goroutine, because it may wait for promises. If f panics, the promise is rejected with an
// error that states that nothing was decided.
func promising(f func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		var executor js.Func
		executor = js.FuncOf(func(_ js.Value, settle []js.Value) any {
			go func() {
				defer executor.Release()
				result, err := guarded(f, args)
				if err != nil {
					settle[1].Invoke(js.Global().Get("Error").New(err.Error()))
					return
				}
				settle[0].Invoke(result)
			}()
			return nil
		})

		return js.Global().Get("Promise").New(executor)
	})
}

func guarded(f func(args []js.Value) (any, error), args []js.Value) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("the program failed: %v; there is no verdict", p)
		}
	}()
	return f(args)
}

// await waits for a promise to settle.
func await(promise js.Value) (js.Value, error) {
	type settled struct {
		value js.Value
		err   error
	}

	// A promise settles only once, so with a buffer of one, neither function blocks.
	done := make(chan settled, 1)
	fulfilled := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- settled{value: args[0]}
		return nil
	})
	defer fulfilled.Release()

	rejected := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- settled{err: errors.New(js.Global().Get("String").Invoke(args[0]).String())}
		return nil
	})
	defer rejected.Release()

	promise.Call("then", fulfilled, rejected)
	s := <-done
	return s.value, s.err
}
