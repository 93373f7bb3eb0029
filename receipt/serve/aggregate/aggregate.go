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
	currencies map[string]int // how many receipts in the sums state it
	versions   versions
	out        leftOut
	verdicts   verdicts
	ranked     ranked
}

// leftOut counts what is in no sum, and what is not certain.
type leftOut struct {
	Hash     int    `json:"hash"`           // receipts that do not fit the schema or their hash
	Copies   int    `json:"copies"`         // receipts that were added before
	Older    int    `json:"older,omitzero"` // receipts that another receipt of their issuer supersedes
	Newer    int    `json:"newer,omitzero"` // receipts that supersede a receipt of their issuer that stays in the sums: beyond maxKept
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
	issuer, at := a.versions.issuer(root), sighting{rep.ReceiptHash, verified}
	first, remembered := a.versions.first(at, issuer)
	if !first {
		a.out.Copies++
		return
	}
	a.out.Unseen += one(!remembered)
	a.verdicts.add(rep, s)
	if !a.newest(at, root, issuer) {
		return
	}

	if a.bins == nil {
		a.bins, a.totals = map[time.Time]pair{}, newPair()
	}
	p := a.part(rep, s, verified)
	a.apply(p, 1)
	a.versions.keep(at, p)
}

// newest reports whether a receipt is to be added to the sums, because no newer version of it
// was added. It subtracts the version that the receipt supersedes.
func (a *Aggregate) newest(s sighting, root canon.Node, issuer uint32) bool {
	superseded, err := canon.ParseDigest(root.Member("metadata").Member("supersedes").Text())
	if err == nil && issuer != 0 {
		parts, stay, blocked := a.versions.supersede(version{issuer, superseded}, s.verified)
		for _, p := range parts {
			a.apply(p, -1)
			a.out.Older++
		}
		if stay > 0 {
			a.out.Newer++
		}
		if blocked {
			a.versions.fix(s)
			return false
		}
	}

	if a.versions.old(s, issuer) {
		a.out.Older++
		return false
	}
	return true
}

// part reads what a receipt adds.
func (a *Aggregate) part(rep *receipt.Report, s statement, verified bool) *part {
	p := &part{verified: verified, bytesSent: new(amount), over: s.over.Has("/cost/total"), estimated: s.reckoned()}
	completed, timed := completedAt(s)
	p.completed, p.timed = completed.UTC(), timed // without a zone of its own
	p.currency, p.noCurrency = a.currency(s)
	p.untold.add(s)
	p.approvals.add(s)

	effects := s.Member("side_effects")
	p.toolCalls = effects.Member("tool_calls").Len()
	p.handoffs = effects.Member("a2a_handoffs").Len()
	for i, e := range effects.Member("network_egress").Elements() {
		if s.silent("/side_effects/network_egress", i, "") { // it is open whether that was sent
			continue
		}
		p.egress++
		addNumber(p.bytesSent, e.Member("bytes_sent"))
	}

	// Of a currency in which nobody told a cost there is no sum, not even 0.
	if total := s.Member("cost").Member("total"); p.currency != "" && (total.Float() > 0 || !s.untold.Has("/cost/total")) {
		p.cost = number(total)
	}
	a.ranked.read(p, rep, s)
	return p
}

// apply adds a part to the sums n times: 1 adds it, and -1 subtracts it.
func (a *Aggregate) apply(p *part, n int) {
	a.out.Untold.plus(&p.untold, n)
	a.out.AtMost += n * one(p.over)
	a.out.Reckoned += n * one(p.estimated)
	a.out.Currency += n * one(p.noCurrency)
	a.out.Time += n * one(!p.timed)

	a.count(p.currency, n)
	a.totals.of(p.verified).apply(p, n)
	a.ranked.apply(p, n)
	if !p.timed { // such a receipt is in the totals and in no bin
		return
	}

	// Bins are joined until they are few enough: nothing in them is dropped.
	b := a.bin(p.completed)
	b.of(p.verified).apply(p, n)
	if b.Verified.Receipts+b.Other.Receipts == 0 {
		delete(a.bins, a.unit.start(p.completed))
	}
	for len(a.bins) > MaxBins && a.unit < century {
		a.coarsen()
	}
}

// currency returns the currency of a receipt, "" if nobody told it or there are too many,
// which it reports.
func (a *Aggregate) currency(s statement) (code string, tooMany bool) {
	if s.untold.Has("/cost/currency") {
		return "", false
	}
	code = s.Member("cost").Member("currency").String()
	if a.currencies[code] == 0 && len(a.currencies) >= MaxCurrencies {
		return "", true
	}
	return code, false
}

// count counts n more receipts of a currency.
func (a *Aggregate) count(currency string, n int) {
	if currency == "" {
		return
	}
	if a.currencies == nil {
		a.currencies = map[string]int{}
	}
	if a.currencies[currency] += n; a.currencies[currency] == 0 {
		delete(a.currencies, currency)
	}
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
