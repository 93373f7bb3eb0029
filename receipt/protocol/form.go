package protocol

import "net/http"

// Bounds of what names a resource.
const (
	MaxQuery   = 4 << 10 // bytes of a query
	MaxPath    = 4 << 10 // bytes of a path
	MaxHeaders = 100
	MaxID      = 1 << 10 // bytes of an id in a path
)

// CheckForm refuses a request that is longer than any route takes.
func CheckForm(r *http.Request) error {
	switch {
	case len(r.Header) > MaxHeaders:
		return Invalid("", "expected at most %d headers, found %d", MaxHeaders, len(r.Header))
	case len(r.URL.EscapedPath()) > MaxPath:
		return Invalid("", "expected a path of at most %d bytes", MaxPath)
	case len(r.URL.RawQuery) > MaxQuery:
		return Invalid("", "expected a query of at most %d bytes", MaxQuery)
	}
	return nil
}
