// Package served makes a ledger a source for package serve.
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

// New returns a source that serves the receipts in a ledger. A receipt that is issued later is
// served as soon as it is stored. The ledger checks links, so a receipt that does not follow its
// predecessor is refuted. The receipts of a task are those that have the task as their subject or
// in identifiers.task_id. They are returned in the order in which they were stored.
//
// If a row contains a receipt other than the requested one, the error is [serve.ErrChanged]. If the
// content of a receipt was altered, the receipt is served unchanged, so that verification refutes
// it. For a pruned receipt, the error is a *[ledger.PrunedError].
func New(l ledger.Reader) serve.Source { return source{l} }

type source struct{ ledger ledger.Reader }

// These limits apply to a page in addition to the client's limit, because receipts may be large.
const (
	pageBytes = 8 << 20
	pagePart  = 4 // number of receipts that are read at a time
)

func (s source) Get(ctx context.Context, receiptID string, reach protocol.Reach) (serve.Stored, error) {
	// Whether a receipt is within reach depends only on its stream, so the receipt does not have to
	// be read.
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

// sees returns a function that reports whether a stream is within reach, or nil if all streams are.
func sees(reach protocol.Reach) func(chain.Stream) bool {
	if reach.All() {
		return nil
	}
	return reach.Sees
}

// changed converts the error for a damaged row to serve.ErrChanged.
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

	// The page is read in small parts, because receipts may be large and the page may reach its
	// limit in bytes early.
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

// CountPruned returns the number of a task's receipts that are in archives and within reach, so
// that an incomplete list is not mistaken for a complete list.
func (s source) CountPruned(ctx context.Context, q serve.TaskQuery) (int64, error) {
	if q.Task == "" {
		return 0, nil
	}
	return ledger.CountPruned(ctx, s.ledger, queryOf(q))
}

// queryOf returns the query for the receipts of a task that are within reach.
func queryOf(q serve.TaskQuery) ledger.Query {
	return ledger.Query{Task: q.Task, Sees: sees(q.Reach)}
}

// behind returns the cursor for the position at which a page begins. A receipt outside the reach is
// treated as absent, even if it is damaged.
func (s source) behind(ctx context.Context, q serve.TaskQuery) (cursor string, err error) {
	if q.After.IsZero() {
		return "", nil
	}

	// The response for a position that the client may not see must be the same as for a position
	// that does not exist.
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
