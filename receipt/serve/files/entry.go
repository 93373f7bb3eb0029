package files

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"math"

	"github.com/receiptkit/receiptkit/canon"
)

// An entry is a document's location and its expected content.
type entry struct {
	digest canon.Digest // digest of the document's bytes or, in a compressed file, of its JSON
	hash   canon.Digest // the receipt hash of its content; zero if there is none
	offset int64        // where the bytes begin in the file; not used in a compressed file
	length int32
	source int32
	stream int32 // noStream for text that is not JSON
	link   int32 // position among the other receipts, in links
	index  int32 // number of the line, item, or element
	listed bool  // the source also contains other documents
	intact bool  // the content matches its stated hash
	copy   bool  // of an earlier entry
}

// noStream is the stream of text that states no stream.
const noStream = -1

// A place is an entry's number, together with the key by which the entry is found.
type place struct {
	key   fingerprint
	entry int32
}

// A fingerprint is the first half of a SHA-256. Nobody can construct two texts with the same
// fingerprint.
type fingerprint [16]byte

func fingerprintOf(text string) fingerprint {
	sum := sha256.Sum256([]byte(text))
	return fingerprint(sum[:16])
}

// sameReceipt reports whether two entries have the same content or, if the content has no hash, the
// same bytes.
func sameReceipt(a, b *entry) bool {
	return a.hash == b.hash && !a.hash.IsZero() || a.digest == b.digest
}

func byKey(a, b place) int {
	return cmp.Or(bytes.Compare(a.key[:], b.key[:]), cmp.Compare(a.entry, b.entry))
}

// maxEntries is the maximum number of documents in an index.
const maxEntries = math.MaxInt32
