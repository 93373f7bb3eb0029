package stream

import (
	"encoding/binary"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// An attendee is one receipt of a roster.
type attendee struct {
	stream   int
	again    bool
	link     chain.Link
	computed canon.Digest
	id       fingerprint
	issued   int64 // milliseconds since 1970
	fault    *fumble
	outcome
}

// An outcome is what a receipt is counted as, apart from a fault.
type outcome struct {
	own    receipt.Verdict
	reason receipt.Code // of own, unless that is verified
	spare  bool         // it is a copy that does not count
}

// alone is what a receipt is without its link, and the code of that.
func (a *attendee) alone() (receipt.Verdict, receipt.Code) {
	if a.fault != nil {
		return a.fault.own, a.fault.reason
	}
	return a.own, a.reason
}

// verified is the outcome of most receipts.
func verified() outcome { return outcome{own: receipt.Verified} }

// repeated adds an outcome to those that a copy does not count with again. What is refuted
// counts each time, and is not remembered: there may be any number of it.
func (o outcome) repeated(list []outcome) []outcome {
	if o.own == receipt.Refuted {
		return list
	}
	return append(list, o)
}

// sane reports whether an outcome is one that a run writes.
func (o outcome) sane() bool {
	known := o.own == receipt.Verified || o.own == receipt.Refuted || o.own == receipt.Undecided
	return known && (o.own == receipt.Verified) == (o.reason == "") && !(o.spare && o.own == receipt.Refuted)
}

func (a *attendee) holds() bool { return a.computed == a.link.Hash }

// A fumble is a link that failed where its receipt was read, and what the receipt
// is without that.
type fumble struct {
	code   receipt.Code
	own    receipt.Verdict
	reason receipt.Code // of own, unless that is verified
	healed bool         // among all parts merged the link holds
}

// sane reports whether a fault is one that a run writes.
func (f *fumble) sane() bool {
	switch f.own {
	case receipt.Verified:
		return f.reason == "" && aboutLinks(f.code)
	case receipt.Undecided:
		return f.reason != "" && aboutLinks(f.code)
	}
	return false
}

// Flags of a packed receipt.
const (
	rosterStream   = 1 << iota // of another stream than the one before
	rosterFirst                // it names no predecessor
	rosterPrevious             // it names another one than the receipt before
	rosterDamaged              // its content has another hash than it states
	rosterAgain                // it is a copy of one before it
	rosterFault                // its link failed where it was read
	rosterHealed               // and holds in what was merged since
	rosterOutcome              // it is not verified, or does not count
)

// An attendeeCoder writes and reads the receipts of one source, about 55 bytes each,
// and leaves out what the one before says:
//
//	flags     one byte
//	stream    uvarint, when it is not that of the receipt before
//	id        16 bytes, the first half of SHA-256 over issuer.id and receipt_id
//	hash      32 bytes, as stated
//	previous  32 bytes, when it is not the hash of the receipt before in the stream
//	computed  32 bytes, when it is not the stated hash
//	issued    varint, milliseconds after the receipt before
//	fault     when the link failed: its code, and the verdict and code without it
//	outcome   when it is not that of most receipts: whether it counts, its verdict and code
type attendeeCoder struct {
	stream int            // of the receipt before; -1 for none
	issued int64          // of it
	last   []canon.Digest // by stream: the hash before
}

// begin begins a source that has receipts of so many streams.
func (c *attendeeCoder) begin(streams int) {
	c.stream, c.issued = -1, 0
	if len(c.last) != streams {
		c.last = make([]canon.Digest, streams)
	}
	clear(c.last)
}

// grow makes room for another stream.
func (c *attendeeCoder) grow() { c.last = append(c.last, canon.Digest{}) }

// append writes a receipt after the one that was written before.
func (c *attendeeCoder) append(b []byte, a *attendee) []byte {
	at, flags := len(b), byte(0)
	b = append(b, 0)
	if a.stream != c.stream {
		flags |= rosterStream
		b = binary.AppendUvarint(b, uint64(a.stream))
	}

	// A predecessor that is the receipt before in its stream is not written.
	b = append(append(b, a.id[:]...), a.link.Hash[:]...)
	switch {
	case a.link.First:
		flags |= rosterFirst
	case a.link.Previous != c.last[a.stream]:
		flags |= rosterPrevious
		b = append(b, a.link.Previous[:]...)
	}

	if !a.holds() {
		flags |= rosterDamaged
		b = append(b, a.computed[:]...)
	}
	b = binary.AppendVarint(b, a.issued-c.issued)
	if a.again {
		flags |= rosterAgain
	}

	if f := a.fault; f != nil {
		flags |= rosterFault
		if f.healed {
			flags |= rosterHealed
		}
		b = append(appendText(b, []byte(f.code)), byte(f.own))
		b = appendText(b, []byte(f.reason))
	}
	if o := a.outcome; o != verified() {
		flags |= rosterOutcome
		b = append(b, flag(o.spare), byte(o.own))
		b = appendText(b, []byte(o.reason))
	}

	b[at] = flags
	c.after(a)
	return b
}

// parse reads what append wrote. A roster is read from a file: what no run writes is
// refused.
func (c *attendeeCoder) parse(u *unpacker) (attendee, error) {
	flags := u.byte()
	a := attendee{stream: c.stream, outcome: verified(), again: flags&rosterAgain != 0, link: chain.Link{First: flags&rosterFirst != 0}}
	if flags&rosterStream != 0 {
		a.stream = int(min(u.uvarint(), uint64(len(c.last))))
	}
	if a.stream < 0 || a.stream >= len(c.last) {
		return attendee{}, errRoster
	}
	if a.link.First && flags&rosterPrevious != 0 {
		return attendee{}, errRoster // it names no predecessor, or another one
	}

	copy(a.id[:], u.bytes(len(a.id)))
	copy(a.link.Hash[:], u.bytes(len(a.link.Hash)))
	switch {
	case flags&rosterPrevious != 0:
		copy(a.link.Previous[:], u.bytes(len(a.link.Previous)))
	case !a.link.First:
		a.link.Previous = c.last[a.stream]
	}

	if a.computed = a.link.Hash; flags&rosterDamaged != 0 {
		copy(a.computed[:], u.bytes(len(a.computed)))
	}
	a.issued = c.issued + u.varint()
	if flags&rosterFault != 0 {
		a.fault = &fumble{code: receipt.Code(u.text()), own: receipt.Verdict(u.byte()), reason: receipt.Code(u.text()), healed: flags&rosterHealed != 0}
	}

	if flags&rosterOutcome != 0 {
		a.outcome = outcome{spare: u.byte() == 1, own: receipt.Verdict(u.byte()), reason: receipt.Code(u.text())}
	}

	// A fault and an outcome are such that a run writes, and nothing is cut off.
	if u.short || a.fault != nil && !a.fault.sane() || !a.outcome.sane() || a.spare && !a.again {
		return attendee{}, errRoster
	}
	c.after(&a)
	return a, nil
}

// after remembers what the next receipt may leave out.
func (c *attendeeCoder) after(a *attendee) {
	c.stream, c.issued, c.last[a.stream] = a.stream, a.issued, a.link.Hash
}

// An unpacker reads from packed bytes. Once they do not suffice it is short.
type unpacker struct {
	rest  []byte
	short bool
}

func (u *unpacker) bytes(n int) []byte {
	if n > len(u.rest) {
		u.short, u.rest = true, nil
		return nil
	}
	b := u.rest[:n]
	u.rest = u.rest[n:]
	return b
}

func (u *unpacker) byte() byte {
	if b := u.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (u *unpacker) uvarint() uint64 {
	n, width := binary.Uvarint(u.rest)
	u.bytes(max(width, 0))
	u.short = u.short || width <= 0
	return n
}

func (u *unpacker) varint() int64 {
	n, width := binary.Varint(u.rest)
	u.bytes(max(width, 0))
	u.short = u.short || width <= 0
	return n
}

func (u *unpacker) text() string {
	n := u.uvarint()
	return string(u.bytes(int(min(n, uint64(len(u.rest)+1)))))
}
