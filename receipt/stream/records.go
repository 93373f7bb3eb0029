package stream

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/receiptkit/receiptkit/canon"
)

// A survey keeps three records of a receipt, each in a sorter of its own: by its id,
// by its hash, and by the predecessor that it names. As bytes each kind has one
// width, and its numbers are big-endian, so that the bytes sort as the fields do in
// the order in which they stand here. Sources, their documents and streams are
// counted with 32 bits.
const (
	idRecordWidth   = 16 + 8 + 32 + addressWidth
	hashRecordWidth = positionWidth + 8 + addressWidth + 8
	linkRecordWidth = 1 + positionWidth + 8 + addressWidth + 1 + 8
	addressWidth    = 4 + 4
	positionWidth   = 4 + 32
)

// An address is the place of a receipt in the input.
type address struct{ source, index int }

func (a address) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(a.source))
	return binary.BigEndian.AppendUint32(b, uint32(a.index))
}

// A position is a digest in a stream: where the receipt of that hash stands.
type position struct {
	stream int
	digest canon.Digest
}

// compare orders positions as their records are sorted.
func (p *position) compare(o *position) int {
	if c := cmp.Compare(p.stream, o.stream); c != 0 {
		return c
	}
	return bytes.Compare(p.digest[:], o.digest[:])
}

// An idRecord is a receipt by its id.
type idRecord struct {
	id     fingerprint
	number int          // of the receipt, in the order of reading
	hash   canon.Digest // of its content
	address
}

func (r *idRecord) append(b []byte) []byte {
	b = append(b, r.id[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.number))
	b = append(b, r.hash[:]...)
	return r.address.append(b)
}

func parseIDRecord(b []byte) (r idRecord) {
	p := recordParser{b}
	copy(r.id[:], p.bytes(len(r.id)))
	r.number = int(p.uint64())
	copy(r.hash[:], p.bytes(len(r.hash)))
	r.address = p.address()
	return r
}

// A hashRecord is a receipt by the hash that it states: an altered receipt keeps its
// place.
type hashRecord struct {
	position
	number int
	address
	issued int64 // milliseconds since 1970
}

func (r *hashRecord) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(r.stream))
	b = append(b, r.digest[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.number))
	b = r.address.append(b)
	return binary.BigEndian.AppendUint64(b, uint64(r.issued))
}

func parseHashRecord(b []byte) (r hashRecord) {
	p := recordParser{b}
	r.stream = int(p.uint32())
	copy(r.digest[:], p.bytes(len(r.digest)))
	r.number, r.address, r.issued = int(p.uint64()), p.address(), int64(p.uint64())
	return r
}

// A linkRecord is a receipt by the predecessor that it names, those that name none
// before the others of their stream.
type linkRecord struct {
	first bool // it names none: the digest is zero
	position
	number int
	address
	damaged bool  // it does not fit its own hash
	issued  int64 // milliseconds since 1970
}

func (r *linkRecord) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(r.stream))
	b = append(b, flag(!r.first))
	b = append(b, r.digest[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.number))
	b = append(r.address.append(b), flag(r.damaged))
	return binary.BigEndian.AppendUint64(b, uint64(r.issued))
}

func parseLinkRecord(b []byte) (r linkRecord) {
	p := recordParser{b}
	r.stream, r.first = int(p.uint32()), p.bytes(1)[0] == 0
	copy(r.digest[:], p.bytes(len(r.digest)))
	r.number, r.address = int(p.uint64()), p.address()
	r.damaged, r.issued = p.bytes(1)[0] == 1, int64(p.uint64())
	return r
}

// A recordParser reads the fields of a record one after the other. A sorter gives
// back what it was given, so that they are there.
type recordParser struct{ rest []byte }

func (p *recordParser) bytes(n int) []byte {
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

func (p *recordParser) uint32() uint32 { return binary.BigEndian.Uint32(p.bytes(4)) }

func (p *recordParser) uint64() uint64 { return binary.BigEndian.Uint64(p.bytes(8)) }

func (p *recordParser) address() address {
	return address{source: int(p.uint32()), index: int(p.uint32())}
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
