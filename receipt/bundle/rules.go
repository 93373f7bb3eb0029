package bundle

import (
	"sync"

	"github.com/receiptkit/receiptkit/redact"
)

// Rules are the schema and the patterns, prepared, which takes some milliseconds.
type rules struct {
	shape  *shape
	marker *redact.Marker
}

// prepared returns the rules.
var prepared = sync.OnceValues(func() (*rules, error) {
	s, err := newShape()
	if err != nil {
		return nil, err
	}
	m, err := redact.NewMarker()
	if err != nil {
		return nil, err
	}
	return &rules{s, m}, nil
})
