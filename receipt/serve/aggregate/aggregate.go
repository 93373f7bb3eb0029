package aggregate

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// What is kept at most.
const (
	MaxBins       = 100 // as many as there are centuries
	MaxCurrencies = 8
	// MaxSeen is how many hashes are remembered to count copies once; copies of
	// later receipts count again, and the JSON form says how many could be.
	MaxSeen = 1 << 18
)

// An Aggregate adds up receipts while they are verified. The zero value is ready.
// It is not safe for concurrent use.
type Aggregate struct {
	unit       unit
	bins       map[time.Time]pair // by the first instant
	totals     pair
	currencies map[string]bool
	seen       map[sighting]uint32 // with the number of the issuer
	issuers    map[string]uint32
	versions   versions
	out        leftOut
	verdicts   verdicts
	ranked     ranked
}

// A sighting is a receipt in one of the two classes. A copy with other signatures
// can be in both, and then neither takes it from the other.
type sighting struct {
	hash     canon.Digest
	verified bool
}

// leftOut counts what is in no sum, and what is not certain.
type leftOut struct {
	Hash     int    `json:"hash"`           // receipts that do not fit the schema or their hash
	Copies   int    `json:"copies"`         // receipts that were added before
	Older    int    `json:"older,omitzero"` // receipts that another receipt of their issuer, which was added before, supersedes
	Newer    int    `json:"newer,omitzero"` // receipts that supersede a receipt of their issuer, which was added before and is in the sums
	Currency int    `json:"currency"`       // receipts whose cost is in none of the currencies kept
	Time     int    `json:"time"`           // receipts in the totals, but in no bin: no time that was told and can be read
	Unseen   int    `json:"unseen"`         // receipts that were added without looking for copies
	Untold   untold `json:"untold"`         // receipts in the totals with less than happened
	AtMost   int    `json:"at_most"`        // receipts in the totals whose cost may be more than happened
	Reckoned int    `json:"reckoned"`       // receipts in the totals whose cost is an estimate of the source, and no bill
}

// Add adds one receipt: its report, and the root of the document that was judged.
// The time is lifecycle.completed_at, when the task ended.
func (a *Aggregate) Add(rep *receipt.Report, root canon.Node) {
	s := statement{root, receipt.ReadUnreported(root), receipt.ReadAtMost(root)}
	if rep.Check(receipt.StepSchema).Status != receipt.StatusPassed || rep.Check(receipt.StepHash).Status != receipt.StatusPassed {
		a.out.Hash++
		a.verdicts.add(rep, s)
		return
	}

	// Verified receipts and all others are added up apart, so a copy is one of its class.
	verified := rep.Verdict == receipt.Verified && rep.Scope == receipt.ScopeFull
	issuer := a.issuer(root)
	if !a.first(sighting{rep.ReceiptHash, verified}, issuer) {
		a.out.Copies++
		return
	}
	a.verdicts.add(rep, s)
	if a.otherVersion(sighting{rep.ReceiptHash, verified}, root, issuer) {
		return
	}
	if a.bins == nil {
		a.bins, a.totals = map[time.Time]pair{}, newPair()
	}

	a.out.Untold.add(s)
	if s.over.Has("/cost/total") {
		a.out.AtMost++
	}
	if s.reckoned() {
		a.out.Reckoned++
	}

	// Without a time a receipt is in the totals and in no bin.
	currency := a.currency(s)
	a.totals.of(verified).add(s, currency)
	a.ranked.add(rep, s, verified, currency)
	completed, ok := completedAt(s)
	if !ok {
		a.out.Time++
		return
	}

	// Bins are joined until they are few enough: nothing in them is dropped.
	a.bin(completed).of(verified).add(s, currency)
	for len(a.bins) > MaxBins && a.unit < century {
		a.coarsen()
	}
}

// issuer numbers the issuer of a receipt.
func (a *Aggregate) issuer(root canon.Node) uint32 {
	id := root.Member("issuer").Member("id").String()
	number, known := a.issuers[id]
	if !known && len(a.seen) < MaxSeen {
		if a.issuers == nil {
			a.issuers = map[string]uint32{}
		}
		number = uint32(len(a.issuers) + 1)
		a.issuers[id] = number
	}
	return number
}

// otherVersion reports whether another version of a receipt is in the sums of its class: one
// task is not added twice. Anyone can write an issuer's name, so a receipt that nobody has
// confirmed takes nothing from the sums of verified receipts.
func (a *Aggregate) otherVersion(s sighting, root canon.Node, issuer uint32) bool {
	if a.versions[version{issuer, s}] {
		a.out.Older++
		return true
	}
	superseded, err := canon.ParseDigest(root.Member("metadata").Member("supersedes").Text())
	if err != nil || issuer == 0 {
		return false
	}
	old := sighting{superseded, s.verified}
	if by, counted := a.seen[old]; counted && by == issuer {
		a.out.Newer++
		return true
	}
	if len(a.versions) < MaxSeen {
		if a.versions == nil {
			a.versions = versions{}
		}
		a.versions[version{issuer, old}] = true
	}
	return false
}

// Versions are receipts that were superseded before they were added.
type versions map[version]bool

type version struct {
	issuer uint32
	sighting
}

func (a *Aggregate) first(s sighting, issuer uint32) bool {
	if _, again := a.seen[s]; again {
		return false
	}
	if len(a.seen) >= MaxSeen {
		a.out.Unseen++
		return true
	}
	if a.seen == nil {
		a.seen = map[sighting]uint32{}
	}
	a.seen[s] = issuer
	return true
}

// currency returns the currency of a receipt, "" when nobody told it or there are too many.
func (a *Aggregate) currency(s statement) string {
	if s.untold.Has("/cost/currency") {
		return ""
	}
	code := s.Member("cost").Member("currency").String()
	if !a.currencies[code] {
		if len(a.currencies) >= MaxCurrencies {
			a.out.Currency++
			return ""
		}
		if a.currencies == nil {
			a.currencies = map[string]bool{}
		}
		a.currencies[code] = true
	}
	return code
}

func (a *Aggregate) bin(t time.Time) pair {
	start := a.unit.start(t)
	p, ok := a.bins[start]
	if !ok {
		p = newPair()
		a.bins[start] = p
	}
	return p
}

// coarsen joins the bins to those of the next unit.
func (a *Aggregate) coarsen() {
	fine := a.bins
	a.unit++
	a.bins = map[time.Time]pair{}
	for start, p := range fine {
		b := a.bin(start)
		b.Verified.plus(p.Verified)
		b.Other.plus(p.Other)
	}
}

// MarshalJSON writes the sums; amounts and bytes are decimals in strings. The
// unit is the shortest by which the bins make a chart that is not mostly gaps.
func (a *Aggregate) MarshalJSON() ([]byte, error) {
	// A copy is made coarser: more receipts may still come.
	shown := *a
	starts := shown.starts()
	for shown.unit < century && shown.unit.sparse(starts) {
		shown.coarsen()
		starts = shown.starts()
	}

	// The sums of all receipts are the same in every unit.
	j := aggregateJSON{Unit: shown.unit.String(), Currencies: []string{}, Totals: a.totals, Bins: []binJSON{}, LeftOut: a.out,
		Verdicts: a.verdicts.json(), Models: modelsOf(&a.ranked.models), Keys: rankedOf(&a.ranked.keys), Paths: rankedOf(&a.ranked.files)}
	if a.bins == nil {
		j.Totals = newPair()
	}

	j.Currencies = append(j.Currencies, slices.Sorted(maps.Keys(a.currencies))...)
	for i, start := range starts {
		b := binJSON{Start: receipt.At(start).String(), pair: shown.bins[start]}
		if i > 0 {
			b.Empty = shown.unit.between(starts[i-1], start) - 1
		}
		j.Bins = append(j.Bins, b)
	}

	return json.Marshal(j)
}

func (a *Aggregate) starts() []time.Time {
	return slices.SortedFunc(maps.Keys(a.bins), time.Time.Compare)
}
