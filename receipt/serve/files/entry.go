package files

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"math"

	"github.com/receiptkit/receiptkit/canon"
)

// An entry is where a document lies and what it has to be.
type entry struct {
	digest canon.Digest // of its bytes; of a compressed file, of its JSON
	hash   canon.Digest // the receipt hash of its content; zero when it has none
	offset int64        // of its bytes; not used in a compressed file
	length int32
	source int32
	stream int32 // noStream for a text that is not JSON
	link   int32 // its place among the others, in links
	index  int32 // line, item or element
	listed bool  // the source holds more than this one
	intact bool  // the content fits the hash that it states
	copy   bool  // of an entry before it
}

// noStream is the stream of what states none.
const noStream = -1

// A place is the number of an entry under what it is looked up by.
type place struct {
	key   fingerprint
	entry int32
}

// A fingerprint is the first half of a SHA-256. Nobody can make two texts with the
// same.
type fingerprint [16]byte

func fingerprintOf(text string) fingerprint {
	sum := sha256.Sum256([]byte(text))
	return fingerprint(sum[:16])
}

// sameReceipt reports whether two entries have the same content, or, where the
// content has no hash, the same bytes.
func sameReceipt(a, b *entry) bool {
	return a.hash == b.hash && !a.hash.IsZero() || a.digest == b.digest
}

func byKey(a, b place) int {
	return cmp.Or(bytes.Compare(a.key[:], b.key[:]), cmp.Compare(a.entry, b.entry))
}

// maxEntries is how many documents an index can number.
const maxEntries = math.MaxInt32
