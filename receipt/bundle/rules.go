package bundle

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
)

// Rules are the schema and the patterns, prepared. Whoever handles many bundles keeps them:
// their methods are the functions of the same names, without the milliseconds that preparing
// takes. They are immutable and safe for concurrent use.
type Rules struct {
	shape  *shape
	marker *redact.Marker
}

// NewRules returns the rules.
func NewRules() (*Rules, error) {
	s, err := newShape()
	if err != nil {
		return nil, err
	}
	m, err := redact.NewMarker()
	if err != nil {
		return nil, err
	}
	return &Rules{s, m}, nil
}

// Check is the function [Check].
func (r *Rules) Check(b *Bundle, m Markers) (*Info, error) { return check(r, b, m, newMarks(r.marker)) }

// Export is the function [Export].
func (r *Rules) Export(run *Run, o Options) (*Text, error) { return export(r, run, o) }

// Sanitize is the function [Sanitize].
func (r *Rules) Sanitize(b *Bundle, mode Mode, strict bool) (*Text, error) {
	return sanitize(r, b, mode, strict)
}

// Import is the function [Import].
func (r *Rules) Import(b *Bundle, m Markers) (*Text, error) { return imported(r, b, m) }

// Draft is the function [Draft].
func (r *Rules) Draft(b *Bundle, o DraftOptions) (*receipt.Draft, error) { return draft(r, b, o) }
