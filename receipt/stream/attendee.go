package stream

import (
	"encoding/binary"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
)

// An attendee is one receipt of a roster.
type attendee struct {
	stream   int
	again    bool
	link     chain.Link
	computed canon.Digest
	id       fingerprint
	issued   int64 // milliseconds since 1970
	before   bool  // what it is without its link explains it whatever is found of the link
	fault    *fumble
	outcome
}

// An outcome is what a receipt is counted as, apart from a fault.
type outcome struct {
	own    receipt.Verdict
	reason receipt.Code // of own, unless that is verified
	spare  bool         // it is a copy that does not count
}

// alone is what a receipt is counted as if its link holds.
func (a *attendee) alone() outcome {
	if a.fault != nil {
		return a.fault.alone()
	}
	return outcome{own: a.own, reason: a.reason}
}

// linked reports whether the link of a receipt was seen to hold, in a part that may know
// what precedes it from elsewhere. A copy that does not count has none of its own.
func (a *attendee) linked() bool {
	switch {
	case a.spare:
		return false
	case a.fault != nil:
		return a.yields() && a.fault.healed && !a.fault.left
	}
	return a.yields() && !a.again
}

// yields reports whether a link that nobody can check leaves a receipt undecided under a
// strict policy, and for that reason.
func (a *attendee) yields() bool {
	own := a.alone()
	return own.own == receipt.Verified || own.own == receipt.Undecided && !a.before && own.reason != receipt.CodeLinkNotChecked
}

// leave keeps that nothing shows whether the link of a receipt holds.
func (a *attendee) leave() {
	a.fault = &fumble{code: receipt.CodeLinkNotChecked, own: a.own, reason: a.reason}
	a.outcome = outcome{own: receipt.Verified, spare: a.spare} // the fault tells it
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

// A fumble is a link that failed where its receipt was read, or that left the receipt
// undecided there, and what the receipt is without that.
type fumble struct {
	code   receipt.Code
	own    receipt.Verdict
	reason receipt.Code // of own, unless that is verified
	healed bool         // among all parts merged the link holds
	left   bool         // it failed, and among all parts merged nothing shows whether it holds
}

// sane reports whether a fault is one that a run writes.
func (f *fumble) sane() bool {
	if f.left && !(f.healed && f.failed()) {
		return false
	}
	switch f.own {
	case receipt.Verified:
		return f.reason == "" && (f.failed() || f.open())
	case receipt.Undecided:
		return f.reason != "" && (f.failed() || f.open())
	case receipt.Refuted: // an open link explains nothing that is false
		return f.reason != "" && f.failed() && !f.left
	}
	return false
}

// failed reports whether the link was false where it was read.
func (f *fumble) failed() bool { return aboutLinks(f.code) }

// open reports whether nobody could check the link where it was read.
func (f *fumble) open() bool {
	return f.code == receipt.CodeLinkNotChecked || f.code == vocab.CodeCopyNotChecked
}

// alone is what the receipt is counted as if its link holds.
func (f *fumble) alone() outcome { return outcome{own: f.own, reason: f.reason} }

// counted is what the receipt is counted as.
func (f *fumble) counted() outcome {
	switch {
	case f.left:
		return outcome{own: receipt.Undecided, reason: receipt.CodeLinkNotChecked}
	case f.healed:
		return f.alone()
	case f.failed():
		return outcome{own: receipt.Refuted, reason: f.code}
	}
	return outcome{own: receipt.Undecided, reason: f.code}
}

// settle takes what was found of the link among all parts merged: open says that nothing
// shows whether it holds, and that this decides. That a link is false which a part left
// open is a finding of the whole, and its receipt stays open.
func (f *fumble) settle(is mark, open bool) {
	switch {
	case f.failed():
		f.healed, f.left = !is.Failed(), open
		if is.Failed() {
			f.code = is.Code()
		}
	default:
		f.healed, f.code = !is.Failed() && !open, receipt.CodeLinkNotChecked
	}
}

// Flags of a packed receipt.
const (
	rosterStream   = 1 << iota // of another stream than the one before
	rosterFirst                // it names no predecessor
	rosterPrevious             // it names another one than the receipt before
	rosterDamaged              // its content has another hash than it states
	rosterAgain                // it is a copy of one before it
	rosterFault                // its link failed where it was read, or decided there since it was left open
	rosterHealed               // and holds in what was merged since
	rosterOutcome              // it is not verified, or does not count
)

// Flags of an outcome.
const (
	outcomeSpare  = 1 << iota // it does not count
	outcomeBefore             // it explains the receipt whatever is found of the link
)

// Flags of the verdict of a fault.
const (
	faultBefore = 0x10 << iota // it explains the receipt whatever is found of the link
	faultLeft                  // the link failed, and is open in what was merged since
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
//	fault     when the link failed, or was left open and that decided: its code, and the
//	          verdict, with flags, and code without it
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
		own := byte(f.own)
		if a.before {
			own |= faultBefore
		}
		if f.left {
			own |= faultLeft
		}
		b = append(appendText(b, []byte(f.code)), own)
		b = appendText(b, []byte(f.reason))
	}
	if o := a.outcome; o != verified() {
		flags |= rosterOutcome
		own := flag(o.spare) * outcomeSpare
		if a.before && a.fault == nil {
			own |= outcomeBefore
		}
		b = append(b, own, byte(o.own))
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
		a.fault = &fumble{code: receipt.Code(u.text()), healed: flags&rosterHealed != 0}
		own := u.byte()
		a.before, a.fault.left = own&faultBefore != 0, own&faultLeft != 0
		a.fault.own, a.fault.reason = receipt.Verdict(own&^(faultBefore|faultLeft)), receipt.Code(u.text())
	}

	if flags&rosterOutcome != 0 {
		own := u.byte()
		if own&^(outcomeSpare|outcomeBefore) != 0 || own&outcomeBefore != 0 && a.fault != nil {
			return attendee{}, errRoster
		}
		a.before = a.before || own&outcomeBefore != 0
		a.outcome = outcome{spare: own&outcomeSpare != 0, own: receipt.Verdict(u.byte()), reason: receipt.Code(u.text())}
	}

	// A fault and an outcome are such that a run writes, and nothing is cut off.
	if u.short || a.fault != nil && !a.fault.sane() || !a.outcome.sane() || a.spare && !a.again || a.before && a.alone().own != receipt.Undecided {
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
