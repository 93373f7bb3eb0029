package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/internal/unpack"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/redact"
)

// ReadInput reads one document. The path "-" means stdin, and PATH:N means line or item N of a
// file, as in the output of "receipt verify". Otherwise, the path is a file, or a receipt_id in the
// default ledger. For an archive or a compressed file, ReadInput returns the JSON that it contains.
// ReadInput reads at most one byte more than the largest item of an archive, so it returns even if
// the input is endless. It returns at most one byte more than the largest receipt.
func ReadInput(e *cli.Env, path string) ([]byte, error) {
	if file, index, ok := Address(path); ok {
		return readAddress(e, path, file, index)
	}
	if data, err := stored(e, path); data != nil || err != nil {
		return data, err
	}

	// The additional byte indicates that the input is too large.
	data, err := ReadBounded(e, path, archive.MaxItemBytes+1)
	if err != nil {
		return nil, err
	}
	if f := kind.Of(data, false); f.Kind == kind.Image || f.Kind == kind.Document { // some images and documents begin like CBOR
		return nil, noReceipt(path, f)
	}
	if !packed(data) {
		return data[:min(len(data), receipt.MaxBytes+1)], nil
	}
	return onlyOne(path, data)
}

// onlyOne returns the only document in an archive or a compressed file.
func onlyOne(path string, data []byte) ([]byte, error) {
	text, err := bytesSource(path, data).Find(0, false)
	if f, ok := otherKind(err); ok {
		return nil, noReceipt(path, f)
	}
	switch {
	case errors.Is(err, stream.ErrSeveral):
		return nil, several(path)
	case err != nil:
		return nil, cli.Refuted("", "%q: %w", path, err)
	}

	return text, nil
}

// ReadHashable reads one document whose hash distinguishes it from all other documents. It rejects
// integers that a double cannot represent, because the hash does not distinguish them from
// neighboring integers. If the document is an API envelope, it returns the receipt inside.
func ReadHashable(e *cli.Env, path string) (*canon.Document, error) {
	doc, err := ReadDocument(e, path)
	if err != nil {
		return nil, err
	}
	inner := new(canon.Document)
	if text, err := stream.Receipt(inner, doc.Source()); err == nil && len(text) < len(doc.Source()) {
		doc = inner
	}
	if n, found := doc.LossyInteger(); found {
		return nil, cli.Refuted("issuers write such values as strings", "%q: number_precision: expected integers within ±9007199254740991, found %s at %.80q",
			cli.SourceName(path), untrusted.Number(n.Raw()), n.Pointer())
	}
	return doc, nil
}

// ReadDocument reads and parses one JSON document.
func ReadDocument(e *cli.Env, path string) (*canon.Document, error) {
	data, err := ReadInput(e, path)
	if err != nil {
		return nil, err
	}
	doc, err := canon.Parse(data)
	switch {
	case err == nil:
		return doc, nil
	case notReceipt(path, data) != nil:
		f := KindOf(data)
		return nil, cli.Usage(Next(f, path), "%q is %s, expected a JSON document", cli.SourceName(path), f.What)
	case holdsSeveral(path, data):
		return nil, several(path)
	}
	return nil, cli.Refuted("", "%q: %w", cli.SourceName(path), err) // the input is refuted, not unreadable
}

// ReadReceipt reads one document as ReadInput does. If the document is an API envelope, it returns
// the receipt inside. If there are several receipts, the error states how to address one of them.
func ReadReceipt(e *cli.Env, path string) ([]byte, error) {
	data, err := ReadInput(e, path)
	if err != nil {
		return nil, err
	}

	doc := new(canon.Document)
	text, err := stream.Receipt(doc, data)
	if err == nil && doc.Root().Kind() == canon.KindObject && doc.Root().Member("object").String() != "list" {
		return text, RefuseDocument(path, doc.Root(), "receipt")
	}
	if err := notReceipt(path, data); err != nil {
		return nil, err
	}
	if holdsSeveral(path, data) {
		return nil, several(path)
	}
	return data, nil // the caller reports the error in data
}

// holdsSeveral reports whether data begins with several documents: lines, an array, or a
// page of a list.
func holdsSeveral(path string, data []byte) bool {
	_, err := bytesSource(path, data).Find(0, false)
	return errors.Is(err, stream.ErrSeveral)
}

// several returns the failure for an input with several receipts if only one is permitted.
func several(path string) error {
	return cli.Usage("name one of them: "+cli.ShellName(cli.SourceName(path)+":1"), "%q holds several documents, expected one", cli.SourceName(path))
}

func bytesSource(path string, data []byte) *stream.Source {
	return &stream.Source{Name: path, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// packed reports whether data is CBOR or compressed.
func packed(data []byte) bool {
	return len(data) > 0 && (data[0] >= 0x80 && data[0] < 0xe0 || unpack.Format(data) != "")
}

// Address splits PATH:N into the path of the file and the number. A file whose name is PATH:N takes
// precedence. If there is no file named "stdin", then "stdin:N" is item N of stdin, as in the
// output of "receipt verify".
func Address(path string) (file string, index int, ok bool) {
	i := strings.LastIndexByte(path, ':')
	if i <= 0 {
		return "", 0, false
	}
	index, err := strconv.Atoi(path[i+1:])
	if err != nil || index < 1 {
		return "", 0, false
	}
	if _, err := os.Stat(path); err == nil {
		return "", 0, false
	}
	info, err := os.Stat(path[:i])
	if err != nil && path[:i] == cli.SourceName(cli.StdinName) {
		return cli.StdinName, index, true
	}
	return path[:i], index, err == nil && !info.IsDir()
}

// readAddress reads one of several documents in an input.
func readAddress(e *cli.Env, path, file string, index int) ([]byte, error) {
	s := fileSource(file, stream.Sniffed, false)
	if file == cli.StdinName {
		s.Open = e.Stdin
	}
	text, err := s.Find(index, true)
	if err != nil {
		return nil, cli.Usage("", "%q: %w", path, err)
	}
	return text, nil
}

// OpenInput opens a file, or stdin.
func OpenInput(e *cli.Env, path string) (io.ReadCloser, error) {
	if path == cli.StdinName {
		in, err := e.Stdin()
		if err != nil {
			return nil, err
		}
		return e.Counted(in), nil
	}

	info, err := os.Stat(path)
	if err != nil {
		return nil, ReadError(path, err)
	}
	if info.IsDir() {
		return nil, cli.Usage("name a file in it", "%q is a directory, expected a file", path)
	}

	f, err := os.Open(path)
	if err != nil {
		return nil, ReadError(path, err)
	}

	return e.Counted(f), nil
}

// SizeOf returns the size of a file in bytes, and reports whether it is known.
func SizeOf(path string) (size int64, known bool) {
	info, err := os.Stat(path)
	if path == cli.StdinName || err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}

// UntilDone returns a reader that reads from r until ctx is done. If a pipe has no writer, an
// interrupted run can therefore still remove its temporary files. A caller that stops before the
// end must close the reader.
func UntilDone(ctx context.Context, r io.Reader) io.ReadCloser {
	in, out := io.Pipe()
	stop := context.AfterFunc(ctx, func() { out.CloseWithError(cli.Usage("", "interrupted")) })
	go func() {
		defer stop()
		_, err := io.Copy(out, r)
		out.CloseWithError(err)
	}()
	return in
}

// ReadBounded reads up to most bytes of a file or of stdin.
func ReadBounded(e *cli.Env, path string, most int64) ([]byte, error) {
	f, err := OpenInput(e, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	name := "stdin"
	if path != cli.StdinName {
		name = fmt.Sprintf("%q", path)
	}
	return readAll(f, name, most)
}

func readAll(r io.Reader, name string, most int64) ([]byte, error) {
	// A growing buffer would need twice the size of a large file. The size of most files is known.
	var b bytes.Buffer
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			b.Grow(int(min(info.Size(), most)) + bytes.MinRead)
		}
	}
	_, err := b.ReadFrom(io.LimitReader(r, most))
	data := b.Bytes()
	if err != nil {
		return nil, cli.Usage("", "%s: %w", name, cli.Reason(err))
	}
	return data, nil
}

// RefuseAddress returns the failure for a URL, or nil for a path.
func RefuseAddress(path string) error {
	if how := remote(path); how != "" {
		return cli.Usage(how, "%q is an address, expected a file", LedgerName(path))
	}
	return nil
}

// ReadError returns the failure for a path that cannot be read, which has exit code 2.
func ReadError(path string, err error) error {
	hint := ""
	if errors.Is(err, fs.ErrNotExist) {
		if err := RefuseAddress(path); err != nil {
			return err
		}
		hint = absent(path)
	}
	return cli.Usage(hint, "%q: %w", path, cli.Reason(err))
}

// ReadDisclosures reads a disclosure file.
func ReadDisclosures(e *cli.Env, path string) (*redact.Disclosures, error) {
	data, err := ReadBounded(e, path, maxDisclosureBytes+1)
	if err != nil {
		return nil, err
	}
	d, err := redact.ParseDisclosures(data)
	if err != nil {
		if wrong := WrongKind(path, data, "a disclosure file", kind.Disclosures); wrong != nil {
			return nil, wrong
		}
		return nil, cli.Usage("use a file from receipt redact --disclosures or receipt redact disclose", "%q: %w", path, err)
	}
	return d, nil
}

// maxDisclosureBytes is the maximum size of a disclosure file. The file may contain the entire
// content of a receipt, and also salts.
const maxDisclosureBytes = 2 * receipt.MaxBytes
