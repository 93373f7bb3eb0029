package batch

import (
	"errors"
	"fmt"
)

// Limits of a manifest, and so of a batch.
const (
	MaxEntries = 1 << 16  // receipts
	MaxBytes   = 32 << 20 // bytes of the manifest
	maxDepth   = 32       // nested arrays and objects; a manifest needs 3
)

// checkCount refuses a number of receipts that no manifest could list.
func checkCount(n int) error {
	switch {
	case n == 0:
		return errors.New("batch: no receipts; a batch has at least one")
	case n > MaxEntries:
		return fmt.Errorf("batch: %d receipts, a batch has at most %d", n, MaxEntries)
	}
	return nil
}
