package stream

import (
	"encoding/binary"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// MaxRoster is how many receipts a summary remembers with their ids and links, so
// that it can be merged with others as if all had been read together. The
// summary of more receipts knows only where their streams begin and end.
const MaxRoster = 1 << 16

// A roster is the receipts of a summary as a survey sees them: by source, in
// their order. Nil is a summary that does not remember them.
type roster struct {
	streams  []chain.Stream
	sources  []attendance
	receipts int

	numbers map[string]int // of streams by their key, while receipts are added
	source  int            // of the last item, counted from 1
	last    []canon.Digest // by stream: the hash before, in the source of the last item
	stream  int            // of the last item
	issued  int64
}

// An attendance is what one source holds. Its receipts are packed, about 55 bytes
// each:
//
//	flags     one byte
//	stream    uvarint, when it is not that of the receipt before
//	id        16 bytes, the first half of SHA-256 over issuer.id and receipt_id
//	hash      32 bytes, as stated
//	previous  32 bytes, when it is not the hash of the receipt before in the stream
//	computed  32 bytes, when it is not the stated hash
//	issued    varint, milliseconds after the receipt before
//	fault     when the link failed: its code, and the verdict and code without it
type attendance struct {
	partial  bool // of a selection
	unplaced int  // documents that state no place in a stream
	packed   []byte
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
	rosterUnknown
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
}

// A fumble is a link that failed where its receipt was read, and what the receipt
// is without that.
type fumble struct {
	code   receipt.Code
	own    receipt.Verdict
	reason receipt.Code // of own, unless that is verified
	healed bool         // among all parts merged the link holds
}

func (a *attendee) holds() bool { return a.computed == a.link.Hash }

func newRoster() *roster { return &roster{numbers: map[string]int{}} }

// add remembers an item that was placed; own is its verdict before that. It
// reports false when there is no room.
func (r *roster) add(it *item, o *Options, own receipt.Verdict, reason receipt.Code) bool {
	if it.source+1 != r.source {
		r.source, r.stream, r.issued = it.source+1, -1, 0
		clear(r.last)
		r.sources = append(r.sources, attendance{partial: o.Partial})
	}

	in := &r.sources[len(r.sources)-1]
	f := &it.facts
	if !f.placed {
		in.unplaced++
		return true
	}
	if r.receipts++; r.receipts > o.mostRostered() {
		return false
	}

	a := attendee{again: it.again, link: f.link, computed: f.computed, id: f.id, issued: f.issued.UnixMilli()}
	var known bool
	if a.stream, known = r.numbers[string(f.stream)]; !known {
		a.stream = len(r.streams)
		r.numbers[string(f.stream)] = a.stream
		r.streams, r.last = append(r.streams, parseStreamKey(f.stream)), append(r.last, canon.Digest{})
	}

	// A merge may find that the link holds: then this is what the receipt is.
	if link := it.rep.Check(receipt.StepLink); link.Status == receipt.StatusFailed && own != receipt.Refuted && !it.foreign {
		a.fault = &fumble{code: link.Code, own: own, reason: reason}
	}

	in.packed = r.pack(in.packed, &a)
	return true
}

// documents is how many documents a roster is of, copies too.
func (r *roster) documents() int {
	n := r.receipts
	for _, in := range r.sources {
		n += in.unplaced
	}
	return n
}

// pack appends a receipt after the one that was packed before.
func (r *roster) pack(b []byte, a *attendee) []byte {
	at, flags := len(b), byte(0)
	b = append(b, 0)
	if a.stream != r.stream {
		flags |= rosterStream
		b = binary.AppendUvarint(b, uint64(a.stream))
	}

	// A predecessor that is the receipt before in its stream is not written.
	b = append(append(b, a.id[:]...), a.link.Hash[:]...)
	switch {
	case a.link.First:
		flags |= rosterFirst
	case a.link.Previous != r.last[a.stream]:
		flags |= rosterPrevious
		b = append(b, a.link.Previous[:]...)
	}

	if !a.holds() {
		flags |= rosterDamaged
		b = append(b, a.computed[:]...)
	}

	b = binary.AppendVarint(b, a.issued-r.issued)
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

	b[at] = flags
	r.stream, r.issued, r.last[a.stream] = a.stream, a.issued, a.link.Hash
	return b
}

var errRoster = errors.New("its roster is malformed")

// unpack returns the receipts of a source.
func (in *attendance) unpack(streams int) (list []attendee, err error) {
	u := unpacker{rest: in.packed}
	last := make([]canon.Digest, streams)
	stream, issued := -1, int64(0)
	for len(u.rest) > 0 {
		flags := u.byte()
		a := attendee{again: flags&rosterAgain != 0, link: chain.Link{First: flags&rosterFirst != 0}}
		if flags&rosterStream != 0 {
			stream = int(min(u.uvarint(), uint64(streams)))
		}
		if a.stream = stream; flags >= rosterUnknown || stream < 0 || stream >= streams {
			return nil, errRoster
		}

		copy(a.id[:], u.bytes(len(a.id)))
		copy(a.link.Hash[:], u.bytes(len(a.link.Hash)))
		switch {
		case flags&rosterPrevious != 0:
			copy(a.link.Previous[:], u.bytes(len(a.link.Previous)))
		case !a.link.First:
			a.link.Previous = last[stream]
		}

		if a.computed = a.link.Hash; flags&rosterDamaged != 0 {
			copy(a.computed[:], u.bytes(len(a.computed)))
		}
		issued += u.varint()
		a.issued = issued
		if flags&rosterFault != 0 {
			a.fault = &fumble{code: receipt.Code(u.text()), own: receipt.Verdict(u.byte()), reason: receipt.Code(u.text()), healed: flags&rosterHealed != 0}
		}

		// A roster is read from a file: what no run writes is refused.
		if u.short || a.fault != nil && !a.fault.sane() {
			return nil, errRoster
		}
		last[stream] = a.link.Hash
		list = append(list, a)
	}

	return list, nil
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

// streamKey is the key of a stream, as appendStreamKey makes it of a receipt.
func streamKey(s chain.Stream) []byte {
	key := appendText(nil, []byte(s.Issuer))
	if s.HasTenant {
		key = appendText(append(key, 1), []byte(s.Tenant))
	} else {
		key = append(key, 0)
	}
	return appendText(key, []byte(s.Workspace))
}
