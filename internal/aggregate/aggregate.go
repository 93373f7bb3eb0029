package aggregate

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// Bounds of memory.
const (
	maxBins       = 100 // the number of centuries in the years 0 to 9999
	maxCurrencies = 8
	// maxSeen is the maximum number of hashes that are stored so that copies are counted only once.
	// Beyond this number, copies are counted again, and the JSON form reports how many receipts
	// this may affect.
	maxSeen = 1 << 18
)

// An Aggregate computes sums over receipts while they are verified. The zero value is ready to use.
// It is not safe for concurrent use.
type Aggregate struct {
	bins       timeline[pair]
	totals     pair
	currencies map[string]int // number of receipts in the sums that state the currency
	versions   versions
	out        leftOut
	verdicts   verdicts
	ranked     ranked
}

// leftOut counts receipts that are not in any sum, and receipts that make sums uncertain.
type leftOut struct {
	Hash     int    `json:"hash"`           // receipts that do not match the schema or their hash
	Copies   int    `json:"copies"`         // receipts that were added before
	Older    int    `json:"older,omitzero"` // receipts that another receipt of their issuer supersedes
	Newer    int    `json:"newer,omitzero"` // receipts that supersede a receipt of their issuer that stays in the sums: beyond maxKept
	Currency int    `json:"currency"`       // receipts whose currency is not kept
	Time     int    `json:"time"`           // receipts in the totals, but in no bin: their time is unreported or invalid
	Unseen   int    `json:"unseen"`         // receipts that were not checked for copies
	Untold   untold `json:"untold"`         // receipts in the totals with lower bounds
	AtMost   int    `json:"at_most"`        // receipts in the totals whose cost may be too high
	Reckoned int    `json:"reckoned"`       // receipts in the totals whose cost is an estimate of the source, not a bill
}

// Add adds one receipt, given its report and the root of its document. The receipt is assigned to
// the time lifecycle.completed_at, the end of the task.
func (a *Aggregate) Add(rep *receipt.Report, root canon.Node) {
	s := statement{root, receipt.ReadUnreported(root), receipt.ReadAtMost(root)}
	if rep.Check(receipt.StepSchema).Status != receipt.StatusPassed || rep.Check(receipt.StepHash).Status != receipt.StatusPassed {
		a.out.Hash++
		a.verdicts.add(rep, s)
		return
	}

	// Verified receipts and all other receipts have separate sums, so a copy belongs to one of the
	// two classes.
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

	if a.totals == (pair{}) {
		a.totals = newPair()
	}
	p := a.part(rep, s, verified)
	a.apply(p, 1)
	a.versions.keep(at, p)
}

// newest reports whether no newer version of a receipt was added, in which case the receipt must be
// added to the sums. It also subtracts the version that the receipt supersedes.
func (a *Aggregate) newest(s sighting, root canon.Node, issuer uint32) bool {
	// The superseded version is subtracted if that is possible.
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

	// The receipt may itself be superseded by a receipt that was added earlier.
	if a.versions.old(s, issuer) {
		a.out.Older++
		return false
	}
	return true
}

// part returns the contribution of a receipt to the sums.
func (a *Aggregate) part(rep *receipt.Report, s statement, verified bool) *part {
	p := &part{verified: verified, bytesSent: new(amount), over: s.over.Has("/cost/total"), estimated: s.reckoned()}

	completed, timed := completedAt(s)
	p.completed, p.timed = completed.UTC(), timed // converted to UTC, so that no time zone is kept
	p.currency, p.noCurrency = a.currency(s)
	p.untold.add(s)
	p.approvals.add(s)

	effects := s.Member("side_effects")
	p.toolCalls = effects.Member("tool_calls").Len()
	p.handoffs = effects.Member("a2a_handoffs").Len()

	for i, e := range effects.Member("network_egress").Elements() {
		if s.silent("/side_effects/network_egress", i, "") { // it is unknown whether this request was sent
			continue
		}
		p.egress++
		addNumber(p.bytesSent, e.Member("bytes_sent"))
	}

	// A currency in which no receipt states a cost has no sum, not even 0.
	if total := s.Member("cost").Member("total"); p.currency != "" && (total.Float() > 0 || !s.untold.Has("/cost/total")) {
		p.cost = number(total)
	}
	a.ranked.read(p, rep, s)
	return p
}

// apply adds a part to the sums n times, where 1 adds it and -1 subtracts it.
func (a *Aggregate) apply(p *part, n int) {
	a.out.Untold.plus(&p.untold, n)
	a.out.AtMost += n * one(p.over)
	a.out.Reckoned += n * one(p.estimated)
	a.out.Currency += n * one(p.noCurrency)
	a.out.Time += n * one(!p.timed)

	a.count(p.currency, n)
	a.totals.of(p.verified).apply(p, n)
	a.ranked.apply(p, n)
	if !p.timed { // the receipt is counted in the totals, but in no bin
		return
	}

	// A bin may be empty after a subtraction.
	b := a.bins.at(p.completed)
	b.of(p.verified).apply(p, n)
	if b.Verified.Receipts+b.Other.Receipts == 0 {
		delete(a.bins.bins, a.bins.unit.start(p.completed))
	}
	a.bins.fit()
}

// currency returns the currency of a receipt. It returns "" if the currency is unreported. If there
// are too many currencies, it returns "" and true.
func (a *Aggregate) currency(s statement) (code string, tooMany bool) {
	if s.untold.Has("/cost/currency") {
		return "", false
	}

	code = s.Member("cost").Member("currency").String()
	if a.currencies[code] == 0 && len(a.currencies) >= maxCurrencies {
		return "", true
	}
	return code, false
}

// count adds n to the number of receipts that state a currency.
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

// MarshalJSON encodes the sums. Amounts and numbers of bytes are decimals in strings. The unit is
// the shortest unit in which a chart of the bins does not consist mostly of gaps.
func (a *Aggregate) MarshalJSON() ([]byte, error) {
	// The totals of all receipts are the same in every unit.
	shown, starts := a.bins.shown()
	j := aggregateJSON{Unit: shown.unit.String(), Currencies: []string{}, Totals: a.totals, Bins: []binJSON{}, LeftOut: a.out,
		Verdicts: a.verdicts.json(), Models: modelsOf(&a.ranked.models), Keys: rankedOf(&a.ranked.keys), Paths: rankedOf(&a.ranked.files)}
	if a.totals == (pair{}) {
		j.Totals = newPair()
	}

	j.Currencies = append(j.Currencies, slices.Sorted(maps.Keys(a.currencies))...)
	for i, start := range starts {
		j.Bins = append(j.Bins, binJSON{receipt.At(start).String(), shown.unit.gap(starts, i), shown.bins[start]})
	}

	return json.Marshal(j)
}

// An aggregateJSON is the JSON form that the page reads.
type aggregateJSON struct {
	Unit       string    `json:"unit"` // hour, day, month, year or century
	Currencies []string  `json:"currencies"`
	Totals     pair      `json:"totals"`
	Bins       []binJSON `json:"bins"` // those that are not empty, by time
	LeftOut    leftOut   `json:"left_out"`

	Verdicts verdictsJSON `json:"verdicts"` // counts of all receipts, including those that are left out
	Models   modelsJSON   `json:"models"`   // the largest by entries
	Keys     rankedJSON   `json:"keys"`     // receipts by the trusted key of the issuer; "": none
	Paths    rankedJSON   `json:"paths"`    // entries of fs_writes by path
}

type binJSON struct {
	Start string `json:"start"` // RFC 3339, UTC
	Empty int    `json:"empty"` // number of empty bins between the previous one and this one
	pair
}
