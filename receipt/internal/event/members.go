package event

import (
	"slices"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
)

// Members are the members of a JSON object to be written. Empty strings and lists, absent nodes and
// numbers, zero digests, and false are omitted.
type Members map[string]any

// Raw is JSON text that is written without changes.
type Raw []byte

// Text returns the object in canonical form (RFC 8785), so the text does not depend on the
// iteration order of the map. Raw members must already be canonical.
func (m Members) Text() []byte { return m.Append(nil) }

// Append appends the text that Text returns.
func (m Members) Append(b []byte) []byte {
	b = append(b, '{')
	var few [32]string // enough for typical objects, so sorting does not allocate memory
	names := few[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names) // names of payload members are ASCII

	start := len(b)
	for _, name := range names {
		before := len(b)
		if before > start {
			b = append(b, ',')
		}
		b = append(canon.AppendString(b, name), ':')

		// If the value is omitted, its name is omitted, too.
		empty := len(b)
		if b = appendValue(b, m[name]); len(b) == empty {
			b = b[:before]
		}
	}

	return append(b, '}')
}

// appendValue appends a value, or nothing if the value is to be omitted.
func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	// Empty, absent, and false values carry no information, so they are omitted.
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

	// A number is always written, because 0 is not the same as a missing number.
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

	// Raw JSON and nested objects follow.
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
