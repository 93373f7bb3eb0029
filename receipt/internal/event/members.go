package event

import (
	"slices"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
)

// Members are the members of a JSON object that is being written. Empty strings and lists, absent
// nodes and numbers, zero digests, and false are omitted.
type Members map[string]any

// Raw is JSON text that is written unchanged.
type Raw []byte

// Text returns the canonical form of the object (RFC 8785), so that its digest does not depend on
// the iteration order of a map. Raw members must also be canonical.
func (m Members) Text() []byte { return m.Append(nil) }

// Append appends the same text as Text returns.
func (m Members) Append(b []byte) []byte {
	b = append(b, '{')
	var few [32]string // enough for typical objects, so that sorting does not allocate
	names := few[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names) // the names of a payload are ASCII

	start := len(b)
	for _, name := range names {
		before := len(b)
		if before > start {
			b = append(b, ',')
		}
		b = append(canon.AppendString(b, name), ':')

		// The name of an omitted value is omitted, too.
		empty := len(b)
		if b = appendValue(b, m[name]); len(b) == empty {
			b = b[:before]
		}
	}

	return append(b, '}')
}

// appendValue appends a value, or nothing if the value is omitted.
func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	// Empty, absent, and false values are omitted, because they mean that the source states
	// nothing.
	case string:
		if v != "" {
			return canon.AppendString(b, v)
		}
	case canon.Node:
		if !Absent(v) {
			return v.AppendCanonical(b)
		}
	case canon.Digest:
		if !v.IsZero() {
			return canon.AppendString(b, v.String())
		}
	case []string:
		return appendTexts(b, v)

	// A number is always written, because 0 and a missing number differ.
	case int64:
		return strconv.AppendInt(b, v, 10)
	case *int64:
		if v != nil {
			return strconv.AppendInt(b, *v, 10)
		}
	case bool:
		if v {
			return append(b, "true"...)
		}

	// Encoded JSON, and objects.
	case Raw:
		return append(b, v...)
	case Members:
		return v.Append(b)
	case []Members:
		return appendList(b, v)
	}
	return b
}

func appendList(b []byte, list []Members) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(b, '[')
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = m.Append(b)
	}
	return append(b, ']')
}

func appendTexts(b []byte, list []string) []byte {
	if len(list) == 0 {
		return b
	}
	for i, text := range list {
		b = canon.AppendString(append(b, "[,"[min(i, 1)]), text)
	}
	return append(b, ']')
}
