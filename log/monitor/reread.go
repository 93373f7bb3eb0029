package monitor

import (
	"context"
	"errors"
	"io/fs"
	"strconv"

	"github.com/receiptkit/receiptkit/log/internal/durable"
)

// rereadEntries is the number of old entries that a check reads again. It is a multiple of the
// number of entries in a file.
const rereadEntries = 16 * 256

// reread reads entries that an earlier check has read, because the log may have deleted them in the
// meantime. A consistency proof does not show this, because it needs only a few hashes. Each check
// continues where the previous one stopped. A part that cannot be read is read again by the next
// check.
func (e *examination) reread(ctx context.Context, last, now *view) error {
	if last.Size == 0 {
		return nil
	}
	if e.config.Full {
		e.read(ctx, now, 0, last.Size)
		return nil
	}
	from, err := e.position()
	if err != nil {
		return err
	}
	if from >= last.Size {
		from = 0
	}
	to := min(from+rereadEntries, last.Size)
	if !e.read(ctx, now, from, to) {
		return nil
	}

	next := to
	if to == last.Size {
		next = 0
	}
	if next == from { // the check has read all old entries
		return nil
	}
	return durable.Replace(e.config.Disk, e.positionFile(), strconv.AppendUint(nil, next, 10))
}

func (e *examination) positionFile() string { return e.file() + "-reread" }

// position returns the index of the first entry that the next check reads again. A malformed
// position is treated as if there were none.
func (e *examination) position() (uint64, error) {
	text, err := e.config.Disk.Read(e.positionFile())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return 0, nil
	}
	return n, nil
}
