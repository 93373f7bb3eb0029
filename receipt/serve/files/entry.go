package files

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"math"

	"github.com/receiptkit/receiptkit/canon"
)

// An entry contains the location of a document, and the properties by which its content is
// recognized.
type entry struct {
	digest canon.Digest // digest of the document's bytes or, in a compressed file, of its JSON
	hash   canon.Digest // receipt hash computed from the content; zero if it cannot be computed
	offset int64        // offset of the bytes in the file; not used for a compressed file
	length int32
	source int32
	stream int32 // noStream if the text is not JSON
	link   int32 // index in Index.links
	index  int32 // number of the line, item, or array element
	listed bool  // the source contains several documents
	intact bool  // the content matches the stated hash
	copy   bool  // copy of an earlier entry
}

// noStream means that the text does not name a stream.
const noStream = -1

// A place is the number of an entry, with the key under which the entry can be found.
type place struct {
	key   fingerprint
	entry int32
}

// A fingerprint is the first half of a SHA-256 digest. This is long enough that nobody can
// construct two strings with the same fingerprint.
type fingerprint [16]byte

func fingerprintOf(text string) fingerprint {
	sum := sha256.Sum256([]byte(text))
	return fingerprint(sum[:16])
}

// sameReceipt reports whether two entries have the same content or, if its hash cannot be computed,
// the same bytes.
func sameReceipt(a, b *entry) bool {
	return a.hash == b.hash && !a.hash.IsZero() || a.digest == b.digest
}

func byKey(a, b place) int {
	return cmp.Or(bytes.Compare(a.key[:], b.key[:]), cmp.Compare(a.entry, b.entry))
}

// maxEntries is the maximum number of documents in an index.
const maxEntries = math.MaxInt32
