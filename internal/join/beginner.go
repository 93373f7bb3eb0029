package join

import (
	"cmp"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// Rank returns the rank of a receipt without a predecessor: the lower the rank, the more likely the
// receipt begins its stream. The lowest rank belongs to a receipt that follows the given
// predecessor, the next rank to a receipt that states that it is the first, and the highest rank to
// any other receipt. Receipts of equal rank are ordered by [Earlier].
func Rank(first bool, previous, given canon.Digest) int {
	switch {
	case !given.IsZero() && !first && previous == given:
		return 0
	case first:
		return 1
	}
	return 2
}

// beginning returns the mark of the receipt that begins a stream.
func beginning(first bool, previous, given canon.Digest) Mark {
	switch {
	case !given.IsZero() && (first || previous != given):
		return MarkForeign
	case !first && given.IsZero():
		return MarkOpen
	}
	return MarkLinked
}

// A Damage is a receipt that does not match its stated hash, or that follows such a receipt.
type Damage struct {
	Node
	Stray    bool         // the receipt does not match its stated hash, and nothing shows its place
	After    bool         // the receipt follows a damaged receipt of its stream
	Previous canon.Digest // the predecessor's hash that the receipt names
}

// An Orphan is a receipt without a predecessor, which may begin its stream.
type Orphan struct {
	Hash     canon.Digest
	First    bool         // the receipt states that it has no predecessor
	Previous canon.Digest // the predecessor's hash that the receipt names; zero if First
	Issued   int64        // milliseconds since 1970
	Place    Place
	Mark     Mark  // found so far
	Related  Place // the receipt that the mark refers to; zero if there is none
}

// settle sets the mark of a receipt only once, so that each receipt has at most one finding.
func (o *Orphan) settle(m Mark, related Place) {
	if o.Mark == MarkLinked && m != MarkLinked {
		o.Mark, o.Related = m, related
	}
}

// An Opening specifies the predecessor that a stream must continue, and whether the stream is a
// selection.
type Opening struct {
	Given   canon.Digest // the hash that the first receipt must name; zero if unknown
	Partial bool         // an absent predecessor is not a failure
}

// Ends describes where a stream begins and ends.
type Ends struct {
	First    bool         // the first receipt states that it has no predecessor
	Previous canon.Digest // the hash that the first receipt names; zero if First
	Head     canon.Digest // the stated hash of the last receipt
	Failures int64        // invalid links at the beginning and the end
}

// A Beginner evaluates, one after the other, the receipts of a stream that have no predecessor, and
// finds where the stream begins and ends.
type Beginner struct {
	terms Opening
	ends  Ends

	damage []Damage              // strays, and receipts that follow damaged receipts
	stray  map[Place]bool        // damaged receipts whose place in the stream is unknown
	hurt   map[canon.Digest]bool // hashes that the strays state
	tails  []Node                // receipts that no other receipt names, sorted by Earlier

	begun bool
	first Orphan // the receipt that begins the stream
	last  Orphan // the previous receipt, with its mark
}

// NewBeginner returns a Beginner for one stream. The tails are the receipts that no other receipt
// names, sorted by [Earlier], and damage contains the damaged receipts and their successors.
func NewBeginner(t Opening, damage []Damage, tails []Node) *Beginner {
	b := &Beginner{terms: t, damage: slices.Clone(damage), tails: tails}

	// The result must not depend on the order in which damaged receipts arrive.
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

// Judge sets the mark of the next receipt without a predecessor. Receipts must be sorted by [Rank]
// and then by [Earlier], with copies next to each other. A stream begins only once, so a second
// receipt without a predecessor shows that receipts before it are missing.
func (b *Beginner) Judge(o Orphan) Orphan {
	again := b.begun && o.Hash == b.last.Hash
	was := o.Mark
	switch {
	// A copy gets the same mark. If the copy was read before the original, later marks refer to the
	// copy.
	case again:
		if o.Hash == b.first.Hash && o.Place.Compare(b.first.Place) < 0 {
			b.first.Place = o.Place
		}
		o.settle(b.last.Mark, b.last.Related)

	case !b.begun:
		b.begun, b.first, b.ends.First, b.ends.Previous = true, o, o.First, o.Previous
		o.settle(beginning(o.First, o.Previous, b.terms.Given), Place{})

	// An earlier receipt already began the stream.
	case o.First:
		o.settle(MarkSecond, b.first.Place)
	case b.terms.Partial:
		o.settle(MarkOpen, Place{})
	default:
		o.settle(MarkMissing, b.tailBefore(o.Issued))
	}

	// A failed mark that the receipt already had was counted earlier.
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

// tailBefore returns the place of the last receipt that no other receipt names and that was issued
// before the given time. Missing receipts probably follow this receipt.
func (b *Beginner) tailBefore(issued int64) Place {
	before, _ := slices.BinarySearchFunc(b.tails, issued, func(n Node, issued int64) int { return cmp.Compare(n.Issued, issued) })
	if before == 0 {
		return Place{}
	}
	return b.tails[before-1].Place
}

// afterDamage finds the beginning of a stream whose first receipt does not match its stated hash.
// The stream then begins after the damaged receipt.
func (b *Beginner) afterDamage() {
	if b.begun {
		return
	}
	follows := func(d Damage) bool { return d.After && b.hurt[d.Previous] }
	i := slices.IndexFunc(b.damage, follows)

	// The damaged receipt may belong to another stream, because its stream name may be damaged,
	// too.
	if i < 0 {
		i = slices.IndexFunc(b.damage, func(d Damage) bool { return !d.Stray && !d.After })
	}
	if i >= 0 {
		b.ends.Previous = b.damage[i].Previous
	}
}

// end finds the head of the stream: of the receipts that no other receipt names, the receipt with
// the latest time of issue.
func (b *Beginner) end() {
	for i := len(b.tails) - 1; i >= 0; i-- {
		if n := &b.tails[i]; !n.Damaged || !b.stray[n.Place] {
			b.ends.Head = n.Hash
			return
		}
	}
	b.ends.Failures++ // every receipt is named, so there is a cycle, or all receipts are damaged
}
