package survey

import (
	"crypto/sha256"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// Facts contains the properties of a receipt that are compared with those of other receipts.
type Facts struct {
	Placed   bool         // the receipt contains its position in a stream; if false, the other fields are undefined
	holds    bool         // the stated hash matches the content
	Link     chain.Link   // as stated
	Computed canon.Digest // the hash that was computed from the content
	ID       fingerprint  // fingerprint of issuer.id and receipt_id
	Key      streamKey    // of its stream
	Issued   time.Time    // issued_at
	undated  bool         // the source did not report the time in Issued
}

// A fingerprint is the first half of a SHA-256 digest. This is short enough to keep one for every
// receipt, and long enough that nobody can construct two inputs with the same fingerprint.
type fingerprint [16]byte

func fingerprintOf(text []byte) fingerprint {
	sum := sha256.Sum256(text)
	return fingerprint(sum[:16])
}

// Gather reads the facts from a document. A document may contain a position in a stream even if
// that position is invalid. computed is the hash of the content, or zero if it has not been
// computed.
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
		computed, _ = chain.Hash(doc) // no error is possible, because the document has members and is therefore an object
	}
	f.Computed = computed
	f.holds = computed == f.Link.Hash
	f.Issued, _ = receipt.ParseTime(root.Member("issued_at").Text())
	f.undated = receipt.ReadUnreported(root).Has("/issued_at")

	// The issuer is included, because two issuers may use the same receipt IDs, such as consecutive
	// numbers.
	id := append(appendText(f.Key, root.Member("issuer").Member("id").Text()), root.Member("receipt_id").Text()...)
	f.ID = fingerprintOf(id)
	f.Key = streamKey(id[:0]).appendReceipt(root)
}
