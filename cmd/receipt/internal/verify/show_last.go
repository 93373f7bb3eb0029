package verify

import (
	"context"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// newest returns the receipt that "receipt list" would list first for the default ledger, and the
// receipt's ID.
func newest(ctx context.Context, e *cli.Env) (data []byte, id string, err error) {
	address := e.Defaults.Ledger
	if address == "" {
		return nil, "", cli.Usage("run receipt init, or specify a receipt", "there is no default ledger")
	}
	l, err := input.OpenLedger(ctx, e, address, false)
	if err != nil {
		return nil, "", err
	}
	defer l.Close()

	var latest time.Time
	for row, err := range l.Walk(ctx, ledger.Query{}, 0) {
		if err != nil {
			return nil, "", input.LedgerReading(err)
		}
		at := began(row.JSON)
		if order := at.Compare(latest); data == nil || order > 0 || order == 0 && strings.Compare(row.ID, id) < 0 {
			data, id, latest = row.JSON, row.ID, at
		}
	}
	if data == nil {
		return nil, "", input.EmptyLedger(e, address)
	}
	e.Note("receipt %q of the ledger %s", id, cli.Tilde(e, input.LedgerName(address)))
	return data, id, nil
}

// began returns when the task of a receipt started or, if that is unknown, when the receipt was
// issued.
func began(data []byte) time.Time {
	doc := new(canon.Document)
	if doc.Parse(data, canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}) != nil {
		return time.Time{}
	}
	return headline.Read(doc.Root()).Origin().Began()
}
