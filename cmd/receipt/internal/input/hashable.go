package input

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// ReadHashable reads one document whose hash distinguishes it from every other document. It
// rejects integers that a double cannot represent, because documents with neighboring
// integers have the same hash. For an API envelope, it returns the receipt inside.
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
	return nil, syntaxFailure(path, err)
}

// syntaxFailure returns the failure for a parse error: the input is refuted, not
// unreadable.
func syntaxFailure(path string, err error) error {
	return cli.Refuted("", "%q: %w", cli.SourceName(path), err)
}
