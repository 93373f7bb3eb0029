package join

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Record contains the data for joining one receipt that states its place in a stream.
type Record struct {
	Stream   chain.Stream
	ID       ID
	Stated   canon.Digest // the stated hash
	Computed canon.Digest // the hash of its content
	First    bool         // the receipt states that it has no predecessor
	Previous canon.Digest // the predecessor's hash that the receipt names; zero if First
	Issued   int64        // milliseconds since 1970
	Place    Place

	// The outcome of the receipt if its link is valid.
	Verdict receipt.Verdict
	Reason  receipt.Code // the code of the verdict; empty if verified
	Before  bool         // the reason remains, regardless of findings about the link

	// The result of the previous groupings, initially MarkLinked or MarkDamaged.
	Mark    Mark
	Related Place // the receipt that the mark refers to; zero if there is none
}

// holds reports whether the content matches the stated hash.
func (r *Record) holds() bool { return r.Stated == r.Computed }

// Begin sets the mark of a record before the first grouping.
func (r *Record) Begin() {
	r.Mark, r.Related = MarkLinked, Place{}
	if !r.holds() {
		r.Mark = MarkDamaged
	}
}

// Key returns the key of the first grouping. If the receipt does not match its stated hash, ok is
// false, because its ID may have been altered.
func (r *Record) Key() (key ID, ok bool) { return r.ID, r.holds() }

// settle sets the mark of a receipt only once, so that each receipt has at most one finding.
func (r *Record) settle(m Mark, related Place) {
	if r.Mark == MarkLinked && m != MarkLinked {
		r.Mark, r.Related = m, related
	}
}

// outcome returns the verdict for which the receipt is counted and, unless the receipt is verified,
// its code. If strict is set, an unchecked link leaves the receipt undecided.
func (r *Record) outcome(strict bool) (receipt.Verdict, receipt.Code) {
	code, failed := r.Mark.Code(), r.Mark.Failed()
	switch {
	case r.Verdict == receipt.Refuted && (r.Before || !failed):
		return receipt.Refuted, r.Reason
	case failed:
		return receipt.Refuted, code
	case r.Mark.Open() && strict && !(r.Verdict == receipt.Undecided && r.Before):
		return receipt.Undecided, code
	}
	return r.Verdict, r.Reason
}

// compare defines an order of records that is independent of the reading order, except for equal
// records.
func (r *Record) compare(o *Record) int {
	return cmp.Or(Earlier(r.Issued, r.Computed, o.Issued, o.Computed), bytes.Compare(r.Stated[:], o.Stated[:]),
		cmp.Compare(r.Verdict, o.Verdict), cmp.Compare(r.Reason, o.Reason), r.Place.Compare(o.Place))
}

// Parts returns the parts of the receipt for the second grouping.
func (r *Record) Parts() []Part {
	list := []Part{{roleStates, *r}}
	if !r.holds() {
		list = append(list, Part{roleHas, *r})
	}
	if !r.First {
		list = append(list, Part{roleNames, *r})
	}
	return list
}

// Flags in the encoding of a record.
const (
	flagTenant  = 1 << iota // the stream has a tenant
	flagFirst               // the receipt names no predecessor
	flagDamaged             // the content does not have the stated hash
	flagBefore              // the reason for the verdict results from a step before the link
	flagRelated             // the mark refers to another receipt
	flagsKnown  = 1<<iota - 1
)

// Append appends the encoded record, which has about 170 bytes. Equal records have equal encodings:
//
//	version   one byte, 1
//	flags     one byte
//	mark      one byte
//	verdict   one byte, and its code as a string
//	stream    the strings issuer, tenant if there is one, and workspace
//	id        16 bytes
//	stated    32 bytes
//	computed  32 bytes, unless it is the same
//	previous  32 bytes, unless it is the first
//	issued    varint
//	place     uvarints of source and index, and of those of the related receipt, if any
//
// A string is encoded as a uvarint with its length, followed by its bytes. Numbers have the
// shortest encoding.
func (r *Record) Append(b []byte) []byte {
	flags := byte(0)
	for i, set := range [...]bool{r.Stream.HasTenant, r.First, !r.holds(), r.Before, r.Related != Place{}} {
		if set {
			flags |= 1 << i
		}
	}

	b = append(b, version, flags, byte(r.Mark), byte(r.Verdict))
	b = appendText(b, string(r.Reason))
	b = appendStream(b, r.Stream)

	b = append(append(b, r.ID[:]...), r.Stated[:]...)
	if !r.holds() {
		b = append(b, r.Computed[:]...)
	}
	if !r.First {
		b = append(b, r.Previous[:]...)
	}

	b = appendPlace(binary.AppendVarint(b, r.Issued), r.Place)
	if flags&flagRelated != 0 {
		b = appendPlace(b, r.Related)
	}
	return b
}

// Parse parses the bytes that [Record.Append] writes, and rejects all other bytes.
func Parse(b []byte) (Record, error) {
	u := reader{rest: b}
	if u.byte() != version {
		return Record{}, errRecord
	}

	flags := u.byte()
	r := Record{First: flags&flagFirst != 0, Before: flags&flagBefore != 0, Mark: Mark(u.byte()), Verdict: receipt.Verdict(u.byte()), Reason: receipt.Code(u.text())}
	r.Stream = u.stream(flags&flagTenant != 0)

	u.copy(r.ID[:])
	u.copy(r.Stated[:])
	if r.Computed = r.Stated; flags&flagDamaged != 0 {
		u.copy(r.Computed[:])
	}
	if !r.First {
		u.copy(r.Previous[:])
	}
	r.Issued, r.Place = u.varint(), u.place()
	if flags&flagRelated != 0 {
		r.Related = u.place()
	}

	// Values that no record has, and other encodings of the same record, are rejected.
	switch {
	case u.short || len(u.rest) > 0 || flags&^flagsKnown != 0 || r.Mark >= MarkCount || r.Verdict > receipt.Refuted:
		return Record{}, errRecord
	case (r.Verdict == receipt.Verified) != (r.Reason == ""):
		return Record{}, errRecord
	case !bytes.Equal(r.Append(make([]byte, 0, len(b))), b):
		return Record{}, errRecord
	}
	return r, nil
}
