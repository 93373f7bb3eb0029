package cli

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/receipt"
)

// OutputFlags specifies where a result is written.
type OutputFlags struct {
	Path  string // "" and "-" mean stdout
	Force bool
}

// Register adds the flags to a command; usage describes -o.
func (o *OutputFlags) Register(f *pflag.FlagSet, usage string) {
	f.StringVarP(&o.Path, "output", "o", "", usage)
	f.BoolVarP(&o.Force, "force", "f", false, "overwrite FILE")
}

// Stdout reports whether the result goes to stdout.
func (o *OutputFlags) Stdout() bool { return o.Path == "" || o.Path == StdinName }

// Check returns an error if the output cannot be written. Call it before anything is read.
func (o *OutputFlags) Check() error {
	if o.Stdout() {
		return nil
	}
	_, err := MayWrite(o.Path, o.Force)
	return err
}

// Write writes an entire result.
func (o *OutputFlags) Write(e *Env, data []byte, mode fs.FileMode) error {
	return WriteOutput(e, o.Path, data, mode, o.Force)
}

// Open returns an Output for a result that is written in parts.
func (o *OutputFlags) Open(e *Env, mode fs.FileMode) (*Output, error) {
	if o.Stdout() {
		return &Output{bufio.NewWriterSize(e.Out, 64<<10), nil}, nil
	}
	file, err := NewFile(o.Path, mode, o.Force)
	if err != nil {
		return nil, err
	}
	return &Output{bufio.NewWriterSize(file, 64<<10), file}, nil
}

// Stream writes a result in parts. A file is created completely or not at all.
func (o *OutputFlags) Stream(e *Env, mode fs.FileMode, write func(io.Writer) error) error {
	out, err := o.Open(e, mode)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := write(out); err != nil {
		return err
	}
	return out.Commit()
}

// WriteJSON writes a value to stdout, as one line of JSON.
func (e *Env) WriteJSON(v any) error {
	text, err := receipt.AppendJSON(nil, v)
	if err != nil {
		return err
	}
	_, err = e.Out.Write(append(text, '\n'))
	return err
}

// An Output is stdout, or a file that becomes visible only when it is complete.
type Output struct {
	*bufio.Writer
	File *File // nil for stdout
}

// Commit flushes the output and gives the file its name.
func (o *Output) Commit() error {
	if err := o.Flush(); err != nil || o.File == nil {
		return err
	}
	return o.File.Commit()
}

// Discard removes a file that was not committed.
func (o *Output) Discard() {
	if o.File != nil {
		o.File.Discard()
	}
}

// WriteOutput writes a result to stdout if path is "" or "-". Otherwise, it writes the result to a
// file, which is created completely or not at all. An existing file is kept unless force is set.
func WriteOutput(e *Env, path string, data []byte, mode fs.FileMode, force bool) error {
	if path == "" || path == StdinName {
		_, err := e.Out.Write(data)
		return err
	}
	if _, err := MayWrite(path, force); err != nil {
		return err
	}
	return ReplaceFile(path, data, mode)
}

// MayWrite returns an error if a file with this path must not be written. An existing file can be
// replaced only if force is set. A device or a pipe is never replaced, because the output would not
// be written to it, and the device would be lost.
func MayWrite(path string, force bool) (replaces bool, err error) {
	_, err = os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, Usage("", "%q: %w", path, Reason(err))
	}

	info, err := os.Stat(path) // for a symbolic link, the info of its target, if the target exists
	switch {
	case err == nil && info.IsDir():
		return false, Usage("", "%q is a directory, expected a file", path)
	case err == nil && !info.Mode().IsRegular():
		return false, Usage("", "%q is a device, a pipe, or a socket, expected a file", path)
	case !force:
		return false, Usage("overwrite it with --force", "%q exists already", path)
	}

	return true, nil
}

// SameFile reports whether two paths refer to the same file, or are the same path.
func SameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}
