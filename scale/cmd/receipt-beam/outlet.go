package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"

	"github.com/receiptkit/receiptkit/scale/object"
)

// An outlet is the place where the files of a run are written. Workers write the files to a staging
// directory. The process that started the run moves them into place when all of them are complete,
// so that a failed run leaves no files.
type outlet struct {
	Store   string `json:"store,omitzero"` // in the form that blob.OpenBucket accepts; "": local files
	Prefix  string `json:"prefix"`         // prefix of the file names
	Staging string `json:"staging"`        // the prefix until then
	shown   string // the prefix as the caller wrote it, but without the storage parameters
}

func openOutlet(prefix string) (*outlet, error) {
	path, local := strings.CutPrefix(prefix, "file://")
	if local = local || !strings.Contains(prefix, "://"); local {
		return openFolder(path)
	}
	a, err := object.Parse(prefix)
	if err != nil {
		return nil, fmt.Errorf("--output: %w", err)
	}
	if !a.One() {
		return nil, fmt.Errorf("--output %s is a directory or a pattern: expected a prefix of object names", a)
	}
	return &outlet{Store: a.Store(), Prefix: a.Key, Staging: a.Key + ".unfinished-" + rand.Text(), shown: a.String()}, nil
}

func openFolder(prefix string) (*outlet, error) {
	if strings.HasSuffix(prefix, "/") {
		return nil, fmt.Errorf("--output %q is a directory: expected a prefix of file names", prefix)
	}
	full, err := filepath.Abs(prefix)
	if err != nil {
		return nil, fmt.Errorf("--output: %w", err)
	}
	if info, err := os.Stat(filepath.Dir(full)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("--output %q: the directory %q does not exist", prefix, filepath.Dir(prefix))
	}
	return &outlet{Prefix: full, Staging: full + ".unfinished-" + rand.Text(), shown: prefix}, nil
}

// These are the names of the files, which follow the prefix.
const (
	summaryName = ".json"   // the summary
	reportsName = ".ndjson" // one report per line for each receipt that is not verified, followed by the summary
)

// rowsName returns the name of row file i if there are several row files.
func rowsName(i, of int) string { return fmt.Sprintf("-%05d-of-%05d.parquet", i, of) }

// bucket connects to the bucket of the outlet. It returns nil if the files are local.
func (o *outlet) bucket(ctx context.Context, b *object.Buckets) (*blob.Bucket, error) {
	if o.Store == "" {
		return nil, nil
	}
	return b.Bucket(ctx, o.Store)
}

// vacant returns an error if files from another run exist, because they would be mixed with the
// files of this run, or if no files can be created.
func (o *outlet) vacant(ctx context.Context, b *object.Buckets) error {
	names, err := o.names(ctx, b)
	if err != nil {
		return fmt.Errorf("--output %s: %w", o.shown, err)
	}
	for _, name := range names {
		if name == summaryName || name == reportsName || strings.HasPrefix(name, "-") && strings.HasSuffix(name, ".parquet") {
			return fmt.Errorf("--output %s: %s%s already exists: specify another prefix, or remove the files with this one", o.shown, o.shown, name)
		}
	}

	// This check is made before the inputs are read.
	if o.Store == "" {
		if err := os.Mkdir(o.Staging, 0o777); err != nil {
			return fmt.Errorf("--output %s: %w", o.shown, err)
		}
	}
	return nil
}

// names returns the existing names that have the prefix, without the prefix.
func (o *outlet) names(ctx context.Context, b *object.Buckets) (names []string, err error) {
	bucket, err := o.bucket(ctx, b)
	if err != nil {
		return nil, err
	}
	if bucket == nil {
		dir, base := filepath.Split(o.Prefix)
		list, err := os.ReadDir(dir)
		for _, e := range list {
			if name, ok := strings.CutPrefix(e.Name(), base); ok {
				names = append(names, name)
			}
		}
		return names, err
	}

	pages := bucket.List(&blob.ListOptions{Prefix: o.Prefix})
	for {
		one, err := pages.Next(ctx)
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		names = append(names, strings.TrimPrefix(one.Key, o.Prefix))
	}
}

// A draft is a file that is being written. The complete file exists once the draft is closed. If
// workers write it again or at the same time, they write the same bytes.
type draft struct {
	io.Writer
	keep    func() error
	abandon func() // has no effect after keep
}

// create starts writing one of the run's files.
func (o *outlet) create(ctx context.Context, b *object.Buckets, name string) (*draft, error) {
	bucket, err := o.bucket(ctx, b)
	if err != nil {
		return nil, err
	}
	if bucket == nil {
		return o.createFile(name)
	}

	// An object is created when its writer is closed, unless the context of the writer has ended.
	ctx, cancel := context.WithCancel(ctx)
	w, err := bucket.NewWriter(ctx, o.Staging+"/"+name, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	kept := false
	return &draft{Writer: w, keep: func() error {
		defer cancel()
		kept = true
		return w.Close()
	}, abandon: func() {
		if cancel(); !kept {
			_ = w.Close() // the context has ended, so no object is created
		}
	}}, nil
}

func (o *outlet) createFile(name string) (*draft, error) {
	if err := os.MkdirAll(o.Staging, 0o777); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(o.Staging, name+"."+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	kept := false
	return &draft{Writer: f, keep: func() error {
		kept = true
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
		return os.Rename(f.Name(), filepath.Join(o.Staging, name))
	}, abandon: func() {
		if !kept {
			_ = errors.Join(f.Close(), os.Remove(f.Name())) // clear also removes this file
		}
	}}, nil
}

// open opens a file of the run for reading.
func (o *outlet) open(ctx context.Context, b *object.Buckets, name string) (io.ReadCloser, error) {
	bucket, err := o.bucket(ctx, b)
	switch {
	case err != nil:
		return nil, err
	case bucket == nil:
		return os.Open(filepath.Join(o.Staging, name))
	}
	return bucket.NewReader(ctx, o.Staging+"/"+name, nil)
}

// publish moves files into place, one after another. The existence of the last file indicates that
// all files exist.
func (o *outlet) publish(ctx context.Context, b *object.Buckets, names []string) error {
	bucket, err := o.bucket(ctx, b)
	if err != nil {
		return err
	}
	for _, name := range names {
		if bucket == nil {
			err = os.Rename(filepath.Join(o.Staging, name), o.Prefix+name)
		} else {
			err = bucket.Copy(ctx, o.Prefix+name, o.Staging+"/"+name, nil)
		}
		if err != nil {
			return fmt.Errorf("--output %s: cannot move %s into place: %w", o.shown, name, err)
		}
	}
	return nil
}

// clear removes the remaining files of the run.
func (o *outlet) clear(ctx context.Context, b *object.Buckets) error {
	bucket, err := o.bucket(ctx, b)
	switch {
	case err != nil:
		return err
	case bucket == nil:
		return os.RemoveAll(o.Staging)
	}
	pages := bucket.List(&blob.ListOptions{Prefix: o.Staging + "/"})
	for {
		one, err := pages.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = bucket.Delete(ctx, one.Key)
		}
		if err != nil {
			return err
		}
	}
}
