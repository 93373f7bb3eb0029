package receipt

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
)

// A parseStep is the step [StepParse].
type parseStep struct{ *Verifier }

// check judges what canon leaves open because only the receipt format
// forbids it: its limits, integers that doubles cannot hold, the root's kind.
func (s parseStep) check(doc *canon.Document, rep *Report) bool {
	limits := s.policy.limits()
	switch lossy, found := doc.LossyInteger(); {
	case len(doc.Source()) > limits.Bytes:
		s.fail(&canon.SyntaxError{Code: canon.CodeSizeLimit, Line: 1, Column: 1,
			Detail: fmt.Sprintf("expected at most %d bytes, found more", limits.Bytes)}, len(doc.Source()), rep)
	case doc.Depth() > limits.Depth:
		s.fail(&canon.SyntaxError{Code: canon.CodeDepthLimit, Line: 1, Column: 1,
			Detail: fmt.Sprintf("expected at most %d nested levels, found %d", limits.Depth, doc.Depth())}, len(doc.Source()), rep)
	case found:
		rep.fail(Check{Step: StepParse, Code: CodeNumberPrecision, Pointer: place(lossy),
			Detail: foreign.Number(lossy.Raw()) + " is outside ±9007199254740991, so its canonical form stands for other integers too"})
	case doc.Root().Kind() != canon.KindObject:
		rep.fail(Check{Step: StepParse, Code: CodeNotObject, Detail: "expected a JSON object, found " + kindName(doc.Root().Kind())})
	default:
		rep.pass(StepParse)
		return true
	}

	return false
}

// fail words a parse error. A limit of the caller's below the format's
// leaves the verdict open: the receipt may be true.
func (s parseStep) fail(err error, size int, rep *Report) {
	c := Check{Step: StepParse, Code: CodeSyntax, Detail: err.Error()}
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) {
		c.Syntax = *syntax
		c.Code, c.Pointer, c.Hint = Code(syntax.Code), syntax.Pointer, syntax.Hint
		c.Detail = fmt.Sprintf("line %d, column %d (offset %d): %s", syntax.Line, syntax.Column, syntax.Offset, syntax.Detail)
	}

	// Only the format's own limits refute: within them the receipt may be true.
	limits := s.policy.limits()
	lowered := c.Code == CodeSizeLimit && limits.Bytes < MaxBytes && size <= MaxBytes ||
		c.Code == codeDepthLimit && limits.Depth < MaxDepth
	if lowered {
		c.Hint = "this limit is the caller's, not the format's; raise it to decide"
		rep.Checks = append(rep.Checks, c)
		rep.NotChecked = append(rep.NotChecked, Note{c.Code, c.Pointer, c.Detail})
		return
	}
	rep.fail(c)
}
