package server

import (
	"context"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// addLedger serves a ledger until the process ends. It is open for reading
// only, so that others may issue into it.
func addLedger(ctx context.Context, o *serveOptions, s *serve.Options) error {
	l, err := input.OpenLedger(ctx, o.ledger, false)
	if err != nil {
		return err
	}
	s.Source = served.New(l)
	return nil
}
