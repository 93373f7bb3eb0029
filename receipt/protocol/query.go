package serve

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// Bounds of what names a resource.
const (
	maxQuery   = 4 << 10 // bytes of a query
	maxPath    = 4 << 10 // bytes of a path
	maxHeaders = 100
	maxID      = 1 << 10 // bytes of an id in a path
)

// A query is the parameters of a request, each there once and known.
type query map[string]string

// parseQuery reads a query of which every name is one of known.
func parseQuery(raw string, known []string) (query, error) {
	switch {
	case len(raw) > maxQuery:
		return nil, invalid("", "expected a query of at most %d bytes, found %d", maxQuery, len(raw))
	case strings.Contains(raw, ";"):
		return nil, invalid("", "a query separates its parameters by &, found a semicolon")
	}

	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, invalid("", "the query is malformed: expected name=value pairs, percent-encoded")
	}

	// An unknown, repeated or empty parameter may be a demand that nobody would check.
	q := query{}
	for _, name := range sortedNames(values) { // the same request has the same answer
		list := values[name]
		switch {
		case !slices.Contains(known, name):
			return nil, invalid(name, "unknown parameter %.40q; this route knows %q", name, known)
		case len(list) > 1:
			return nil, invalid(name, "the parameter %s is given %d times", name, len(list))
		case list[0] == "":
			return nil, invalid(name, "the parameter %s is empty; leave it out, or give it a value", name)
		}
		q[name] = list[0]
	}

	return q, nil
}

func sortedNames(values url.Values) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// time reads an RFC 3339 time; zero when it is not given.
func (q query) time(name string) (time.Time, error) {
	text, ok := q[name]
	if !ok {
		return time.Time{}, nil
	}
	return parseTime(name, text)
}

func parseTime(name, text string) (time.Time, error) {
	at, err := receipt.ParseTime(text)
	if err != nil || at.IsZero() {
		return at, invalid(name, "%s is an RFC 3339 time such as 2026-04-25T19:00:00Z, found %.40q (a + is written %%2B in a query)", name, text)
	}
	return at, nil
}

// choice reads one of some words; "" when it is not given.
func (q query) choice(name string, words ...string) (string, error) {
	text, ok := q[name]
	if ok && !slices.Contains(words, text) {
		return "", invalid(name, "%s is one of %q, found %.40q", name, words, text)
	}
	return text, nil
}

// number reads a count of at least least and at most most; or when it is not given.
func (q query) number(name string, least, most, or uint64) (uint64, error) {
	text, ok := q[name]
	if !ok {
		return or, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < least || n > most || text != strconv.FormatUint(n, 10) {
		return 0, invalid(name, "%s is a number from %d to %d, found %.40q", name, least, most, text)
	}
	return n, nil
}

// digest reads a digest; zero when it is not given.
func (q query) digest(name string) (canon.Digest, error) {
	text, ok := q[name]
	if !ok {
		return canon.Digest{}, nil
	}
	d, err := canon.ParseDigest(text)
	if err != nil || d.IsZero() {
		return canon.Digest{}, invalid(name, "%s is sha256: and 64 lower-case hexadecimal digits, found %.80q", name, text)
	}
	return d, nil
}
