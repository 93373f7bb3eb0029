package join

import "github.com/receiptkit/receiptkit/receipt"

// AsOrphan, AsTail, and AsNames return parts of a record for tests outside this package.
func (r *Record) AsOrphan() Part { return Part{roleOrphan, *r} }
func (r *Record) AsTail() Part   { return Part{roleTail, *r} }
func (r *Record) AsNames() Part  { return Part{roleNames, *r} }

// Outcome exports outcome.
func (r *Record) Outcome(strict bool) (receipt.Verdict, receipt.Code) { return r.outcome(strict) }
