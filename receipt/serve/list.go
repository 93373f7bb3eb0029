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

	// A cursor belongs to one task, and identifies a receipt rather than a position.
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
	case last.IsZero() || last == q.After: // the next page would be identical
		return protocol.Internal(errOther, "the stored receipts of this task cannot be listed")
	default:
		next := protocol.FormatCursor(q.Task, last[:])
		out = append(canon.AppendString(append(out, `],"page":{"has_more":true,"next_cursor":`...), next), "}}"...)
	}

	return c.write(http.StatusOK, mediaJSON, append(out, '\n'))
}

// mostListed is the maximum length of a page, counting the bytes of its receipts. A single receipt
// may be longer.
const mostListed = 8 << 20

// pageOf reads a page's receipts from the source in small groups, because each receipt may be up to
// 16 MiB long.
func pageOf(c *call, q TaskQuery) (page []Stored, more bool, err error) {
	const mostAtATime = 16
	for n, size := 1, 0; ; n = min(2*n, mostAtATime) {
		// Only a few receipts are read at first, because they may be large.
		next := q
		next.Limit = min(n, q.Limit-len(page))
		some, more, err := c.s.options.Source.ByTask(c.r.Context(), next)
		if err != nil {
			return nil, false, sourceFault(err)
		}

		// A page contains at least one receipt, regardless of its length.
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

// lastOf returns the hash of the last receipt in a list, after which a source continues. It must
// differ from the hash that preceded the receipts.
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

	// The zero hash would mean the beginning of the list.
	if copy(after[:], last); len(last) != len(after) || after.IsZero() {
		return after, protocol.BadCursor()
	}
	return after, nil
}

// beginPage returns the text that precedes a page's receipts. If the content of some of the task's
// receipts was pruned, the text states their number.
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

// appendPage appends a page's resources, and returns the hash of the last receipt. A receipt that
// was found by a placeholder for an unreported task is skipped.
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

		// The receipt is listed only if it states the task; the cursor advances past it in any
		// case.
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
