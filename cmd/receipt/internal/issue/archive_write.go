package issue

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// An Output is stdout, or a file that appears when it is whole.
type Output struct {
	*bufio.Writer
	File *cli.File // nil for stdout
}

// OpenOutput begins an output: stdout for "" and "-", or a file that appears whole when it is committed.
func OpenOutput(e *cli.Env, path string, force bool) (*Output, error) {
	if path == "" || path == cli.StdinName {
		return &Output{bufio.NewWriterSize(e.Out, 64<<10), nil}, nil
	}
	file, err := cli.NewFile(path, 0o644, force)
	if err != nil {
		return nil, err
	}
	return &Output{bufio.NewWriterSize(file, 64<<10), file}, nil
}

// Commit writes what is left and gives the file its name.
func (o *Output) Commit() error {
	if err := o.Flush(); err != nil || o.File == nil {
		return err
	}
	return o.File.Commit()
}

// Discard removes a file that did not become whole.
func (o *Output) Discard() {
	if o.File != nil {
		o.File.Discard()
	}
}

// A DocumentWriter writes documents as the extension of its file says.
type DocumentWriter struct {
	*Output
	path  string
	cbor  *archive.Codec // nil: JSON
	one   bool           // exactly one document
	Count int
	text  []byte
}

// NewDocumentWriter opens an output whose extension is one of those; the first
// is that of stdout.
func NewDocumentWriter(e *cli.Env, path string, extensions []string, force bool) (*DocumentWriter, error) {
	stdout := path == "" || path == cli.StdinName
	form := extensions[0]
	if !stdout {
		form = print.Extension(path)
	}
	if !slices.Contains(extensions, form) {
		hint := ""
		if form == ".gz" || form == ".zst" {
			hint = "only plain files are written; compress it afterwards"
		}
		return nil, cli.Usage(hint, "the output is a file %s, found %q", orList(extensions), path)
	}

	// The extension says whether it is one document or any number of them.
	w := &DocumentWriter{path: path, one: form == ".cbor" || form == ".json"}
	if strings.HasPrefix(form, ".cbor") {
		w.cbor = archive.NewCodec()
		if stdout && e.Terminal {
			return nil, cli.Usage("-o FILE writes to a file", "CBOR is not written to a terminal")
		}
	}

	var err error
	w.Output, err = OpenOutput(e, path, force)
	return w, err
}

// orList is ".a, .b or .c".
func orList(list []string) string {
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// Put writes one document; address is where it came from.
func (w *DocumentWriter) Put(address string, d *canon.Document) (err error) {
	if w.Count++; w.one && w.Count > 1 {
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

func (w *DocumentWriter) tooMany() error {
	many := ".jsonl"
	if w.cbor != nil {
		many = ".cborseq"
	}
	return cli.Usage("name it "+many, "%q takes exactly one receipt, the input has more", w.path)
}

func notArchived(address string, err error) error {
	var bad *archive.ItemError
	if errors.As(err, &bad) {
		return cli.Refuted(bad.Hint, "%q: %s: %s", address, bad.Code, bad.Detail)
	}
	return fmt.Errorf("%q: %w", address, err)
}

// Commit makes the output appear, unless there is nothing to write.
func (w *DocumentWriter) Commit() error {
	if w.Count == 0 {
		return cli.Usage("", "the input holds no receipt")
	}
	return w.Output.Commit()
}
