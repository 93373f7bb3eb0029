package rules

import (
	"cmp"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// Rank orders the receipts of a stream that have no predecessor by how likely they begin
// it, before [Earlier] does: the one that follows what was given, one that states to be
// the first, any other.
func Rank(first bool, previous, given canon.Digest) int {
	switch {
	case !given.IsZero() && !first && previous == given:
		return 0
	case first:
		return 1
	}
	return 2
}

// beginning is the mark of the receipt that begins a stream.
func beginning(first bool, previous, given canon.Digest) Mark {
	switch {
	case !given.IsZero() && (first || previous != given):
		return MarkForeign
	case !first && given.IsZero():
		return MarkOpen
	}
	return MarkLinked
}

// A Damage is a receipt that does not fit its own hash, or that follows such a receipt.
type Damage struct {
	Node
	Stray    bool         // it does not fit its own hash, and nothing shows its place
	After    bool         // it follows a damaged receipt of its stream
	Previous canon.Digest // the hash that it names as its predecessor's
}

// An Orphan is a receipt without a predecessor, which may begin its stream.
type Orphan struct {
	Hash     canon.Digest
	First    bool         // it states that it has no predecessor
	Previous canon.Digest // the hash that it names as its predecessor's; zero when First
	Issued   int64        // milliseconds since 1970
	Place    Place
	Mark     Mark  // what was found of it so far
	Related  Place // the receipt that the mark is about; zero: none
}

// settle keeps what was found of a receipt, unless something was found before: one
// finding, not two.
func (o *Orphan) settle(m Mark, related Place) {
	if o.Mark == MarkLinked && m != MarkLinked {
		o.Mark, o.Related = m, related
	}
}

// Terms say what a stream has to continue, and whether it is a selection.
type Terms struct {
	Given   canon.Digest // what its first receipt must name; zero: not known
	Partial bool         // that a predecessor is absent refutes nothing
}

// Ends are where a stream begins and ends.
type Ends struct {
	First    bool         // its first receipt states that nothing precedes it
	Previous canon.Digest // what that one names; zero when First
	Head     canon.Digest // the stated hash of the last receipt
	Failures int64        // links that were found to be false on the way
}

// A Beginner judges the receipts of one stream that have no predecessor, one after the
// other, and finds the ends of the stream.
type Beginner struct {
	terms Terms
	ends  Ends

	damage []Damage              // strays, and what follows damaged receipts
	stray  map[Place]bool        // damaged receipts whose place nothing shows
	hurt   map[canon.Digest]bool // the hashes that these state
	tails  []Node                // what nothing names, as Earlier has it

	begun bool
	first Orphan // what begins the stream
	last  Orphan // the receipt before, as it was judged
}

// NewBeginner begins a stream. Tails are the receipts that nothing names, as [Earlier] has
// it, and damage the receipts that are neither these nor orphans.
func NewBeginner(t Terms, damage []Damage, tails []Node) *Beginner {
	b := &Beginner{terms: t, damage: slices.Clone(damage), tails: tails}
	rank := func(d *Damage) int { return Rank(false, d.Previous, t.Given) }
	slices.SortStableFunc(b.damage, func(d, o Damage) int {
		return cmp.Or(cmp.Compare(rank(&d), rank(&o)), Earlier(d.Issued, d.Hash, o.Issued, o.Hash), d.Place.Compare(o.Place))
	})
	for i := range b.damage {
		if d := &b.damage[i]; d.Stray {
			if b.stray == nil {
				b.stray, b.hurt = map[Place]bool{}, map[canon.Digest]bool{}
			}
			b.stray[d.Place], b.hurt[d.Hash] = true, true
		}
	}
	return b
}

// Judge judges the next receipt without a predecessor. They come as [Rank] orders them,
// and of one rank as [Earlier] does; copies after each other. A stream begins once: another
// one shows that receipts are missing before it.
func (b *Beginner) Judge(o Orphan) Orphan {
	again := b.begun && o.Hash == b.last.Hash
	was := o.Mark
	switch {
	case again:
		if o.Hash == b.first.Hash && o.Place.Compare(b.first.Place) < 0 {
			b.first.Place = o.Place
		}
		o.settle(b.last.Mark, b.last.Related)
	case !b.begun:
		b.begun, b.first, b.ends.First, b.ends.Previous = true, o, o.First, o.Previous
		o.settle(beginning(o.First, o.Previous, b.terms.Given), Place{})
	case o.First:
		o.settle(MarkSecond, b.first.Place)
	case b.terms.Partial:
		o.settle(MarkOpen, Place{})
	default:
		o.settle(MarkMissing, b.tailBefore(o.Issued))
	}

	// What was found before was counted then.
	if !again && was == MarkLinked && o.Mark.Failed() {
		b.ends.Failures++
	}
	b.last = o
	return o
}

// End returns where the stream begins and ends.
func (b *Beginner) End() Ends {
	b.afterDamage()
	b.end()
	return b.ends
}

// tailBefore is the receipt that nothing names and that was issued last before a time: what
// missing receipts probably follow.
func (b *Beginner) tailBefore(issued int64) Place {
	before, _ := slices.BinarySearchFunc(b.tails, issued, func(n Node, issued int64) int { return cmp.Compare(n.Issued, issued) })
	if before == 0 {
		return Place{}
	}
	return b.tails[before-1].Place
}

// afterDamage finds where a stream begins whose first receipt does not fit its own hash:
// after it.
func (b *Beginner) afterDamage() {
	if b.begun {
		return
	}
	follows := func(d Damage) bool { return d.After && b.hurt[d.Previous] }
	i := slices.IndexFunc(b.damage, follows)
	if i < 0 {
		i = slices.IndexFunc(b.damage, func(d Damage) bool { return !d.Stray && !d.After })
	}
	if i >= 0 {
		b.ends.Previous = b.damage[i].Previous
	}
}

// end finds the head: of several receipts that nothing names the one that was issued last.
func (b *Beginner) end() {
	for i := len(b.tails) - 1; i >= 0; i-- {
		if n := &b.tails[i]; !n.Damaged || !b.stray[n.Place] {
			b.ends.Head = n.Hash
			return
		}
	}
	b.ends.Failures++ // each is named: a circle, or damage alone
}
