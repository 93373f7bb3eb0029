package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/object"
)

// An input is a file or an object, in the form in which it is sent to workers.
type input struct {
	Number int         `json:"number"` // number in the order in which reports list the inputs
	Path   string      `json:"path,omitzero"`
	Found  bool        `json:"found,omitzero"`
	Object *object.Pin `json:"object,omitzero"` // instead of a path

	// If there is a checkpoint, the following fields contain the results of the pass over leaves.
	// These are the tree of all inputs, whose Source is counted from this input, and the digest of
	// this input's bytes.
	Tree *join.Tree `json:"tree,omitzero"`
	Seen []byte     `json:"seen,omitzero"`
}

// inputs contains all inputs, and the files next to them that were skipped.
type inputs struct {
	list    []input
	skipped []stream.Notice
}

// listInputs finds the inputs that the arguments specify.
func listInputs(ctx context.Context, args []string) (*inputs, error) {
	var in inputs
	for _, arg := range args {
		var err error
		if strings.Contains(arg, "://") {
			err = in.addObjects(ctx, arg)
		} else {
			err = in.addFiles(arg)
		}
		if err != nil {
			return nil, err
		}
	}
	return &in, nil
}

func (in *inputs) add(one input) {
	one.Number = len(in.list)
	in.list = append(in.list, one)
}

func (in *inputs) skip(name, what string) {
	in.skipped = append(in.skipped, stream.Notice{Source: name, Detail: what})
}

func (in *inputs) addObjects(ctx context.Context, arg string) error {
	a, err := object.Parse(arg)
	if err != nil {
		return err
	}
	listing, err := object.List(ctx, []object.Address{a})
	if err != nil {
		return err
	}
	defer listing.Close()
	for i := range listing.Pins {
		in.add(input{Object: &listing.Pins[i]})
	}
	for _, name := range listing.Skipped {
		in.skip(name, "not a receipt")
	}
	return nil
}

// addFiles adds the files that match a pattern. For a directory, it adds each file in the directory
// and its subdirectories whose name looks like that of a file with receipts.
func (in *inputs) addFiles(pattern string) error {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return fmt.Errorf("--input %q: invalid pattern", pattern)
	}
	if len(names) == 0 {
		return fmt.Errorf("--input %q matches no file", pattern)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return fmt.Errorf("--input: %w", err)
		case !info.IsDir():
			in.add(input{Path: name})
		default:
			if err := in.addFolder(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (in *inputs) addFolder(dir string) error {
	found := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
		case !e.Type().IsRegular():
			in.skip(path, "not a regular file")
		case !object.CalledLikeReceipts(path):
			in.skip(path, "not a receipt")
		default:
			found++
			in.add(input{Path: path, Found: true})
		}
		return nil
	})
	if err == nil && found == 0 {
		err = fmt.Errorf("--input %q: no file there is named *.json, *.jsonl, *.ndjson, *.cbor, or *.cborseq, optionally followed by .gz or .zst", dir)
	}
	return err
}

// A reader opens inputs on a worker.
type reader struct{ buckets object.Buckets }

// source returns the source for an input and a function that returns the input with the version
// that was opened.
func (r *reader) source(ctx context.Context, in input) (stream.Source, func() (input, error), error) {
	if in.Object == nil {
		open := func() (io.ReadCloser, error) { return os.Open(in.Path) }
		return stream.Source{Name: in.Path, Found: in.Found, Open: open}, func() (input, error) { return in, nil }, nil
	}
	s, pinned, err := r.buckets.Source(ctx, *in.Object)
	return s, func() (input, error) {
		p, err := pinned()
		in.Object = &p
		return in, err
	}, err
}

// name returns the name that reports use for the input.
func (in *input) name() string {
	if in.Object != nil {
		return in.Object.Name
	}
	return in.Path
}
