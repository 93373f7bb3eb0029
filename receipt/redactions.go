package receipt

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/redact"
)

// checkRedactions compares the disclosed values that belong to the receipt with
// its commitments. What stays withheld is said, and decides nothing: disclosing
// one field of many is what disclosures are for.
func (v *Verifier) checkRedactions(doc *canon.Document, holds bool, rep *Report) {
	withheld := doc.Root().Member("redactions").Len()
	switch {
	case len(v.evidence.disclosures) == 0:
		rep.notDisclosed(withheld)
		return
	case !holds: // the commitments are as doubtful as the rest
		v.watched.seeAll(pieceDisclosures)
		rep.omit(StepRedactions, codeStepNotReached, "redactions: the receipt does not fit its hash or its schema")
		return
	}

	// Disclosures name their receipt by its hash. Those that name none are tried.
	belonging, shown := false, map[string][]byte{}
	for i, d := range v.evidence.disclosures {
		if !d.ReceiptHash.IsZero() && d.ReceiptHash != rep.ReceiptHash {
			continue
		}
		belonging = true
		if len(d.Fields) > 0 {
			v.watched.see(pieceDisclosures, i)
		}
		if err := d.Check(doc); err != nil {
			rep.fail(disclosureFault(err))
			return
		}

		// One field may have two commitments, but only one value.
		for _, f := range d.Fields {
			if before, ok := shown[f.Field]; ok && !bytes.Equal(before, f.Value) {
				rep.fail(Check{Step: StepRedactions, Code: codeDisclosureMismatch, Pointer: foreign.Cut(f.Field, 256),
					Detail: "two values were disclosed for the field; the receipt commits to both, and only one can have been withheld"})
				return
			}
			shown[f.Field] = f.Value
		}
	}

	switch {
	case !belonging:
		v.watched.seeAll(pieceDisclosures)
		rep.leave(Check{Step: StepRedactions, Code: codeDisclosureUnbound, Reason: "the disclosures that were given belong to another receipt"})
	case len(shown) == 0:
		rep.notDisclosed(withheld)
	default:
		rep.pass(StepRedactions)
		if rest := withheld - len(shown); rest > 0 {
			rep.NotChecked = append(rep.NotChecked, Note{Code: codeRedactionsNotChecked,
				Detail: fmt.Sprintf("redactions: %d of %d withheld values were not disclosed", rest, withheld)})
		}
	}
}

func (r *Report) notDisclosed(withheld int) {
	switch withheld {
	case 0:
		r.notApplicable(StepRedactions)
	case 1:
		r.omit(StepRedactions, codeRedactionsNotChecked, "redactions: 1 value withheld, no disclosure given")
	default:
		r.omit(StepRedactions, codeRedactionsNotChecked, fmt.Sprintf("redactions: %d values withheld, no disclosures given", withheld))
	}
}

// disclosureFault words the first fault of disclosures. None of them is quoted
// but for the field.
func disclosureFault(err error) Check {
	c := Check{Step: StepRedactions, Code: codeDisclosureMismatch, Detail: err.Error()}
	var mismatch *redact.MismatchError
	var unknown *redact.UnknownFieldError
	var precision *redact.PrecisionError
	switch {
	case errors.As(err, &mismatch):
		c.Pointer, c.Stated, c.Computed = foreign.Cut(mismatch.Field, 256), mismatch.Stated.String(), mismatch.Computed.String()
		c.Detail = "the disclosed value is not the one that was withheld"
	case errors.As(err, &unknown):
		c.Code, c.Pointer = codeDisclosureUnknown, foreign.Cut(unknown.Field, 256)
		c.Detail = "the receipt has no commitment for the disclosed field"
	case errors.As(err, &precision):
		c.Code, c.Pointer = CodeNumberPrecision, foreign.Cut(precision.Field, 256)
		c.Detail = "an integer in the disclosed value is outside ±9007199254740991, so the commitment stands for other integers too"
	}

	return c
}
