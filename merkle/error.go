package merkle

import (
	"errors"
	"fmt"
)

var (
	// ErrIndex indicates that an index is not less than the size of the tree.
	ErrIndex = errors.New("merkle: the index is not below the size of the tree")
	// ErrSizes indicates that two trees cannot be compared, because the earlier tree is empty or is
	// larger than the later tree. Every tree extends the empty tree, so a proof of this would prove
	// nothing.
	ErrSizes = errors.New("merkle: consistency is from a tree that is not empty to one that is not smaller")
)

// A LengthError indicates that the length of a proof is not the length that its index and sizes
// require. Nothing was hashed.
type LengthError struct{ Found, Want int }

// Error returns a message with both lengths.
func (e *LengthError) Error() string {
	return fmt.Sprintf("merkle: a proof of %d hashes, expected %d", e.Found, e.Want)
}

// A RootError indicates that the root computed from a proof is not the expected root. Size is the
// size of the tree whose root is Want.
type RootError struct {
	Size           uint64
	Computed, Want Hash
}

// Error returns a message with both roots and the size.
func (e *RootError) Error() string {
	return fmt.Sprintf("merkle: the proof leads to the root %v of the tree of size %d, expected %v", e.Computed, e.Size, e.Want)
}
