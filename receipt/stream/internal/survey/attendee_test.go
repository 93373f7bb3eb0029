package survey

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
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

// TestAttendees verifies the properties of FuzzAttendees for random receipts, and for packed receipts
// with changed bytes.
func TestAttendees(t *testing.T) {
	const streams = 3
	rng := rand.NewChaCha8([32]byte{})
	for range 100 {
		in := make([]byte, 2000)
		_, _ = rng.Read(in)
		d, last := dice{in}, make([]canon.Digest, streams)
		var list []Attendee
		var c attendeeCoder
		c.begin(streams)
		var packed []byte
		for len(d.rest) > 0 {
			list = append(list, d.attendee(last))
			packed = c.append(packed, &list[len(list)-1])
		}
		again(t, list, streams)
		for range 20 {
			changed := bytes.Clone(packed)
			changed[rng.Uint64()%uint64(len(changed))] ^= byte(1 << (rng.Uint64() % 8))
			if list, err := (&Attendance{Packed: changed}).unpack(streams); err == nil {
				again(t, list, streams)
			}
		}
	}
}

// TestAttendeeSane verifies which faults and outcomes a report may contain.
func TestAttendeeSane(t *testing.T) {
	const broken, open, batch = receipt.CodeChainBreak, receipt.CodeLinkNotChecked, receipt.CodeBatchNotChecked
	fault := func(f Fumble) Attendee { return Attendee{Outcome: verified(), Fault: &f} }
	for name, c := range map[string]struct {
		a    Attendee
		want bool
	}{
		"verified":                     {Attendee{Outcome: verified()}, true},
		"verified for a reason":        {Attendee{Outcome: Outcome{Own: receipt.Verified, Reason: batch}}, false},
		"undecided":                    {Attendee{Outcome: Outcome{Own: receipt.Undecided, Reason: batch}}, true},
		"undecided for no reason":      {Attendee{Outcome: Outcome{Own: receipt.Undecided}}, false},
		"another verdict":              {Attendee{Outcome: Outcome{Own: 77, Reason: batch}}, false},
		"a copy":                       {Attendee{again: true, Outcome: Outcome{Own: receipt.Verified, Spare: true}}, true},
		"an uncounted original":        {Attendee{Outcome: Outcome{Own: receipt.Verified, Spare: true}}, false},
		"an uncounted refuted copy":    {Attendee{again: true, Outcome: Outcome{Own: receipt.Refuted, Reason: broken, Spare: true}}, false},
		"undecided before":             {Attendee{Before: true, Outcome: Outcome{Own: receipt.Undecided, Reason: batch}}, true},
		"verified before":              {Attendee{Before: true, Outcome: verified()}, false},
		"failed":                       {fault(Fumble{Code: broken, own: receipt.Verified}), true},
		"failed, for a reason":         {fault(Fumble{Code: broken, own: receipt.Verified, reason: batch}), false},
		"open":                         {fault(Fumble{Code: open, own: receipt.Verified}), true},
		"neither":                      {fault(Fumble{Code: batch, own: receipt.Verified}), false},
		"undecided, failed":            {fault(Fumble{Code: broken, own: receipt.Undecided, reason: batch}), true},
		"undecided, open":              {fault(Fumble{Code: open, own: receipt.Undecided, reason: batch}), true},
		"undecided, neither":           {fault(Fumble{Code: batch, own: receipt.Undecided, reason: batch}), false},
		"undecided, no reason":         {fault(Fumble{Code: broken, own: receipt.Undecided}), false},
		"refuted, failed":              {fault(Fumble{Code: broken, own: receipt.Refuted, reason: batch}), true},
		"refuted, open":                {fault(Fumble{Code: open, own: receipt.Refuted, reason: batch}), false},
		"refuted, no reason":           {fault(Fumble{Code: broken, own: receipt.Refuted}), false},
		"refuted, left":                {fault(Fumble{Code: broken, own: receipt.Refuted, reason: batch, healed: true, left: true}), false},
		"left":                         {fault(Fumble{Code: broken, own: receipt.Verified, healed: true, left: true}), true},
		"left, not healed":             {fault(Fumble{Code: broken, own: receipt.Verified, left: true}), false},
		"left, open":                   {fault(Fumble{Code: open, own: receipt.Verified, healed: true, left: true}), false},
		"another verdict of the fault": {fault(Fumble{Code: broken, own: 77, reason: batch}), false},
	} {
		if got := c.a.sane(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}

		var coder attendeeCoder
		coder.begin(1)
		if list, err := (&Attendance{Packed: coder.append(nil, &c.a)}).unpack(1); err == nil && !list[0].sane() {
			t.Errorf("%s: unpacked as %+v", name, list[0])
		}
	}
}

// TestAttendeeLinked verifies when the link of a receipt was valid within a part.
func TestAttendeeLinked(t *testing.T) {
	own := func(a Attendee, o receipt.Verdict, reason receipt.Code) Attendee {
		a.Own, a.Reason = o, reason
		if a.Fault != nil {
			f := *a.Fault
			f.own, f.reason = o, reason
			a.Fault, a.Outcome = &f, verified()
		}
		return a
	}
	healed := Attendee{Fault: &Fumble{Code: receipt.CodeChainBreak, healed: true}}
	for name, c := range map[string]struct {
		a    Attendee
		want bool
	}{
		"linked":               {own(Attendee{}, receipt.Verified, ""), true},
		"a copy":               {own(Attendee{again: true}, receipt.Verified, ""), false},
		"not counted":          {Attendee{again: true, Outcome: Outcome{Own: receipt.Verified, Spare: true}}, false},
		"refuted":              {own(Attendee{}, receipt.Refuted, receipt.CodeHashMismatch), false},
		"undecided":            {own(Attendee{}, receipt.Undecided, receipt.CodeBatchNotChecked), true},
		"undecided before":     {own(Attendee{Before: true}, receipt.Undecided, receipt.CodeBatchNotChecked), false},
		"not checked":          {own(Attendee{}, receipt.Undecided, receipt.CodeLinkNotChecked), false},
		"broken":               {own(Attendee{Fault: &Fumble{Code: receipt.CodeChainBreak}}, receipt.Verified, ""), false},
		"healed":               {own(healed, receipt.Verified, ""), true},
		"healed, refuted":      {own(healed, receipt.Refuted, receipt.CodeHashMismatch), false},
		"healed, not checked":  {own(healed, receipt.Undecided, receipt.CodeLinkNotChecked), false},
		"healed, but now open": {own(Attendee{Fault: &Fumble{Code: receipt.CodeChainBreak, healed: true, left: true}}, receipt.Verified, ""), false},
	} {
		if got := c.a.linked(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestRosterReads verifies that a source of a report is rejected if its receipts cannot be unpacked,
// if it counts fewer than no documents, or if it contains outcomes that the report does not have.
func TestRosterReads(t *testing.T) {
	pack := func(a Attendee) []byte {
		var c attendeeCoder
		c.begin(1)
		return c.append(nil, &a)
	}
	hash := canon.Sum([]byte("a"))
	plain := Attendee{computed: hash, link: chain.Link{First: true, Hash: hash}, Outcome: verified()}
	undecided := plain
	undecided.Outcome = Outcome{Own: receipt.Undecided, Reason: receipt.CodeBatchNotChecked}
	for name, c := range map[string]struct {
		in       Attendance
		outcomes bool
		ok       bool
	}{
		"plain":                {Attendance{Packed: pack(plain)}, false, true},
		"with outcomes":        {Attendance{Packed: pack(undecided)}, true, true},
		"unexpected outcomes":  {Attendance{Packed: pack(undecided)}, false, false},
		"incomplete":           {Attendance{Packed: pack(plain)[:10]}, true, false},
		"below no documents":   {Attendance{Unplaced: -1}, true, false},
		"unreadable documents": {Attendance{Unplaced: 1}, true, true},
	} {
		r := &Roster{Streams: make([]chain.Stream, 1), Outcomes: c.outcomes}
		if err := r.Read(c.in); (err == nil) != c.ok || (len(r.Sources) == 1) != c.ok {
			t.Errorf("%s: %v, %d sources", name, err, len(r.Sources))
		}
	}
}

// TestPackedPrefixes verifies that no beginning of a packed receipt is a packed receipt, that a
// receipt without a predecessor names none, and that a length that is too large is rejected.
func TestPackedPrefixes(t *testing.T) {
	hash := canon.Sum([]byte("a"))
	pack := func(a Attendee) []byte {
		var c attendeeCoder
		c.begin(1)
		return c.append(nil, &a)
	}
	rejected := func(name string, packed []byte) {
		t.Helper()
		in := Attendance{Packed: packed}
		if list, err := in.unpack(1); err == nil {
			t.Errorf("%s: %+v", name, list)
		}
		r := &Roster{Streams: make([]chain.Stream, 1), Sources: []Attendance{in}}
		if _, err := r.Heads(new(Wanted)); err == nil {
			t.Errorf("%s: no error about the heads", name)
		}
	}
	plain := Attendee{computed: hash, link: chain.Link{First: true, Hash: hash}, Outcome: verified(), issued: 1 << 40}
	broken, undecided := plain, plain
	broken.Fault = &Fumble{Code: receipt.CodeChainBreak, own: receipt.Verified}
	undecided.Outcome = Outcome{Own: receipt.Undecided, Reason: receipt.CodeBatchNotChecked}
	for name, a := range map[string]Attendee{"plain": plain, "broken": broken, "undecided": undecided} {
		packed := pack(a)
		for n := 1; n < len(packed); n++ {
			rejected(fmt.Sprintf("%s, %d of %d bytes", name, n, len(packed)), packed[:n])
		}
	}

	packed := pack(plain)
	named := slices.Insert(bytes.Clone(packed), 1+16+32, make([]byte, 32)...)
	named[0] |= rosterPrevious
	rejected("a first receipt with a predecessor", named)

	// The text at the end is empty, which is all that a broken receipt allows. An endless number
	// must not stand for an empty text.
	packed = pack(broken)
	endless := append(packed[:len(packed)-1], bytes.Repeat([]byte{0xff}, 11)...)
	var c attendeeCoder
	c.begin(1)
	if a, err := c.parse(&unpacker{rest: endless}); err == nil {
		t.Errorf("an endless length: %+v", a)
	}
}

// TestPlaces verifies that a place contains a line only for a source with several documents, and
// that streams with only damaged receipts have no end.
func TestPlaces(t *testing.T) {
	s := &Survey{sources: []string{"a", "b"}, listed: []bool{true, false}, ends: make([]End, 2), intact: []bool{false, true}}
	s.ends[1].Count = 7
	if got := s.at(address{0, 3}); got != (receipt.Place{Source: "a", Index: 3}) {
		t.Errorf("%+v", got)
	}
	if got := s.at(address{1, 3}); got != (receipt.Place{Source: "b"}) {
		t.Errorf("%+v", got)
	}
	if got := s.Ends(); len(got) != 1 || got[0].Count != 7 {
		t.Errorf("%+v", got)
	}
}

// TestTallyCounts verifies how a receipt is counted, depending on its hash, its outcome, and its
// link.
func TestTallyCounts(t *testing.T) {
	hash := canon.Sum([]byte("a"))
	good := Attendee{computed: hash, link: chain.Link{Hash: hash}, Outcome: verified()}
	damaged, refuted, spare := good, good, good
	damaged.computed = canon.Sum(nil)
	refuted.Outcome = Outcome{Own: receipt.Refuted, Reason: receipt.CodeHashMismatch}
	spare.Spare = true
	fault := func(a Attendee, code receipt.Code) Attendee {
		a.Fault = &Fumble{Code: code, own: receipt.Verified}
		return a
	}
	for name, c := range map[string]struct {
		a    Attendee
		want tally
	}{
		"good":        {good, tally{}},
		"damaged":     {damaged, tally{Refuted: 1}},
		"refuted":     {refuted, tally{Refuted: 1}},
		"spare":       {spare, tally{Spare: 1}},
		"broken":      {fault(good, receipt.CodeChainBreak), tally{Refuted: 1}},
		"open":        {fault(good, receipt.CodeLinkNotChecked), tally{Open: 1}},
		"open, spare": {fault(spare, receipt.CodeLinkNotChecked), tally{Spare: 1}},
	} {
		var got tally
		if got.add(&c.a); got != c.want {
			t.Errorf("%s: %+v, expected %+v", name, got, c.want)
		}
	}
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
