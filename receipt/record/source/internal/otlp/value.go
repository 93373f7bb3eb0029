package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// attributes contains the attributes of a span, an event, or a resource.
type attributes struct{ list canon.Node }

// get returns the value of the first named attribute that is present, as an AnyValue.
func (a attributes) get(names ...string) canon.Node {
	for _, name := range names {
		for _, x := range a.list.Elements() {
			if string(x.Member("key").Text()) == name {
				return x.Member("value")
			}
		}
	}
	return canon.Node{}
}

// ambiguous reports whether an attribute is present but not a string, or is present twice with
// different strings.
func (a attributes) ambiguous(name string) bool {
	first, found := "", false
	for _, x := range a.list.Elements() {
		if string(x.Member("key").Text()) != name {
			continue
		}
		v := x.Member("value").Member("stringValue")
		if v.Kind() != canon.KindString || found && v.String() != first {
			return true
		}
		first, found = v.String(), true
	}

	return false
}

// isAttribute reports whether an attribute has a name and a value of a valid type.
func isAttribute(n canon.Node) bool {
	v := n.Member("value")
	if n.Member("key").Kind() != canon.KindString || !event.Absent(v) && v.Kind() != canon.KindObject {
		return false
	}

	for _, x := range []struct {
		name string
		is   []canon.Kind
	}{
		{"stringValue", []canon.Kind{canon.KindString}}, {"boolValue", []canon.Kind{canon.KindBool}},
		{"intValue", []canon.Kind{canon.KindNumber, canon.KindString}}, {"doubleValue", []canon.Kind{canon.KindNumber, canon.KindString}},
	} {
		// An absent value is valid, and so is a number that is encoded as a string.
		if value := v.Member(x.name); !event.Absent(value) && !slices.Contains(x.is, value.Kind()) {
			return false
		}
	}

	return true
}

// isText reports whether n is a string or absent.
func isText(n canon.Node) bool { return event.Absent(n) || n.Kind() == canon.KindString }

// text returns the value of an attribute if it is a string.
func (a attributes) text(s *story.Story, names ...string) string {
	return s.Name(a.get(names...).Member("stringValue"))
}

// word returns the value of an attribute if it is a string, but does not record it.
func (a attributes) word(name string) string { return a.get(name).Member("stringValue").String() }

// count returns the first value that is a count. It may be a string that contains a number, because
// protobuf writes 64-bit integers as strings.
func (a attributes) count(names ...string) *int64 {
	for _, name := range names {
		if n := countIn(a.get(name)); n != nil {
			return n
		}
	}
	return nil
}

func countIn(v canon.Node) *int64 {
	for _, kind := range []string{"intValue", "doubleValue", "stringValue"} {
		switch n := v.Member(kind); n.Kind() {
		case canon.KindNumber:
			return story.Count(n)
		case canon.KindString:
			i, err := strconv.ParseInt(string(n.Text()), 10, 64)
			if err != nil || i < 0 || i > event.MaxTokens {
				return nil
			}
			return &i
		}
	}

	return nil
}

// flag returns a boolean value, which may be encoded as a string. If there is no such value, ok is
// false.
func (a attributes) flag(name string) (yes, ok bool) {
	v := a.get(name)
	if b := v.Member("boolValue"); b.Kind() == canon.KindBool {
		return b.Bool(), true
	}

	switch v.Member("stringValue").String() {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// digest returns the digest of a value. If the value is a string that contains JSON, the JSON is
// parsed first.
func (a attributes) digest(s *story.Story, names ...string) canon.Digest {
	v := a.get(names...)
	if text := v.Member("stringValue"); text.Kind() == canon.KindString {
		return s.DigestIn(text)
	}
	return s.Digest(v)
}

// enum returns the value of an enum, given as a number or a name. An unknown value is treated as
// unset.
func enum(n canon.Node, names ...string) int {
	for i, name := range names {
		if n.String() == name || n.Kind() == canon.KindNumber && n.Float() == float64(i) {
			return i
		}
	}
	return 0
}

// An id is the ID of a trace or a span, in lowercase hexadecimal digits; "" means no ID.
type id string

// maxID is the maximum length of an ID in any other form.
const maxID = 64

// idOf parses an ID of size bytes, in hexadecimal digits or in base64; exporters that use the JSON
// mapping of protobuf write base64. An ID that consists of zeros means no ID.
func idOf(n canon.Node, size int) id {
	text := n.String()
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != size {
		b, err = base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "=")))
	}

	// An ID that consists of zeros is invalid in OpenTelemetry (W3C Trace Context, section
	// 3.2.2.3).
	switch {
	case err == nil && len(b) == size && len(bytes.Trim(b, "\x00")) == 0:
		return ""
	case err == nil && len(b) == size:
		return id(hex.EncodeToString(b))
	case len(text) > maxID:
		return ""
	}

	return id(text) // some exporters use their own IDs
}

// nanos parses a time in nanoseconds since 1970, which is a number or a string that contains a
// number. If the number is a floating-point number, the error is less than a microsecond.
func nanos(n canon.Node) time.Time {
	text := n.String()
	if n.Kind() == canon.KindNumber {
		text = string(n.Raw())
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if f := n.Float(); err != nil && n.Kind() == canon.KindNumber && f < math.MaxInt64 {
		i, err = int64(f), nil
	}
	if err != nil || i <= 0 {
		return time.Time{}
	}

	return time.Unix(0, i).UTC()
}

// Looks reports whether text without leading whitespace begins like an OTLP/JSON export.
func Looks(text string) bool {
	text = strings.TrimPrefix(text, "[")
	return slices.ContainsFunc(members(), func(name string) bool { return strings.HasPrefix(text, `{"`+name+`":[`) })
}

// members lists the possible top-level members. An export must have at least one of them.
func members() []string {
	return []string{"resourceSpans", "resourceLogs", "resourceMetrics", "batches"}
}
