// Package served makes a ledger a source of receipt/serve.
package served

import (
	"context"
	"errors"

	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// New returns the receipts of a ledger as a source. What is issued while serving is
// served at once. A task's receipts are those with its identifiers.task_id, in the
// order in which they were stored.
func New(l *ledger.SQLite) serve.Source { return source{l} }

type source struct{ ledger *ledger.SQLite }

// Bounds of a page, beside the limit that a client gives: receipts may be large.
const (
	pageBytes = 8 << 20
	pagePart  = 4 // receipts that are read at a time
)

func (s source) Get(ctx context.Context, receiptID string) (serve.Stored, error) {
	json, err := s.ledger.Raw(ctx, receiptID)
	if errors.Is(err, ledger.ErrNotFound) {
		return serve.Stored{}, serve.ErrNotFound
	}
	return serve.Stored{JSON: json}, err
}

func (s source) ByTask(ctx context.Context, taskID, cursor string, limit int) (page []serve.Stored, next string, err error) {
	if taskID == "" {
		return nil, "", nil
	}
	for size := 0; len(page) < limit && size < pageBytes; {
		part, behind, err := s.ledger.List(ctx, ledger.Query{Task: taskID}, cursor, min(pagePart, limit-len(page)))
		if errors.Is(err, ledger.ErrCursor) {
			return nil, "", serve.ErrCursor
		}
		if err != nil {
			return nil, "", err
		}
		for _, e := range part {
			page = append(page, serve.Stored{JSON: e.JSON})
			size += len(e.JSON)
		}
		if cursor = behind; behind == "" {
			return page, "", nil
		}
	}
	return page, cursor, nil
}
