package survey

import (
	"encoding/binary"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/rules"
)

// An Attendee is one receipt of a roster.
type Attendee struct {
	stream   int
	again    bool
	link     chain.Link
	computed canon.Digest
	id       fingerprint
	issued   int64 // milliseconds since 1970
	Before   bool  // what it is without its link explains it whatever is found of the link
	Fault    *Fumble
	Outcome
}

// An Outcome is what a receipt is counted as, apart from a fault.
type Outcome struct {
	Own    receipt.Verdict
	Reason receipt.Code // of own, unless that is verified
	Spare  bool         // it is a copy that does not count
}

// Alone is what a receipt is counted as if its link holds.
func (a *Attendee) Alone() Outcome {
	if a.Fault != nil {
		return a.Fault.alone()
	}
	return Outcome{Own: a.Own, Reason: a.Reason}
}

// linked reports whether the link of a receipt was seen to hold, in a part that may know
// what precedes it from elsewhere. A copy that does not count has none of its own.
func (a *Attendee) linked() bool {
	switch {
	case a.Spare:
		return false
	case a.Fault != nil:
		return a.Yields() && a.Fault.healed && !a.Fault.left
	}
	return a.Yields() && !a.again
}

// Yields reports whether a link that nobody can check leaves a receipt undecided under a
// strict policy, and for that reason.
func (a *Attendee) Yields() bool {
	own := a.Alone()
	return own.Own == receipt.Verified || own.Own == receipt.Undecided && !a.Before && own.Reason != receipt.CodeLinkNotChecked
}

// Leave keeps that nothing shows whether the link of a receipt holds.
func (a *Attendee) Leave() {
	a.Fault = &Fumble{Code: receipt.CodeLinkNotChecked, own: a.Own, reason: a.Reason}
	a.Outcome = Outcome{Own: receipt.Verified, Spare: a.Spare} // the fault tells it
}

// parseFault reads the fault of a receipt.
func (a *Attendee) parseFault(u *unpacker, healed bool) {
	a.Fault = &Fumble{Code: receipt.Code(u.text()), healed: healed}
	own := u.byte()
	a.Before, a.Fault.left = own&faultBefore != 0, own&faultLeft != 0
	a.Fault.own, a.Fault.reason = receipt.Verdict(own&^(faultBefore|faultLeft)), receipt.Code(u.text())
}

// parseOutcome reads the outcome of a receipt. It reports whether its flags are those that a
// run writes.
func (a *Attendee) parseOutcome(u *unpacker) bool {
	own := u.byte()
	if own&^(outcomeSpare|outcomeBefore) != 0 || own&outcomeBefore != 0 && a.Fault != nil {
		return false
	}
	a.Before = a.Before || own&outcomeBefore != 0
	a.Outcome = Outcome{Spare: own&outcomeSpare != 0, Own: receipt.Verdict(u.byte()), Reason: receipt.Code(u.text())}
	return true
}

// sane reports whether the fault and the outcome are such that a run writes.
func (a *Attendee) sane() bool {
	if a.Fault != nil && !a.Fault.sane() || !a.Outcome.sane() {
		return false
	}
	return (!a.Spare || a.again) && (!a.Before || a.Alone().Own == receipt.Undecided)
}

// verified is the outcome of most receipts.
func verified() Outcome { return Outcome{Own: receipt.Verified} }

// repeated adds an outcome to those that a copy does not count with again. What is refuted
// counts each time, and is not remembered: there may be any number of it.
func (o Outcome) repeated(list []Outcome) []Outcome {
	if o.Own == receipt.Refuted {
		return list
	}
	return append(list, o)
}

// sane reports whether an outcome is one that a run writes.
func (o Outcome) sane() bool {
	known := o.Own == receipt.Verified || o.Own == receipt.Refuted || o.Own == receipt.Undecided
	return known && (o.Own == receipt.Verified) == (o.Reason == "") && !(o.Spare && o.Own == receipt.Refuted)
}

func (a *Attendee) holds() bool { return a.computed == a.link.Hash }

// A Fumble is a link that failed where its receipt was read, or that left the receipt
// undecided there, and what the receipt is without that.
type Fumble struct {
	Code   receipt.Code
	own    receipt.Verdict
	reason receipt.Code // of own, unless that is verified
	healed bool         // among all parts merged the link holds
	left   bool         // it failed, and among all parts merged nothing shows whether it holds
}

// sane reports whether a fault is one that a run writes.
func (f *Fumble) sane() bool {
	if f.left && !(f.healed && f.Failed()) {
		return false
	}
	switch f.own {
	case receipt.Verified:
		return f.reason == "" && (f.Failed() || f.Open())
	case receipt.Undecided:
		return f.reason != "" && (f.Failed() || f.Open())
	case receipt.Refuted: // an open link explains nothing that is false
		return f.reason != "" && f.Failed() && !f.left
	}
	return false
}

// Failed reports whether the link was false where it was read.
func (f *Fumble) Failed() bool { return AboutLinks(f.Code) }

// Open reports whether nobody could check the link where it was read.
func (f *Fumble) Open() bool {
	return f.Code == receipt.CodeLinkNotChecked || f.Code == receipt.CodeCopyNotChecked
}

// alone is what the receipt is counted as if its link holds.
func (f *Fumble) alone() Outcome { return Outcome{Own: f.own, Reason: f.reason} }

// Counted is what the receipt is counted as.
func (f *Fumble) Counted() Outcome {
	switch {
	case f.left:
		return Outcome{Own: receipt.Undecided, Reason: receipt.CodeLinkNotChecked}
	case f.healed:
		return f.alone()
	case f.Failed():
		return Outcome{Own: receipt.Refuted, Reason: f.Code}
	}
	return Outcome{Own: receipt.Undecided, Reason: f.Code}
}

// Settle takes what was found of the link among all parts merged: open says that nothing
// shows whether it holds, and that this decides. That a link is false which a part left
// open is a finding of the whole, and its receipt stays open.
func (f *Fumble) Settle(is rules.Mark, open bool) {
	switch {
	case f.Failed():
		f.healed, f.left = !is.Failed(), open
		if is.Failed() {
			f.Code = is.Code()
		}
	default:
		f.healed, f.Code = !is.Failed() && !open, receipt.CodeLinkNotChecked
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
func (c *attendeeCoder) append(b []byte, a *Attendee) []byte {
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

	if f := a.Fault; f != nil {
		flags |= rosterFault
		if f.healed {
			flags |= rosterHealed
		}
		own := byte(f.own)
		if a.Before {
			own |= faultBefore
		}
		if f.left {
			own |= faultLeft
		}
		b = append(appendText(b, []byte(f.Code)), own)
		b = appendText(b, []byte(f.reason))
	}
	if o := a.Outcome; o != verified() {
		flags |= rosterOutcome
		own := flag(o.Spare) * outcomeSpare
		if a.Before && a.Fault == nil {
			own |= outcomeBefore
		}
		b = append(b, own, byte(o.Own))
		b = appendText(b, []byte(o.Reason))
	}

	b[at] = flags
	c.after(a)
	return b
}

// parse reads what append wrote. A roster is read from a file: what no run writes is
// refused.
func (c *attendeeCoder) parse(u *unpacker) (Attendee, error) {
	flags := u.byte()
	a := Attendee{stream: c.stream, Outcome: verified(), again: flags&rosterAgain != 0, link: chain.Link{First: flags&rosterFirst != 0}}
	if flags&rosterStream != 0 {
		a.stream = int(min(u.uvarint(), uint64(len(c.last))))
	}
	if a.stream < 0 || a.stream >= len(c.last) {
		return Attendee{}, errRoster
	}
	if a.link.First && flags&rosterPrevious != 0 {
		return Attendee{}, errRoster // it names no predecessor, or another one
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
		a.parseFault(u, flags&rosterHealed != 0)
	}
	if flags&rosterOutcome != 0 && !a.parseOutcome(u) || u.short || !a.sane() {
		return Attendee{}, errRoster
	}
	c.after(&a)
	return a, nil
}

// after remembers what the next receipt may leave out.
func (c *attendeeCoder) after(a *Attendee) {
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

// AboutLinks reports whether a code is about how receipts stand to each other.
func AboutLinks(code receipt.Code) bool {
	return code == receipt.CodeChainBreak || code == receipt.CodeChainFork || code == receipt.CodeDuplicateID
}
