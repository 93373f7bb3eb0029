package stream

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
	"github.com/receiptkit/receiptkit/receipt/stream/join"
)

// An outside asks an engine how receipts stand to each other.
type outside struct {
	options *Options
	demands demands
	record  join.Record
}

// place tells the engine of an item, and the report what the engine found.
func (o *outside) place(it *item) error {
	if !it.facts.placed {
		if it.other != "" {
			return nil
		}
		return o.options.Place(nil)
	}

	r := &o.record
	*r = recordOf(it)
	if err := o.options.Place(r); err != nil {
		return err
	}

	related := receipt.Place{Index: r.Related.Index}
	it.v.Link(&it.rep, checkOf(r.Mark, it, o.options.Partial, related, o.demands.previous(r.Stream)))
	if it.again = r.Mark == join.MarkCopy; it.again {
		it.copy = true
		it.rep.Warnings = append(it.rep.Warnings, receipt.Note{Code: vocab.CodeIdenticalCopy, Detail: "another receipt of the input is the same"})
	}
	return nil
}

func (*outside) conclude(*Summary) error { return nil }

// recordOf is an item whose link was not judged yet as a record.
func recordOf(it *item) join.Record {
	f := &it.facts
	r := join.Record{Stream: f.key.stream(), ID: join.ID(f.id), Stated: f.link.Hash, Computed: f.computed, First: f.link.First, Previous: f.link.Previous,
		Issued: f.issued.UnixMilli(), Place: join.Place{Index: it.Index}}

	r.Verdict, r.Reason, r.Before = it.alone.own, it.alone.reason, it.before
	r.Begin()
	return r
}

// ownOutcome is what an item whose link was not judged yet is counted as if its link
// holds, and whether that explains it whatever is found of the link. Under a strict policy
// a link that nobody looked at decides.
func ownOutcome(it *item) (o outcome, before bool) {
	rep := &it.rep
	open := rep.Finding()
	if it.v.Policy().Strict && rep.Verdict == receipt.Undecided {
		rep = rep.Clone()
		it.v.Link(rep, receipt.Check{Status: receipt.StatusPassed})
	}

	if o.own = rep.Verdict; o.own == receipt.Verified {
		return o, false
	}
	why := rep.Finding()
	o.reason = why.Code
	if o.own == receipt.Undecided {
		return o, why.Code == open.Code
	}
	return o, why.Step <= receipt.StepLink
}
