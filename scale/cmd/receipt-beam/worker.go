package main

import (
	"encoding/json"

	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
)

// A worker is embedded in functions that read inputs or write files.
type worker struct {
	Setting []byte

	run      setting
	verifier *receipt.Verifier
	reader   reader
}

// Setup is called once per worker.
func (w *worker) Setup() (err error) {
	if w.run, err = settingOf(w.Setting); err != nil {
		return err
	}
	w.verifier, _, err = w.run.Asked.Verifier()
	return err
}

// Teardown closes the connections.
func (w *worker) Teardown() error { return w.reader.buckets.Close() }

// A grouping is embedded in the functions that group links.
type grouping struct {
	Setting []byte
	terms   join.Terms
}

// Setup is called once per worker.
func (g *grouping) Setup() (err error) {
	g.terms, err = termsOf(g.Setting)
	return err
}

// A growth is embedded in the steps that build a tree from the leaves that a checkpoint covers.
type growth struct {
	Setting []byte
	claimed uint64 // size that the checkpoint claims, or 0 if the checkpoint cannot be read
}

// Setup is called once per worker.
func (g *growth) Setup() error {
	run, err := settingOf(g.Setting)
	if err != nil {
		return err
	}
	verifier, _, err := run.Asked.Verifier()
	if err != nil {
		return err
	}
	g.claimed = verifier.OpenCheckpoint(run.Log).Claims.Size
	return nil
}

// parsed returns the parsed values for a key.
func parsed[T any](values group, parse func([]byte) (T, error)) (list []T, err error) {
	for text := []byte(nil); values(&text); {
		v, err := parse(text)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// fromJSON parses one value.
func fromJSON[T any](text []byte) (v T, err error) { return v, json.Unmarshal(text, &v) }

// emitJSON emits one JSON value under a key.
func emitJSON(emit func(int, []byte), key int, v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		emit(key, text)
	}
	return err
}
