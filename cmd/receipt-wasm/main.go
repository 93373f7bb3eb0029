//go:build js && wasm

// Command receipt-wasm is the core of the verification page, for a browser or for
// node: the same packages as the command receipt, as WebAssembly.
//
// It sets globalThis.receiptCore, whose methods return promises:
//
//	tool                                         what the summary calls this program
//	recognize(head, whole)                       what a file is: the JSON text of kind.Found
//	verify(inputs, keys, beside, options, sink)  null when done
//	fitting(input, index, beside)                places of those that are of it, an Array
//	open(input, index)                           {source, headline, canonical, preimage, hash, shell, targets}
//	tamper(source, pointer)                      {source, target}
//
// An input is {name, size, read(offset, length)}, where read returns a promise of
// a Uint8Array; so a file of any size is read piece by piece. A key file is
// {name, bytes}, a file beside receipts {name, kind, bytes}, options are the JSON text of core.Options, a sink has the methods
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
	"github.com/receiptkit/receiptkit/receipt/kind"
)

func main() {
	js.Global().Set("receiptCore", map[string]any{
		"tool":      tool(),
		"recognize": promising(recognize),
		"fitting":   promising(fitting),
		"verify":    promising(verify),
		"open":      promising(open),
		"tamper":    promising(tamper),
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

func recognize(args []js.Value) (any, error) {
	text, err := receipt.AppendJSON(nil, core.Recognize(bytesOf(args[0]), args[1].Bool()))
	return string(text), err
}

func fitting(args []js.Value) (any, error) {
	places, err := core.Fitting(context.Background(), source(args[0]), args[1].Int(), besideOf(args[2]))
	if err != nil {
		return nil, err
	}
	list := make([]any, len(places))
	for i, place := range places {
		list[i] = place
	}
	return list, nil
}

// besideOf reads an array of files beside receipts.
func besideOf(files js.Value) (list []core.BesideFile) {
	for i := range files.Length() {
		f := files.Index(i)
		list = append(list, core.BesideFile{Name: f.Get("name").String(), Kind: kind.Kind(f.Get("kind").String()), Data: bytesOf(f.Get("bytes"))})
	}
	return list
}

func verify(args []js.Value) (any, error) {
	inputs, files, options, out := args[0], args[1], args[3], args[4]
	r := &core.Request{Clock: time.Now, Tool: tool(), Beside: besideOf(args[2])}
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
	said, err := receipt.AppendJSON(nil, d.Headline)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"headline": string(said),
		"source":   arrayOf(d.Source), "canonical": arrayOf(d.Canonical), "preimage": arrayOf(d.Preimage),
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
