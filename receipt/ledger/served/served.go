// Package served makes a ledger a source of package serve.
package served

import (
	"context"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// New returns the receipts of a ledger as a source. Receipts that are issued in the meantime are
// served immediately. The link of a receipt is that in the ledger: a receipt that does not follow
// its predecessor is refuted. A task's receipts are those that have it as the subject or in
// identifiers.task_id, in the order in which they were stored.
//
// A row with another receipt than the requested one is [serve.ErrChanged]. A receipt with altered
// content is served unchanged, so that verifying it refutes it. A pruned receipt is a
// *[ledger.PrunedError].
func New(l ledger.Reader) serve.Source { return source{l} }

type source struct{ ledger ledger.Reader }

// Bounds of a page, in addition to the limit of the client: receipts may be large.
const (
	pageBytes = 8 << 20
	pagePart  = 4 // receipts that are read at a time
)

func (s source) Get(ctx context.Context, receiptID string, reach protocol.Reach) (serve.Stored, error) {
	// The stream alone shows whether a receipt is out of reach, so the receipt is not read.
	row, link, err := ledger.Linked(ctx, s.ledger, ledger.Key{ID: receiptID, Sees: sees(reach)})
	fault, damaged := errors.AsType[*ledger.Fault](err)
	pruned, gone := errors.AsType[*ledger.PrunedError](err)
	switch {
	case gone && !reach.Sees(pruned.Stream), damaged && !reach.Sees(fault.Stream):
		return serve.Stored{}, ledger.ErrNotFound
	case err != nil:
		return serve.Stored{}, changed(err)
	}

	return serve.Stored{JSON: row.JSON, Link: &link}, nil
}

// sees returns the streams within reach, nil for all.
func sees(reach protocol.Reach) func(chain.Stream) bool {
	if reach.All() {
		return nil
	}
	return reach.Sees
}

// changed turns the error of a damaged row into serve.ErrChanged.
func changed(err error) error {
	if _, damaged := errors.AsType[*ledger.Fault](err); damaged {
		return fmt.Errorf("%w: %w", serve.ErrChanged, err)
	}
	return err
}

func (s source) ByTask(ctx context.Context, q serve.TaskQuery) (page []serve.Stored, more bool, err error) {
	if q.Task == "" {
		return nil, false, nil
	}
	cursor, err := s.behind(ctx, q)
	if err != nil {
		return nil, false, err
	}

	selected := queryOf(q)

	// The page is read in small parts, because receipts may be large, and their bytes can end the
	// page, too.
	for size := 0; ; {
		part, behind, err := ledger.List(ctx, s.ledger, selected, cursor, pagePart)
		if err != nil {
			return nil, false, changed(err)
		}

		for _, e := range part {
			if len(page) > 0 && (len(page) == q.Limit || size+len(e.JSON) > pageBytes) {
				return page, true, nil
			}
			page = append(page, serve.Stored{JSON: e.JSON})
			size += len(e.JSON)
		}

		if cursor = behind; behind == "" {
			return page, false, nil
		}
	}
}

// CountPruned returns how many receipts of a task, within reach, are in archives, so that a list is
// not mistaken for a complete one.
func (s source) CountPruned(ctx context.Context, q serve.TaskQuery) (int64, error) {
	if q.Task == "" {
		return 0, nil
	}
	return ledger.CountPruned(ctx, s.ledger, queryOf(q))
}

// queryOf selects the receipts of a task within reach.
func queryOf(q serve.TaskQuery) ledger.Query {
	return ledger.Query{Task: q.Task, Sees: sees(q.Reach)}
}

// behind returns the cursor of the place where a page begins. A receipt out of reach is treated as
// absent, even if it is damaged.
func (s source) behind(ctx context.Context, q serve.TaskQuery) (cursor string, err error) {
	if q.After.IsZero() {
		return "", nil
	}

	// A place that the client may not see must look like one that does not exist.
	last, err := ledger.Lookup(ctx, s.ledger, ledger.Key{Hash: q.After})
	if err == nil && q.Reach.Sees(last.Stream) {
		return last.Cursor(), nil
	}
	fault, damaged := errors.AsType[*ledger.Fault](err)
	if err == nil || errors.Is(err, ledger.ErrNotFound) || damaged && !q.Reach.Sees(fault.Stream) {
		err = ledger.ErrCursor
	}
	return "", changed(err)
}
