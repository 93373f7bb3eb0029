package merkle

import (
	"errors"
	"fmt"
)

var (
	// ErrIndex indicates that no leaf has the given index, because the index is not less than the
	// tree's size.
	ErrIndex = errors.New("merkle: the index is not below the size of the tree")
	// ErrSizes indicates that two sizes cannot be compared, because the earlier tree is empty or
	// larger than the later tree. Every tree extends the empty tree, so a proof of this would show
	// nothing.
	ErrSizes = errors.New("merkle: consistency is from a tree that is not empty to one that is not smaller")
)

// A LengthError indicates that a proof does not have the length that its index and sizes
// require. Nothing was hashed.
type LengthError struct{ Found, Want int }

// Error returns both lengths.
func (e *LengthError) Error() string {
	return fmt.Sprintf("merkle: a proof of %d hashes, expected %d", e.Found, e.Want)
}

// A RootError indicates that a proof leads to a root other than the given root. Size is the size of
// the tree that has the root Want.
type RootError struct {
	Size           uint64
	Computed, Want Hash
}

// Error returns both roots and the size.
func (e *RootError) Error() string {
	return fmt.Sprintf("merkle: the proof leads to the root %v of the tree of size %d, expected %v", e.Computed, e.Size, e.Want)
}
