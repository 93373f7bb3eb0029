package join

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/receiptkit/receiptkit/chain"
)

// version is the first byte of an encoded record. Records with any other version are rejected.
const version = 1

// errRecord indicates that bytes do not encode a record of this version.
var errRecord = errors.New("join: malformed record: expected bytes that Append of the same version wrote")

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendPlace(b []byte, p Place) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(p.Source)), uint64(p.Index))
}

// A reader parses fields one after the other, and sets short if there are too few bytes.
type reader struct {
	rest  []byte
	short bool
}

func (u *reader) bytes(n uint64) []byte {
	if n > uint64(len(u.rest)) {
		u.short, u.rest = true, nil
		return nil
	}
	b := u.rest[:n]
	u.rest = u.rest[n:]
	return b
}

func (u *reader) copy(to []byte) { copy(to, u.bytes(uint64(len(to)))) }

func (u *reader) byte() byte {
	if b := u.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (u *reader) uvarint() uint64 {
	n, width := binary.Uvarint(u.rest)
	u.bytes(uint64(max(width, 0)))
	u.short = u.short || width <= 0
	return n
}

func (u *reader) varint() int64 {
	n, width := binary.Varint(u.rest)
	u.bytes(uint64(max(width, 0)))
	u.short = u.short || width <= 0
	return n
}

func (u *reader) text() string { return string(u.bytes(u.uvarint())) }

// number reads a count, which must fit into an int.
func (u *reader) number() int {
	n := u.uvarint()
	u.short = u.short || n > math.MaxInt
	return int(n & math.MaxInt)
}

func (u *reader) stream(tenant bool) (s chain.Stream) {
	s.Issuer = u.text()
	if s.HasTenant = tenant; tenant {
		s.Tenant = u.text()
	}
	s.Workspace = u.text()
	return s
}

func (u *reader) place() Place { return Place{Source: u.number(), Index: u.number()} }
