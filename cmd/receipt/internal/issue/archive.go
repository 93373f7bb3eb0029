package issue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// NewArchive returns the command "receipt archive".
func NewArchive(e *cli.Env) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "archive COMMAND",
		Short: "convert receipts to and from CBOR",
		Long: `Convert receipts to deterministic CBOR (RFC 8949 section 4.2.1), and archives to
canonical JSON. Hashes and verdicts do not change.`,
		Example: `  receipt archive pack receipts.jsonl -o day.cborseq
  receipt archive unpack day.cborseq -o again.jsonl`,
	}, newArchivePack(e), newArchiveUnpack(e))
}

// archiveOptions are the options of "archive pack" and "archive unpack".
type archiveOptions struct {
	input.Flags
	output cli.OutputFlags
	doing  string // packing or unpacking

	refuse func(*stream.Document) error // rejects documents that must not be copied; if nil, all documents are copied
}

func (o *archiveOptions) add(cmd *cobra.Command) {
	o.Flags.Register(cmd.Flags())
	o.output.Register(cmd.Flags(), "output (`FILE`)")
}

func newArchivePack(e *cli.Env) *cobra.Command {
	o := archiveOptions{doing: "packing", refuse: input.RefuseUnsealed}
	cmd := &cobra.Command{
		Use:   "pack [PATH…] -o FILE",
		Short: "write receipts as CBOR",
		Long: `Write receipts as CBOR, in input order. FILE ends in .cbor for exactly one receipt, or in .cborseq
for a sequence (RFC 8742), as on stdout. Receipts are not verified, but drafts
are rejected.`,
		Example: `  receipt archive pack receipt.json -o receipt.cbor
  receipt archive pack receipts.jsonl | receipt verify --integrity-only -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), e, args, ".cborseq", ".cbor")
		},
	}

	o.add(cmd)
	return cmd
}

func newArchiveUnpack(e *cli.Env) *cobra.Command {
	o := archiveOptions{doing: "unpacking"}
	cmd := &cobra.Command{
		Use:   "unpack [PATH…] -o FILE",
		Short: "write archives as canonical JSON",
		Long: `Write receipts as canonical JSON (RFC 8785), in the order of the input:
archives, or anything else that receipt verify reads. FILE ends in .json for
exactly one receipt, or in .jsonl or .ndjson for one per line, as on stdout.
Receipts are not verified.`,
		Example: `  receipt archive unpack receipt.cbor -o receipt.json
  receipt archive unpack day.cborseq | receipt verify --integrity-only -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), e, args, ".jsonl", ".ndjson", ".json")
		},
	}

	o.add(cmd)
	return cmd
}

// run copies documents to an output with one of the given extensions.
func (o *archiveOptions) run(ctx context.Context, e *cli.Env, paths []string, extensions ...string) error {
	selected, err := o.Keeping(e, paths, "output", o.output.Path)
	if err != nil {
		return err
	}

	out, err := NewDocumentWriter(e, &o.output, extensions...)
	if err != nil {
		return err
	}
	defer out.Discard()

	// Documents are copied one at a time, because an input may be larger than memory.
	progress := selected.Begin(e, o.doing)
	defer progress.End()
	err = selected.Each(ctx, o.Long, func(d *stream.Document) error {
		if o.refuse != nil {
			if err := o.refuse(d); err != nil {
				return err
			}
		}
		return out.Put(d.Address(), d.Document)
	})
	if err != nil {
		return err
	}
	selected.TellSkipped(e)
	return out.Commit()
}

// A DocumentWriter writes documents in the format of its file extension.
type DocumentWriter struct {
	*cli.Output
	path  string
	cbor  *archive.Codec // nil: JSON
	one   bool           // exactly one document
	Count int
	text  []byte
}

// NewDocumentWriter opens an output with one of the given extensions. The first extension is the
// format for stdout.
func NewDocumentWriter(e *cli.Env, to *cli.OutputFlags, extensions ...string) (*DocumentWriter, error) {
	form := extensions[0]
	if !to.Stdout() {
		form = print.Extension(to.Path)
	}
	if !slices.Contains(extensions, form) {
		hint := ""
		if form == ".gz" || form == ".zst" {
			hint = "compress the file afterwards"
		}
		return nil, cli.Usage(hint, "the name of the output file must end in %s, found %q", cli.OrList(extensions), to.Path)
	}

	// The extension determines whether the output contains exactly one document.
	w := &DocumentWriter{path: to.Path, one: form == ".cbor" || form == ".json"}
	if strings.HasPrefix(form, ".cbor") {
		w.cbor = archive.NewCodec()
		if to.Stdout() && e.Terminal {
			return nil, cli.Usage("write to a file with -o FILE", "CBOR is not written to a terminal")
		}
	}

	var err error
	w.Output, err = to.Open(e, 0o644)
	return w, err
}

// Put writes one document. Errors contain the address of the document.
func (w *DocumentWriter) Put(address string, d *canon.Document) (err error) {
	if w.Count++; w.one && w.Count > 1 {
		many := ".jsonl"
		if w.cbor != nil {
			many = ".cborseq"
		}
		return cli.Usage("name it "+many, "%q can contain only one receipt, but the input has more", w.path)
	}
	if w.cbor == nil {
		w.text = append(d.AppendCanonical(w.text[:0]), '\n')
	} else if w.text, err = w.cbor.Append(w.text[:0], d); err != nil {
		return notArchived(address, err)
	}
	_, err = w.Write(w.text)
	return err
}

func notArchived(address string, err error) error {
	var bad *archive.ItemError
	if errors.As(err, &bad) {
		return cli.Refuted(bad.Hint, "%q: %s: %s", address, bad.Code, bad.Detail)
	}
	return fmt.Errorf("%q: %w", address, err)
}

// Commit moves the output into place, or returns an error if no document was written.
func (w *DocumentWriter) Commit() error {
	if w.Count == 0 {
		return cli.Usage("", "input contains no receipt")
	}
	return w.Output.Commit()
}
