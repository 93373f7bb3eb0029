package merkle

import (
	"errors"
	"fmt"
)

var (
	// ErrIndex says that there is no leaf of that index: it is not below the size.
	ErrIndex = errors.New("merkle: the index is not below the size of the tree")
	// ErrSizes says that sizes cannot be compared: the earlier tree is larger than
	// the later one, or empty. Every tree extends the empty one, so a proof of
	// that would show nothing.
	ErrSizes = errors.New("merkle: consistency is from a tree that is not empty to one that is not smaller")
)

// A LengthError says that a proof does not have the one length that its index and
// sizes demand. Nothing was hashed.
type LengthError struct{ Found, Want int }

func (e *LengthError) Error() string {
	return fmt.Sprintf("merkle: a proof of %d hashes, expected %d", e.Found, e.Want)
}

// A RootError says that a proof leads to another root than the one given. Size
// is that of the tree whose root it is.
type RootError struct {
	Size           uint64
	Computed, Want Hash
}

func (e *RootError) Error() string {
	return fmt.Sprintf("merkle: the proof leads to the root %v of the tree of size %d, expected %v", e.Computed, e.Size, e.Want)
}
