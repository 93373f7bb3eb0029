package receipt

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/redact"
)

// A redactionStep is the step [StepRedactions].
type redactionStep struct{ *Verifier }

// check compares the disclosed values that belong to the receipt with its commitments. Values
// that stay withheld are reported and decide nothing, because the purpose of disclosures is to
// disclose some of many fields.
func (s redactionStep) check(doc *canon.Document, holds bool, rep *Report) {
	withheld := doc.Root().Member("redactions").Len()
	switch {
	case len(s.evidence.disclosures) == 0:
		s.notDisclosed(withheld, rep)
		return
	case !holds: // the commitments are as doubtful as the rest
		s.watched.seeAll(pieceDisclosures)
		rep.omit(StepRedactions, CodeStepNotReached, "redactions: the receipt does not fit its hash or its schema")
		return
	}

	shown, belonging, err := disclosed(s.evidence.disclosures, &s.watched, doc, rep.ReceiptHash)
	if err == nil {
		err = redact.Consistent(doc, shown)
	}
	fields := map[string]bool{}
	for _, f := range shown {
		fields[f.Field] = true
	}

	switch {
	case err != nil:
		rep.fail(disclosureFault(err))
	case !belonging && s.watched.fields == nil: // otherwise, the run reports it, because the disclosures may belong to another receipt
		rep.leave(Check{Step: StepRedactions, Code: CodeDisclosureUnbound, Reason: "the disclosures that were given belong to another receipt"})
	case len(fields) == 0:
		s.notDisclosed(withheld, rep)
	default:
		rep.pass(StepRedactions)
		if rest := withheld - len(fields); rest > 0 {
			rep.Withheld = rest
			rep.NotChecked = append(rep.NotChecked, Note{Code: CodeRedactionsNotChecked,
				Detail: fmt.Sprintf("redactions: %d of %d withheld values were not disclosed", rest, withheld)})
		}
	}
}

// disclosed returns the disclosed values that belong to a receipt. Disclosures that name a
// receipt by its hash belong only to that receipt, and all of them have to match. Disclosures
// that name none belong to the receipts whose commitments they match, value by value. A value
// that matches nothing contradicts nothing. If the verifier is watched, it is reported there.
func disclosed(given []*redact.Disclosures, seen *watched, doc *canon.Document, hash canon.Digest) (shown []redact.Disclosure, belonging bool, err error) {
	for i, d := range given {
		switch d.ReceiptHash {
		case hash:
			belonging = true
			if len(d.Fields) > 0 {
				seen.see(pieceDisclosures, i)
			}
			if err := d.Check(doc); err != nil {
				return nil, true, err
			}
			shown = append(shown, d.Fields...)
		case canon.Digest{}:
			for _, k := range d.Fitting(doc) {
				belonging = true
				seen.seeField(i, k)
				shown = append(shown, d.Fields[k])
			}
		}
	}
	return shown, belonging, nil
}

// notDisclosed records that withheld values were not compared.
func (redactionStep) notDisclosed(withheld int, r *Report) {
	r.Withheld = withheld
	switch withheld {
	case 0:
		r.notApplicable(StepRedactions)
	case 1:
		r.omit(StepRedactions, CodeRedactionsNotChecked, "redactions: 1 value withheld, no disclosure given")
	default:
		r.omit(StepRedactions, CodeRedactionsNotChecked, fmt.Sprintf("redactions: %d values withheld, no disclosures given", withheld))
	}
}

// disclosureFault describes the first error of disclosures. It quotes only the field.
func disclosureFault(err error) Check {
	c := Check{Step: StepRedactions, Code: CodeDisclosureMismatch, Detail: err.Error()}
	var mismatch *redact.MismatchError
	var unknown *redact.UnknownFieldError
	var precision *redact.PrecisionError
	var contradiction *redact.ContradictionError
	switch {
	case errors.As(err, &contradiction):
		c.Pointer, c.Detail = foreign.Cut(contradiction.Field, 256), contradiction.Detail
	case errors.As(err, &mismatch):
		c.Pointer, c.Stated, c.Computed = foreign.Cut(mismatch.Field, 256), mismatch.Stated.String(), mismatch.Computed.String()
		c.Detail = "the disclosed value is not the one that was withheld"
	case errors.As(err, &unknown):
		c.Code, c.Pointer = CodeDisclosureUnknown, foreign.Cut(unknown.Field, 256)
		c.Detail = "the receipt has no commitment for the disclosed field"
	case errors.As(err, &precision):
		c.Code, c.Pointer = CodeNumberPrecision, foreign.Cut(precision.Field, 256)
		c.Detail = "an integer in the disclosed value is outside ±9007199254740991, so the commitment stands for other integers too"
	}

	return c
}
