package protocol

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Query is the parameters of a request, each there once and known.
type Query map[string]string

// ParseQuery reads a query of which every name is one of known.
func ParseQuery(raw string, known []string) (Query, error) {
	switch {
	case len(raw) > maxQuery:
		return nil, Invalid("", "expected a query of at most %d bytes, found %d", maxQuery, len(raw))
	case strings.Contains(raw, ";"):
		return nil, Invalid("", "a query separates its parameters by &, found a semicolon")
	}

	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, Invalid("", "the query is malformed: expected name=value pairs, percent-encoded")
	}

	// An unknown, repeated or empty parameter may be a demand that nobody would check.
	q := Query{}
	for _, name := range sortedNames(values) { // the same request has the same answer
		list := values[name]
		switch {
		case !slices.Contains(known, name):
			return nil, Invalid(name, "unknown parameter %.40q; this route takes %s", name, cmp.Or(strings.Join(known, ", "), "none"))
		case len(list) > 1:
			return nil, Invalid(name, "the parameter %s is given %d times", name, len(list))
		case list[0] == "":
			return nil, Invalid(name, "the parameter %s is empty; leave it out, or give it a value", name)
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

// Time reads an RFC 3339 time; zero when it is not given.
func (q Query) Time(name string) (time.Time, error) {
	text, ok := q[name]
	if !ok {
		return time.Time{}, nil
	}
	return ParseTime(name, text)
}

// ParseTime reads the RFC 3339 time that a parameter or a member has.
func ParseTime(name, text string) (time.Time, error) {
	at, err := receipt.ParseTime(text)
	if err == nil && at.IsZero() { // to package time it is no time
		return at, Invalid(name, "%s is any time but 0001-01-01T00:00:00Z", name)
	}
	if err != nil {
		return at, Invalid(name, "%s is an RFC 3339 time such as 2026-04-25T19:00:00Z, found %.40q (a + is written %%2B in a query)", name, text)
	}
	return at, nil
}

// Choice reads one of some words; "" when it is not given.
func (q Query) Choice(name string, words ...string) (string, error) {
	text, ok := q[name]
	if ok && !slices.Contains(words, text) {
		return "", Invalid(name, "%s is %s, found %.40q", name, oneOf(words), text)
	}
	return text, nil
}

// Number reads a count of at least least and at most most; or when it is not given.
func (q Query) Number(name string, least, most, or uint64) (uint64, error) {
	text, ok := q[name]
	if !ok {
		return or, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < least || n > most || text != strconv.FormatUint(n, 10) {
		return 0, Invalid(name, "%s is a number from %d to %d, found %.40q", name, least, most, text)
	}
	return n, nil
}

// Digest reads a digest; zero when it is not given.
func (q Query) Digest(name string) (canon.Digest, error) {
	text, ok := q[name]
	if !ok {
		return canon.Digest{}, nil
	}
	d, err := canon.ParseDigest(text)
	if err == nil && d.IsZero() {
		return d, Invalid(name, "%s is the hash of something, found nothing but zeros", name)
	}
	if err != nil {
		return canon.Digest{}, Invalid(name, "%s is sha256: and 64 lower-case hexadecimal digits, found %.80q", name, text)
	}
	return d, nil
}
