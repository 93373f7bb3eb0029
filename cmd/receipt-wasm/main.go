//go:build js && wasm

// Command receipt-wasm is the core of the verification page, for a browser or for
// node: the same packages as the command receipt, as WebAssembly.
//
// It sets globalThis.receiptCore, whose methods return promises:
//
//	tool                                         what the summary calls this program
//	isKeys(bytes)                                whether a file is one of keys
//	verify(inputs, keys, options, sink)          null when done
//	open(input, index)                           {source, canonical, preimage, hash, shell, targets}
//	tamper(source, pointer)                      {source, target}
//
// An input is {name, size, read(offset, length)}, where read returns a promise of
// a Uint8Array; so a file of any size is read piece by piece. A key file is
// {name, bytes}, options are the JSON text of core.Options, a sink has the methods
// of core.Sink, which get Uint8Arrays. Errors are of class Error, for a person.
//
// It then calls globalThis.receiptReady, and waits for calls forever.
package main

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"syscall/js"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt-wasm/internal/core"
	"github.com/receiptkit/receiptkit/receipt"
)

func main() {
	js.Global().Set("receiptCore", map[string]any{
		"tool":   tool(),
		"isKeys": promising(func(args []js.Value) (any, error) { return core.IsKeys(bytesOf(args[0])), nil }),
		"verify": promising(verify),
		"open":   promising(open),
		"tamper": promising(tamper),
	})
	js.Global().Call("receiptReady")
	select {}
}

func tool() string {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return "receipt " + version
}

func verify(args []js.Value) (any, error) {
	inputs, files, options, out := args[0], args[1], args[2], args[3]
	r := &core.Request{Clock: time.Now, Tool: tool()}
	for i := range inputs.Length() {
		r.Sources = append(r.Sources, source(inputs.Index(i)))
	}
	for i := range files.Length() {
		f := files.Index(i)
		r.Keys = append(r.Keys, core.KeyFile{Name: f.Get("name").String(), Data: bytesOf(f.Get("bytes"))})
	}
	if err := json.Unmarshal([]byte(options.String()), &r.Options); err != nil {
		return nil, err
	}
	return nil, core.Verify(context.Background(), r, sink{out})
}

func open(args []js.Value) (any, error) {
	d, err := core.Open(context.Background(), source(args[0]), args[1].Int())
	if err != nil {
		return nil, err
	}
	targets, err := receipt.AppendJSON(nil, d.Targets)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"source": arrayOf(d.Source), "canonical": arrayOf(d.Canonical), "preimage": arrayOf(d.Preimage),
		"hash": d.Hash, "shell": d.Shell, "targets": string(targets),
	}, nil
}

func tamper(args []js.Value) (any, error) {
	text, target, err := core.Tamper(bytesOf(args[0]), args[1].String())
	if err != nil {
		return nil, err
	}
	described, err := receipt.AppendJSON(nil, target)
	if err != nil {
		return nil, err
	}
	return map[string]any{"source": arrayOf(text), "target": string(described)}, nil
}

// A sink hands results to JavaScript, as copies.
type sink struct{ js.Value }

func (s sink) Keys(text []byte)      { s.Call("keys", arrayOf(text)) }
func (s sink) Lines(text []byte)     { s.Call("lines", arrayOf(text)) }
func (s sink) Finding(text []byte)   { s.Call("finding", arrayOf(text)) }
func (s sink) Summary(text []byte)   { s.Call("summary", arrayOf(text)) }
func (s sink) Aggregate(text []byte) { s.Call("aggregate", arrayOf(text)) }
