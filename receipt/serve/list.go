package serve

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// listReceipts serves GET /v1/tasks/{id}/receipts.
func listReceipts(c *call) error {
	if c.s.options.Source == nil {
		return protocol.NotFound()
	}

	limit, err := c.r.Query.Number("limit", 1, mostPage, usualPage)
	if err != nil {
		return err
	}

	// A cursor belongs to one task, and identifies a receipt instead of a position in the list.
	q := TaskQuery{Task: c.id(), Reach: c.r.Client.Reach, Limit: int(limit)}
	if q.After, err = afterCursor(q.Task, c.r.Query["cursor"]); err != nil {
		return err
	}

	page, more, err := pageOf(c, q)
	if err != nil {
		return err
	}

	begin, err := beginPage(c, q)
	if err != nil {
		return err
	}

	out, last, err := appendPage(begin, page, q)
	switch {
	case err != nil:
		return err
	case !more:
		out = append(out, `],"page":{"has_more":false,"next_cursor":null}}`...)
	case last.IsZero() || last == q.After: // otherwise, the next page would be identical
		return protocol.Internal(errOther, "the stored receipts of this task cannot be listed")
	default:
		next := protocol.FormatCursor(q.Task, last[:])
		out = append(canon.AppendString(append(out, `],"page":{"has_more":true,"next_cursor":`...), next), "}}"...)
	}

	return c.write(http.StatusOK, mediaJSON, append(out, '\n'))
}

// mostListed is the maximum length of the receipts on a page, in bytes. A page with a single
// receipt may be longer.
const mostListed = 8 << 20

// pageOf reads the receipts of a page from the source in small groups, because each receipt may
// have up to 16 MiB.
func pageOf(c *call, q TaskQuery) (page []Stored, more bool, err error) {
	const mostAtATime = 16
	for n, size := 1, 0; ; n = min(2*n, mostAtATime) {
		// The first group is small, because receipts may be large.
		next := q
		next.Limit = min(n, q.Limit-len(page))
		some, more, err := c.s.options.Source.ByTask(c.r.Context(), next)
		if err != nil {
			return nil, false, sourceFault(err)
		}

		// A page contains at least one receipt, regardless of the receipt's length.
		for _, stored := range some {
			if size > 0 && size+len(stored.JSON) > mostListed {
				return page, true, nil
			}
			page, size = append(page, stored), size+len(stored.JSON)
		}

		if !more || len(some) == 0 || len(page) >= q.Limit {
			return page, more, nil
		}
		if q.After, err = lastOf(some, q.After); err != nil {
			return nil, false, err
		}
	}
}

// lastOf returns the hash of the last receipt in a list, from which the source can continue. It
// must differ from before, the hash after which this list began.
func lastOf(some []Stored, before canon.Digest) (last canon.Digest, err error) {
	doc, err := storedDocument(some[len(some)-1])
	if err != nil {
		return last, err
	}
	if last, err = chain.Hash(doc); err != nil || last.IsZero() || last == before {
		return last, protocol.Internal(cmp.Or(err, errOther), "the stored receipts of this task cannot be listed")
	}
	return last, nil
}

// afterCursor returns the hash of the last receipt on the previous page, or zero if there is no
// cursor.
func afterCursor(task, cursor string) (after canon.Digest, err error) {
	last, err := protocol.ParseCursor(task, cursor)
	if err != nil || last == nil {
		return after, err
	}

	// A zero hash would mean the beginning of the list.
	if copy(after[:], last); len(last) != len(after) || after.IsZero() {
		return after, protocol.BadCursor()
	}
	return after, nil
}

// beginPage returns the text of a page up to its first receipt. If receipts of the task have been
// pruned, the text contains the number of pruned receipts.
func beginPage(c *call, q TaskQuery) ([]byte, error) {
	begin := []byte(`{"object":"list",`)
	if p, ok := c.s.options.Source.(pruner); ok {
		n, err := p.CountPruned(c.r.Context(), q)
		if err != nil {
			return nil, sourceFault(err)
		}
		if n > 0 {
			begin = fmt.Appendf(begin, `"pruned":%d,`, n)
		}
	}
	return append(begin, `"data":[`...), nil
}

// appendPage appends the resources of a page to dst, and returns the hash of the last receipt. A
// receipt is skipped if it matches only because the name of its task is a placeholder.
func appendPage(dst []byte, page []Stored, q TaskQuery) (out []byte, last canon.Digest, err error) {
	begin := len(dst)
	for i, stored := range page {
		doc, err := storedDocument(stored)
		if err != nil {
			return nil, last, err
		}
		if err := isOfTask(doc, q); err != nil {
			return nil, last, err
		}

		// Only receipts that contain the task are listed, but the cursor advances past all
		// receipts.
		if tells(doc.Root(), q.Task) {
			if len(dst) > begin {
				dst = append(dst, ',')
			}
			dst = appendResource(dst, doc, "")
		}
		if i < len(page)-1 {
			continue
		}
		if last, err = chain.Hash(doc); err != nil {
			return nil, last, protocol.Internal(err, "the stored receipts of this task cannot be listed")
		}
	}
	return dst, last, nil
}
