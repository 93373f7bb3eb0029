package merkle

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// A Hash is a node in a tree. It is deliberately a different type from a receipt's digest. Its text
// is the padded standard base64 of its 32 bytes, as in C2SP checkpoints and proofs.
type Hash [sha256.Size]byte

// String returns the base64 text, which has 44 characters.
func (h Hash) String() string { return base64.StdEncoding.EncodeToString(h[:]) }

// ParseHash parses the base64 text of a hash. Every hash has exactly one accepted string form.
func ParseHash(text string) (Hash, error) {
	var h Hash
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	// encoding/base64 skips line breaks. A 44-character string that decodes to 32 bytes contains
	// none.
	if err != nil || len(b) != len(h) || len(text) != base64.StdEncoding.EncodedLen(len(h)) {
		return Hash{}, fmt.Errorf("merkle: expected the padded base64 of 32 bytes, found %.60q", text)
	}
	copy(h[:], b)
	return h, nil
}

// LeafHash returns the hash of a leaf: SHA-256(0x00 ‖ data).
func LeafHash(data []byte) Hash {
	var buf [1 + 64]byte // digests and other short leaves require no allocation
	return sha256.Sum256(append(append(buf[:0], 0x00), data...))
}

// NodeHash returns the hash of an inner node: SHA-256(0x01 ‖ left ‖ right).
func NodeHash(left, right Hash) Hash {
	var buf [1 + 2*sha256.Size]byte
	buf[0] = 0x01
	copy(buf[1:], left[:])
	copy(buf[1+sha256.Size:], right[:])
	return sha256.Sum256(buf[:])
}

// EmptyRoot returns the root of the tree without leaves: SHA-256("").
func EmptyRoot() Hash { return sha256.Sum256(nil) }
