package merkle

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// A Hash is the hash of a node in a tree. It is intentionally a different type from the digest of a
// receipt. Its string form is the standard base64 encoding of the 32 bytes, with padding, as in
// C2SP checkpoints and proofs.
type Hash [sha256.Size]byte

// String returns the base64 string form, which has 44 characters.
func (h Hash) String() string { return base64.StdEncoding.EncodeToString(h[:]) }

// ParseHash parses the base64 string form of a hash. Every hash has exactly one accepted string
// form.
func ParseHash(text string) (Hash, error) {
	var h Hash
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	// encoding/base64 ignores line breaks. A string of 44 characters that decodes to 32 bytes
	// cannot contain a line break.
	if err != nil || len(b) != len(h) || len(text) != base64.StdEncoding.EncodedLen(len(h)) {
		return Hash{}, fmt.Errorf("merkle: expected the padded base64 of 32 bytes, found %.60q", text)
	}
	copy(h[:], b)
	return h, nil
}

// LeafHash returns the hash of a leaf: SHA-256(0x00 ‖ data).
func LeafHash(data []byte) Hash {
	var buf [1 + 64]byte // the buffer avoids an allocation for digests and other short leaves
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
