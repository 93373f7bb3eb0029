package survey

import (
	"bytes"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// attendee returns a random receipt of one of three streams. It often follows the previously
// returned one.
func (d *dice) attendee(last []canon.Digest) Attendee {
	a := Attendee{stream: d.number() % len(last), again: d.yes(), issued: int64(d.number()), Outcome: verified()}
	hash := d.digest()
	copy(a.id[:], hash[:])
	a.link.Hash, a.computed = hash, hash
	switch d.number() % 4 {
	case 0:
		a.link = chain.Link{First: true, Hash: hash}
	case 1:
		a.link.Previous = d.digest()
	default:
		a.link.Previous = last[a.stream]
	}
	if d.number()%5 == 1 {
		a.computed = d.digest()
	}
	switch d.number() % 6 {
	case 1:
		a.Fault = &Fumble{Code: receipt.CodeChainBreak, own: receipt.Verified, healed: d.yes()}
		a.Fault.left = a.Fault.healed && d.yes()
	case 2:
		a.Fault = &Fumble{Code: receipt.CodeChainFork, own: receipt.Undecided, reason: receipt.CodeBatchNotChecked}
	case 3:
		a.Fault = &Fumble{Code: receipt.CodeLinkNotChecked, own: receipt.Verified, healed: d.yes()}
	}
	if a.Fault == nil {
		switch d.number() % 5 {
		case 1:
			a.Outcome = Outcome{Own: receipt.Refuted, Reason: receipt.CodeHashMismatch}
		case 2:
			a.Outcome = Outcome{Own: receipt.Undecided, Reason: receipt.CodeBatchNotChecked}
		}
	}
	a.Before = a.Alone().Own == receipt.Undecided && d.yes()
	a.Spare = a.again && a.Own != receipt.Refuted && d.yes()
	last[a.stream] = hash
	return a
}

// FuzzAttendees verifies that a packed receipt is unpacked without a change, and that packing
// unpacked bytes reproduces them.
func FuzzAttendees(f *testing.F) {
	for n := range 5 {
		f.Add(bytes.Repeat([]byte{0, 1, byte(n), 3, byte(7 * n)}, 60*n))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		const streams = 3
		d, last := dice{in}, make([]canon.Digest, streams)
		var list []Attendee
		for len(d.rest) > 0 {
			list = append(list, d.attendee(last))
		}
		again(t, list, streams)
		if list, err := (&Attendance{Packed: in}).unpack(streams); err == nil {
			again(t, list, streams)
		}
	})
}

func again(t *testing.T, list []Attendee, streams int) {
	t.Helper()
	var c attendeeCoder
	c.begin(streams)
	in := Attendance{}
	for i := range list {
		in.Packed = c.append(in.Packed, &list[i])
	}
	got, err := in.unpack(streams)
	if err != nil || len(got) != len(list) {
		t.Fatalf("%d receipts, %v; expected %d", len(got), err, len(list))
	}
	for i := range list {
		if compareAttendees(got[i], list[i]) != 0 || got[i].again != list[i].again || got[i].Before != list[i].Before || (got[i].Fault != nil && *got[i].Fault != *list[i].Fault) {
			t.Errorf("packed %+v, unpacked %+v", list[i], got[i])
		}
	}
}

// TestStreamKey verifies that a key identifies exactly one stream.
func TestStreamKey(t *testing.T) {
	names := []string{"", "a", "\x01a", "a\x00", "é"}
	seen := map[string]chain.Stream{}
	for _, issuer := range names {
		for _, workspace := range names {
			for _, s := range []chain.Stream{{Issuer: issuer, Workspace: workspace}, {Issuer: issuer, HasTenant: true, Workspace: workspace}, {Issuer: issuer, HasTenant: true, Tenant: "t", Workspace: workspace}} {
				key := streamKey(nil).appendStream(s)
				if got := key.Stream(); got != s {
					t.Errorf("%+v comes back as %+v", s, got)
				}
				if other, taken := seen[string(key)]; taken {
					t.Errorf("%+v and %+v have one key", s, other)
				}
				seen[string(key)] = s
			}
		}
	}
}
