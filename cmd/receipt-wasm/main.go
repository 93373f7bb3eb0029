//go:build js && wasm

package main

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"syscall/js"
	"time"

	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
)

func main() {
	js.Global().Set("receiptCore", map[string]any{
		"tool":      tool(),
		"recognize": promising(callRecognize),
		"fitting":   promising(callFitting),
		"verify":    promising(callVerify),
		"open":      promising(callOpen),
		"tamper":    promising(callTamper),
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

func callRecognize(args []js.Value) (any, error) {
	text, err := receipt.AppendJSON(nil, recognize(bytesOf(args[0]), args[1].Bool()))
	return string(text), err
}

func callFitting(args []js.Value) (any, error) {
	places, err := fitting(context.Background(), source(args[0]), args[1].Int(), besideOf(args[2]))
	if err != nil {
		return nil, err
	}
	list := make([]any, len(places))
	for i, place := range places {
		list[i] = place
	}
	return list, nil
}

// besideOf converts an array of evidence files.
func besideOf(files js.Value) (list []besideFile) {
	for i := range files.Length() {
		f := files.Index(i)
		list = append(list, besideFile{Name: f.Get("name").String(), Kind: kind.Kind(f.Get("kind").String()), Data: bytesOf(f.Get("bytes"))})
	}
	return list
}

func callVerify(args []js.Value) (any, error) {
	inputs, files, options, out := args[0], args[1], args[3], args[4]
	r := &request{Clock: time.Now, Tool: tool(), Beside: besideOf(args[2])}
	for i := range inputs.Length() {
		r.Sources = append(r.Sources, source(inputs.Index(i)))
	}
	for i := range files.Length() {
		f := files.Index(i)
		r.Keys = append(r.Keys, keyFile{Name: f.Get("name").String(), Data: bytesOf(f.Get("bytes"))})
	}
	if err := json.Unmarshal([]byte(options.String()), &r.Options); err != nil {
		return nil, err
	}
	return nil, verify(context.Background(), r, pageSink{out})
}

func callOpen(args []js.Value) (any, error) {
	d, err := open(context.Background(), source(args[0]), args[1].Int())
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

func callTamper(args []js.Value) (any, error) {
	text, target, err := tamper(bytesOf(args[0]), args[1].String())
	if err != nil {
		return nil, err
	}
	described, err := receipt.AppendJSON(nil, target)
	if err != nil {
		return nil, err
	}
	return map[string]any{"source": arrayOf(text), "target": string(described)}, nil
}

// A pageSink passes copies of results to JavaScript.
type pageSink struct{ js.Value }

func (s pageSink) Keys(text []byte)      { s.Call("keys", arrayOf(text)) }
func (s pageSink) Lines(text []byte)     { s.Call("lines", arrayOf(text)) }
func (s pageSink) Finding(text []byte)   { s.Call("finding", arrayOf(text)) }
func (s pageSink) Summary(text []byte)   { s.Call("summary", arrayOf(text)) }
func (s pageSink) Aggregate(text []byte) { s.Call("aggregate", arrayOf(text)) }
