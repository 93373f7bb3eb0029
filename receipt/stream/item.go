package stream

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// An item is one document on its way from the reader over a worker to whoever
// asked, or the end of a source. Items are reused.
type item struct {
	piece
	from, to int // of data in its batch
	source   int

	number int // of the document in the whole input, from 0

	v     *receipt.Verifier // who judged it
	rep   receipt.Report
	facts facts
	other string // what the document is instead of a receipt; it is skipped
	again bool   // it is a copy of a receipt before it
	copy  bool   // and has the same verdict: not counted

	foreign bool // it does not name the predecessor that was given

	end  bool  // no document: the source has ended
	err  error // why it ended before its end; nil otherwise
	docs int   // how many documents it held
}

// Facts are what other receipts need to know of a receipt.
type facts struct {
	placed   bool         // it states its place: everything below is known
	holds    bool         // its content fits its stated hash
	link     chain.Link   // as stated
	computed canon.Digest // the hash of its content
	id       fingerprint  // of issuer.id and receipt_id
	stream   []byte       // its stream, as appendStreamKey names it
	issued   time.Time    // issued_at
}

// A fingerprint is the first half of a SHA-256: short enough to be kept for
// every receipt, and long enough that nobody can make two texts with the same.
type fingerprint [16]byte

func fingerprintOf(text []byte) fingerprint {
	sum := sha256.Sum256(text)
	return fingerprint(sum[:16])
}

// gather reads the facts of a document: whether it states a place in a stream
// does not depend on whether it is true. A hash that was computed already is not
// computed again.
func (f *facts) gather(doc *canon.Document, computed canon.Digest) {
	f.stream, f.placed = f.stream[:0], false
	root := doc.Root()
	if string(root.Member("schema").Text()) != receipt.SchemaMarker {
		return
	}
	if f.link, f.placed = chain.LinkOf(doc); !f.placed {
		return
	}

	if computed.IsZero() {
		computed, _ = chain.Hash(doc) // it has members, so it is an object
	}
	f.computed = computed
	f.holds = computed == f.link.Hash
	f.issued, _ = receipt.ParseTime(root.Member("issued_at").Text())

	// An id is the issuer's own: two issuers may both count from one.
	f.stream = appendText(f.stream, root.Member("issuer").Member("id").Text())
	f.stream = append(f.stream, root.Member("receipt_id").Text()...)
	f.id = fingerprintOf(f.stream)
	f.stream = f.stream[:0]
	f.stream = appendStreamKey(f.stream, root)
}

// appendStreamKey appends what names the stream of a receipt, so that a map can
// be asked without making strings of it. parseStreamKey is its inverse.
func appendStreamKey(key []byte, root canon.Node) []byte {
	identifiers := root.Member("identifiers")
	tenant := identifiers.Member("tenant_id")
	key = appendText(key, root.Member("issuer").Member("id").Text())
	if tenant.IsZero() {
		key = append(key, 0)
	} else {
		key = appendText(append(key, 1), tenant.Text())
	}
	return appendText(key, identifiers.Member("workspace_ref").Text())
}

func appendText(key, text []byte) []byte {
	return append(binary.AppendUvarint(key, uint64(len(text))), text...)
}

// parseStreamKey reads what appendStreamKey wrote.
func parseStreamKey(key []byte) (s chain.Stream) {
	text := func() string {
		n, width := binary.Uvarint(key)
		t := string(key[width : width+int(n)])
		key = key[width+int(n):]
		return t
	}
	s.Issuer = text()
	s.HasTenant = key[0] == 1
	if key = key[1:]; s.HasTenant {
		s.Tenant = text()
	}
	s.Workspace = text()
	return s
}
