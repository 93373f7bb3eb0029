package main

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// An output is stdout, or a file that appears when it is whole.
type output struct {
	*bufio.Writer
	file *reportFile // nil for stdout
}

func openOutput(e *env, path string, force bool) (*output, error) {
	if path == "" || path == stdinName {
		return &output{bufio.NewWriterSize(e.out, 64<<10), nil}, nil
	}
	file, err := newReportFile(path, force)
	if err != nil {
		return nil, err
	}
	return &output{file.Writer, file}, nil
}

func (o *output) commit() error {
	if o.file != nil {
		return o.file.commit()
	}
	return o.Flush()
}

// discard removes a file that did not become whole.
func (o *output) discard() {
	if o.file != nil {
		o.file.discard()
	}
}

// A documentWriter writes documents as the extension of its file says.
type documentWriter struct {
	*output
	path  string
	cbor  *archive.Codec // nil: JSON
	one   bool           // exactly one document
	count int
	text  []byte
}

// newDocumentWriter opens an output whose extension is one of those; the first
// is that of stdout.
func newDocumentWriter(e *env, path string, extensions []string, force bool) (*documentWriter, error) {
	stdout := path == "" || path == stdinName
	form := extensions[0]
	if !stdout {
		form = extension(path)
	}
	if !slices.Contains(extensions, form) {
		hint := ""
		if form == ".gz" || form == ".zst" {
			hint = "only plain files are written; compress it afterwards"
		}
		return nil, usage(hint, "the output is a file %s, found %q", orList(extensions), path)
	}
	w := &documentWriter{path: path, one: form == ".cbor" || form == ".json"}
	if strings.HasPrefix(form, ".cbor") {
		w.cbor = archive.NewCodec()
		if stdout && e.terminal {
			return nil, usage("-o FILE writes to a file", "CBOR is not written to a terminal")
		}
	}
	var err error
	w.output, err = openOutput(e, path, force)
	return w, err
}

// orList is ".a, .b or .c".
func orList(list []string) string {
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// write writes one document; address is where it came from.
func (w *documentWriter) write(address string, d *canon.Document) (err error) {
	if w.count++; w.one && w.count > 1 {
		return w.tooMany()
	}
	if w.cbor == nil {
		w.text = append(d.AppendCanonical(w.text[:0]), '\n')
	} else if w.text, err = w.cbor.Append(w.text[:0], d); err != nil {
		return notArchived(address, err)
	}
	_, err = w.Write(w.text)
	return err
}

func (w *documentWriter) tooMany() error {
	many := ".jsonl"
	if w.cbor != nil {
		many = ".cborseq"
	}
	return usage("name it "+many, "%q takes exactly one receipt, the input has more", w.path)
}

func notArchived(address string, err error) error {
	var bad *archive.ItemError
	if errors.As(err, &bad) {
		return refuted(bad.Hint, "%q: %s: %s", address, bad.Code, bad.Detail)
	}
	return fmt.Errorf("%q: %w", address, err)
}

// commit makes the output appear, unless there is nothing to write.
func (w *documentWriter) commit() error {
	if w.count == 0 {
		return usage("", "the input holds no receipt")
	}
	return w.output.commit()
}
