package input

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Receipt is the kind of receipts, including damaged receipts. Package kind does not detect it.
const Receipt kind.Kind = "receipt"

// KindOf returns the kind of a file based on its content.
func KindOf(data []byte) kind.Found {
	f := kind.Of(data, len(data) <= kind.Head)
	if f.Kind != kind.Unknown {
		return f
	}
	doc := new(canon.Document)
	text, err := stream.Receipt(doc, data)
	if err != nil { // if the file contains lines, the first line is used
		line, _, _ := strings.Cut(string(data[:min(len(data), kind.Head)]), "\n")
		text, err = stream.Receipt(doc, []byte(line))
	}
	if err == nil && len(text) > 0 && !doc.Root().Member("receipt_id").IsZero() {
		return kind.Found{Kind: Receipt, What: "a receipt"}
	}
	return f
}

// KindOfFile returns the kind of a file from its first bytes, or the zero value if it
// cannot be read.
func KindOfFile(path string) kind.Found {
	if head := headOf(path); head != nil {
		return KindOf(head)
	}
	return kind.Found{}
}

// IsReport reports whether a file begins like a report of "receipt verify" in JSON or NDJSON.
func IsReport(path string) bool { return begunReport(headOf(path)) }

// headOf returns the first bytes of a regular file, or nil if it cannot be read.
func headOf(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()

	head, err := io.ReadAll(io.LimitReader(f, kind.Head))
	if err != nil {
		return nil
	}
	return head
}

// WrongKind returns the failure for a file whose kind differs from the wanted kind, such as "a key
// set". It returns nil if the kind is unknown or one of kinds.
func WrongKind(path string, data []byte, wanted string, kinds ...kind.Kind) error {
	f := KindOf(data)
	if f.Kind == kind.Unknown || slices.Contains(kinds, f.Kind) {
		return nil
	}
	hint := nextHow(f.Kind, cli.ShellFile(cli.SourceName(path)))
	return cli.Usage(hint, "%q is %s, expected %s", cli.SourceName(path), f.What, wanted)
}

// notReceipt returns the failure for an input of a kind that contains no receipts, or nil for any
// other input.
func notReceipt(path string, data []byte) error {
	f := kind.Of(data, len(data) <= kind.Head)
	if !f.Kind.Foreign() {
		return nil
	}
	return noReceipt(path, f)
}

func noReceipt(path string, f kind.Found) error {
	return cli.Usage(Next(f, path), "%q is not a receipt: it is %s", cli.SourceName(path), f.What)
}

// RefuseDocument returns the failure for a document that is neither a receipt nor a draft. A
// document that could be read is refuted, not unreadable.
func RefuseDocument(path string, root canon.Node, wanted string) error {
	f := kind.Of(root.Raw(), true)
	if f.Kind == kind.Unknown || f.Kind == kind.Draft {
		return nil
	}
	return cli.Refuted(Next(f, path), "%q is not a %s: it is %s", cli.SourceName(path), wanted, f.What)
}

// RefuseOther returns the failure for a document without any members of a receipt or a draft, such
// as a key set or a line of a log.
func RefuseOther(d *stream.Document, wanted string) error {
	root := d.Root()
	if strings.HasPrefix(root.Member("schema").String(), "receipt-") || !root.Member("receipt_id").IsZero() || !root.Member("chain").IsZero() {
		return nil
	}
	if f := kind.Of(root.Raw(), true); f.Kind != kind.Unknown {
		return cli.Refuted(Next(f, d.Source), "%q is not a %s: it is %s", d.Address(), wanted, f.What)
	}
	return cli.Refuted("", "%q is not a %s: it has no member schema, receipt_id, or chain", d.Address(), wanted)
}

// RefuseUnsealed returns the failure for a draft, and for documents that RefuseOther rejects.
func RefuseUnsealed(d *stream.Document) error {
	if !d.Root().Member("chain").Member("receipt_hash").IsZero() {
		return nil
	}
	if err := RefuseOther(d, "receipt"); err != nil {
		return err
	}
	return RefuseDraft(d.Address(), d.Root().Raw(), " -o RECEIPT")
}

// RefuseDraft returns the failure for a draft where a receipt is expected. The hint suggests
// sealing it, with additional flags if they are given. A draft that cannot be sealed is treated as
// an invalid receipt.
func RefuseDraft(path string, data []byte, flags string) error {
	f := kind.Of(data, true)
	if f.Kind != kind.Draft {
		return nil
	}
	doc, err := canon.Parse(data)
	if err != nil {
		return nil
	}
	if _, err := receipt.SealDocument(doc, chain.Head{}); err == nil {
		return cli.Refuted("receipt seal "+cli.ShellFile(cli.SourceName(path))+flags, "%q is %s", cli.SourceName(path), f.What)
	}
	return nil
}

// otherKind returns the kind of an input if the input could not be read because of its kind.
func otherKind(err error) (kind.Found, bool) {
	var other *stream.OtherKindError
	if errors.As(err, &other) {
		return other.Found, true
	}
	return kind.Found{}, false
}
