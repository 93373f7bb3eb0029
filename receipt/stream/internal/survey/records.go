package survey

import (
	"encoding/binary"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/join"
)

// A survey stores three records for each receipt, each in a separate sorter: by ID, by hash, and by
// the predecessor that the receipt names. All records of the same type are encoded with the same
// length, and numbers are big-endian. The encodings therefore sort in the same order as the fields
// below, as package join requires. Sources, the documents in a source, and streams are numbered
// with 32 bits.
const (
	idRecordWidth   = 16 + 8 + 32 + 8 + addressWidth
	hashRecordWidth = 32 + 1 + 4 + 8 + addressWidth + 1 + 8
	linkRecordWidth = 1 + 32 + 4 + 8 + 32 + 8 + addressWidth + 1
	addressWidth    = 4 + 4
)

// An address is the position of a receipt in the inputs.
type address struct{ source, index int }

func (a address) place() join.Place { return join.Place{Source: a.source, Index: a.index} }

func (a address) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(a.source))
	return binary.BigEndian.AppendUint32(b, uint32(a.index))
}

// An idRecord represents a receipt, for sorting by ID.
type idRecord struct {
	id     fingerprint
	issued int64        // milliseconds since 1970
	hash   canon.Digest // of the content
	number int          // number of the receipt in reading order
	address
}

func (r *idRecord) append(b []byte) []byte {
	b = append(b, r.id[:]...)
	b = appendInt64(b, r.issued)
	b = append(b, r.hash[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.number))
	return r.address.append(b)
}

func parseIDRecord(b []byte) (r idRecord) {
	p := recordParser{b}
	copy(r.id[:], p.bytes(len(r.id)))
	r.issued = p.int64()
	copy(r.hash[:], p.bytes(len(r.hash)))
	r.number, r.address = int(p.uint64()), p.address()
	return r
}

// A hashRecord represents a receipt, for sorting by its stated hash. This hash determines the
// position of the receipt even if the receipt was altered. A receipt whose stated hash does not
// match its content has a second record, with the computed hash.
type hashRecord struct {
	digest  canon.Digest
	content bool // the digest is the computed hash, which differs from the stated hash
	stream  int
	number  int
	address
	damaged bool  // the stated hash does not match the content
	issued  int64 // milliseconds since 1970
}

func (r *hashRecord) append(b []byte) []byte {
	b = append(append(b, r.digest[:]...), flag(r.content))
	b = binary.BigEndian.AppendUint32(b, uint32(r.stream))
	b = binary.BigEndian.AppendUint64(b, uint64(r.number))
	b = append(r.address.append(b), flag(r.damaged))
	return appendInt64(b, r.issued)
}

func parseHashRecord(b []byte) (r hashRecord) {
	p := recordParser{b}
	copy(r.digest[:], p.bytes(len(r.digest)))
	r.content, r.stream = p.flag(), int(p.uint32())
	r.number, r.address = int(p.uint64()), p.address()
	r.damaged, r.issued = p.flag(), p.int64()
	return r
}

// node returns the receipt in the form that package join uses.
func (r *hashRecord) node() join.Node {
	return join.Node{Number: r.number, Stream: r.stream, Place: r.place(), Hash: r.digest, Issued: r.issued, Damaged: r.damaged}
}

// A linkRecord represents a receipt, for sorting by the predecessor that it names. Receipts without
// a predecessor sort first.
type linkRecord struct {
	first  bool // the receipt has no predecessor, so the digest is zero
	digest canon.Digest
	stream int
	issued int64        // milliseconds since 1970
	hash   canon.Digest // the stated hash
	number int
	address
	damaged bool // the stated hash does not match the content
}

func (r *linkRecord) append(b []byte) []byte {
	b = append(append(b, flag(!r.first)), r.digest[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(r.stream))
	b = append(appendInt64(b, r.issued), r.hash[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.number))
	return append(r.address.append(b), flag(r.damaged))
}

func parseLinkRecord(b []byte) (r linkRecord) {
	p := recordParser{b}
	r.first = !p.flag()
	copy(r.digest[:], p.bytes(len(r.digest)))
	r.stream, r.issued = int(p.uint32()), p.int64()
	copy(r.hash[:], p.bytes(len(r.hash)))
	r.number, r.address, r.damaged = int(p.uint64()), p.address(), p.flag()
	return r
}

// node returns the receipt in the form that package join uses.
func (r *linkRecord) node() join.Node {
	return join.Node{Number: r.number, Stream: r.stream, Place: r.place(), Hash: r.hash, Issued: r.issued, Damaged: r.damaged}
}

// appendInt64 appends the encoding of a number. Encodings sort in the same order as the numbers.
func appendInt64(b []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(n)^(1<<63))
}

// A recordParser parses the fields of a record, in order. Records come from a sorter, which does
// not change them, so every field is present.
type recordParser struct{ rest []byte }

func (p *recordParser) bytes(n int) []byte {
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

func (p *recordParser) uint32() uint32 { return binary.BigEndian.Uint32(p.bytes(4)) }

func (p *recordParser) uint64() uint64 { return binary.BigEndian.Uint64(p.bytes(8)) }

func (p *recordParser) int64() int64 { return int64(p.uint64() ^ 1<<63) }

func (p *recordParser) flag() bool { return p.bytes(1)[0] == 1 }

func (p *recordParser) address() address {
	return address{source: int(p.uint32()), index: int(p.uint32())}
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
