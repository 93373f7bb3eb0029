package survey

import (
	"encoding/binary"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
)

// An Attendee is the entry for one receipt in a roster.
type Attendee struct {
	stream   int
	again    bool
	link     chain.Link
	computed canon.Digest
	id       fingerprint
	issued   int64 // milliseconds since 1970
	Before   bool  // the receipt keeps its outcome, regardless of the result for its link
	Fault    *Fumble
	Outcome
}

// An Outcome is the verdict with which a receipt is counted, not including a fault in its link.
type Outcome struct {
	Own    receipt.Verdict
	Reason receipt.Code // the code that explains Own; "" if Own is verified
	Spare  bool         // the receipt is a copy that is not counted
}

// Alone returns the outcome that the receipt has if its link is valid.
func (a *Attendee) Alone() Outcome {
	if a.Fault != nil {
		return a.Fault.alone()
	}
	return Outcome{Own: a.Own, Reason: a.Reason}
}

// linked reports whether the link of the receipt was valid within a part. The predecessor may have
// been specified from outside the part. A copy that is not counted does not have a separate link.
func (a *Attendee) linked() bool {
	switch {
	case a.Spare:
		return false
	case a.Fault != nil:
		return a.Yields() && a.Fault.healed && !a.Fault.left
	}
	return a.Yields() && !a.again
}

// Yields reports whether an unchecked link makes the receipt undecided under a strict policy.
func (a *Attendee) Yields() bool {
	own := a.Alone()
	return own.Own == receipt.Verified || own.Own == receipt.Undecided && !a.Before && own.Reason != receipt.CodeLinkNotChecked
}

// Leave records that the link of the receipt is unchecked.
func (a *Attendee) Leave() {
	a.Fault = &Fumble{Code: receipt.CodeLinkNotChecked, own: a.Own, reason: a.Reason}
	a.Outcome = Outcome{Own: receipt.Verified, Spare: a.Spare} // the fault now contains the outcome
}

// parseFault parses the fault of a packed receipt.
func (a *Attendee) parseFault(u *unpacker, healed bool) {
	a.Fault = &Fumble{Code: receipt.Code(u.text()), healed: healed}
	own := u.byte()
	a.Before, a.Fault.left = own&faultBefore != 0, own&faultLeft != 0
	a.Fault.own, a.Fault.reason = receipt.Verdict(own&^(faultBefore|faultLeft)), receipt.Code(u.text())
}

// parseOutcome parses the outcome of a packed receipt. It reports whether the flags of the outcome
// are valid.
func (a *Attendee) parseOutcome(u *unpacker) bool {
	own := u.byte()
	if own&^(outcomeSpare|outcomeBefore) != 0 || own&outcomeBefore != 0 && a.Fault != nil {
		return false
	}
	a.Before = a.Before || own&outcomeBefore != 0
	a.Outcome = Outcome{Spare: own&outcomeSpare != 0, Own: receipt.Verdict(u.byte()), Reason: receipt.Code(u.text())}
	return true
}

// sane reports whether a run can result in such a fault and outcome.
func (a *Attendee) sane() bool {
	if a.Fault != nil && !a.Fault.sane() || !a.Outcome.sane() {
		return false
	}
	return (!a.Spare || a.again) && (!a.Before || a.Alone().Own == receipt.Undecided)
}

// verified returns the most common outcome.
func verified() Outcome { return Outcome{Own: receipt.Verified} }

// repeated adds the outcome to the list of outcomes for which further copies are not counted. A
// refuted outcome is counted for every copy. It is therefore not added. This also bounds the list,
// because there may be any number of refuted copies.
func (o Outcome) repeated(list []Outcome) []Outcome {
	if o.Own == receipt.Refuted {
		return list
	}
	return append(list, o)
}

// sane reports whether a run can result in such an outcome.
func (o Outcome) sane() bool {
	known := o.Own == receipt.Verified || o.Own == receipt.Refuted || o.Own == receipt.Undecided
	return known && (o.Own == receipt.Verified) == (o.Reason == "") && !(o.Spare && o.Own == receipt.Refuted)
}

func (a *Attendee) holds() bool { return a.computed == a.link.Hash }

// A Fumble describes a link that was invalid when the receipt was read, or that made the receipt
// undecided. It contains the outcome that the receipt would have without this fault.
type Fumble struct {
	Code   receipt.Code
	own    receipt.Verdict
	reason receipt.Code // the code that explains own; "" if own is verified
	healed bool         // the link is valid among the receipts of all merged parts
	left   bool         // the link was invalid, but is unchecked among the receipts of all merged parts
}

// sane reports whether a run can result in such a fault.
func (f *Fumble) sane() bool {
	if f.left && !(f.healed && f.Failed()) {
		return false
	}
	switch f.own {
	case receipt.Verified:
		return f.reason == "" && (f.Failed() || f.Open())
	case receipt.Undecided:
		return f.reason != "" && (f.Failed() || f.Open())
	case receipt.Refuted: // an unchecked link does not replace a refuted outcome
		return f.reason != "" && f.Failed() && !f.left
	}
	return false
}

// Failed reports whether the link was invalid when the receipt was read.
func (f *Fumble) Failed() bool { return AboutLinks(f.Code) }

// Open reports whether the link was unchecked when the receipt was read.
func (f *Fumble) Open() bool {
	return f.Code == receipt.CodeLinkNotChecked || f.Code == receipt.CodeCopyNotChecked
}

// alone returns the outcome that the receipt has if its link is valid.
func (f *Fumble) alone() Outcome { return Outcome{Own: f.own, Reason: f.reason} }

// Counted returns the outcome with which the receipt is counted.
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

// Settle records the mark of the link among the receipts of all merged parts. open means that the
// link is unchecked, and that the receipt is therefore undecided. If the link was unchecked within
// a part but is invalid among all parts, the merged summary has a finding for it, and the receipt
// remains undecided.
func (f *Fumble) Settle(is join.Mark, open bool) {
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

// These are the flags of a packed receipt.
const (
	rosterStream   = 1 << iota // the stream of the receipt is not the stream of the previous receipt
	rosterFirst                // the receipt has no predecessor
	rosterPrevious             // the receipt names a predecessor other than the previous receipt in its stream
	rosterDamaged              // the stated hash of the receipt does not match its content
	rosterAgain                // the receipt is a copy of an earlier receipt
	rosterFault                // the receipt has a fault: its link was invalid, or was unchecked and made the receipt undecided
	rosterHealed               // the link is valid among the receipts that have been merged since
	rosterOutcome              // the receipt is not verified, or is not counted
)

// These are the flags of an outcome.
const (
	outcomeSpare  = 1 << iota // the receipt is not counted
	outcomeBefore             // the receipt keeps its outcome, regardless of the result for its link
)

// These are flags that are combined with the verdict of a fault.
const (
	faultBefore = 0x10 << iota // the receipt keeps its outcome, regardless of the result for its link
	faultLeft                  // the link was invalid, but is unchecked among the receipts that have been merged since
)

// An attendeeCoder encodes and decodes the receipts of a single source. A packed receipt requires
// about 55 bytes, because fields that can be derived from the previous receipt are omitted:
//
//	flags     one byte
//	stream    uvarint, unless it is that of the previous receipt
//	id        16 bytes, the first half of SHA-256 over issuer.id and receipt_id
//	hash      32 bytes, as stated
//	previous  32 bytes, unless it is the hash of the previous receipt in the stream
//	computed  32 bytes, unless it is the stated hash
//	issued    varint, milliseconds after the previous receipt
//	fault     if the link failed, or was unchecked and left the receipt undecided: its code,
//	          and the verdict, with flags, and code without it
//	outcome   unless it is that of most receipts: whether it counts, its verdict, and its code
type attendeeCoder struct {
	stream int            // stream of the previous receipt; -1 if there is no previous receipt
	issued int64          // time of the previous receipt
	last   []canon.Digest // the previous hash in each stream
}

// begin prepares the coder for a source, given the number of streams in the roster.
func (c *attendeeCoder) begin(streams int) {
	c.stream, c.issued = -1, 0
	if len(c.last) != streams {
		c.last = make([]canon.Digest, streams)
	}
	clear(c.last)
}

// grow adds a stream to the coder.
func (c *attendeeCoder) grow() { c.last = append(c.last, canon.Digest{}) }

// append appends the encoding of a receipt to b.
func (c *attendeeCoder) append(b []byte, a *Attendee) []byte {
	at, flags := len(b), byte(0)
	b = append(b, 0)
	if a.stream != c.stream {
		flags |= rosterStream
		b = binary.AppendUvarint(b, uint64(a.stream))
	}

	// The predecessor is omitted if it is the previous receipt in the stream.
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

		// The upper bits of the verdict byte contain further flags.
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

	// A verified and counted receipt has the most common outcome, which requires no bytes.
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

// parse decodes a receipt that append has encoded. Rosters are read from files, so parse rejects
// data that append cannot have written.
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
		return Attendee{}, errRoster // a receipt without a predecessor cannot name one
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

// after records the fields of a receipt from which fields of the next receipt can be derived.
func (c *attendeeCoder) after(a *Attendee) {
	c.stream, c.issued, c.last[a.stream] = a.stream, a.issued, a.link.Hash
}

// An unpacker reads packed data. short is set if the data ends too early.
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

// AboutLinks reports whether a code is about the relationship between receipts.
func AboutLinks(code receipt.Code) bool {
	return code == receipt.CodeChainBreak || code == receipt.CodeChainFork || code == receipt.CodeDuplicateID
}
