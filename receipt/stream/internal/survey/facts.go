package survey

import (
	"crypto/sha256"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// Facts are the properties of a receipt that are compared with those of other receipts.
type Facts struct {
	Placed   bool         // the receipt states a place in a stream; if not, the other fields are undefined
	holds    bool         // the content matches the stated hash
	Link     chain.Link   // as stated
	Computed canon.Digest // the hash of its content
	ID       fingerprint  // of issuer.id and receipt_id
	Key      streamKey    // of its stream
	Issued   time.Time    // issued_at
	undated  bool         // Issued is not a time that the source reported
}

// A fingerprint is the first half of a SHA-256 digest: short enough to keep a fingerprint for every
// receipt, and long enough that two texts with the same fingerprint cannot be constructed.
type fingerprint [16]byte

func fingerprintOf(text []byte) fingerprint {
	sum := sha256.Sum256(text)
	return fingerprint(sum[:16])
}

// Gather reads a document's facts. A document may state a place in a stream even if the statement
// is invalid. computed is the hash of the content, if it is already known.
func (f *Facts) Gather(doc *canon.Document, computed canon.Digest) {
	f.Key, f.Placed = f.Key[:0], false
	root := doc.Root()
	if string(root.Member("schema").Text()) != receipt.SchemaMarker {
		return
	}
	if f.Link, f.Placed = chain.LinkOf(doc); !f.Placed {
		return
	}

	if computed.IsZero() {
		computed, _ = chain.Hash(doc) // it has members, so it is an object
	}
	f.Computed = computed
	f.holds = computed == f.Link.Hash
	f.Issued, _ = receipt.ParseTime(root.Member("issued_at").Text())
	f.undated = receipt.ReadUnreported(root).Has("/issued_at")

	// IDs from different issuers are unrelated, because two issuers may both count from 1.
	id := append(appendText(f.Key, root.Member("issuer").Member("id").Text()), root.Member("receipt_id").Text()...)
	f.ID = fingerprintOf(id)
	f.Key = streamKey(id[:0]).appendReceipt(root)
}
