package input

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// ReadHashable reads one document whose hash tells it from every other. Where an
// integer is lossy, others with another integer in its place have the same. Of a
// receipt inside an API envelope it is the receipt.
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
			cli.SourceName(path), foreign.Number(n.Raw()), n.Pointer())
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
	return nil, syntaxFailure(path, err)
}

// syntaxFailure words a parse error: the input is refuted, not unreadable.
func syntaxFailure(path string, err error) error {
	return cli.Refuted("", "%q: %w", cli.SourceName(path), err)
}
