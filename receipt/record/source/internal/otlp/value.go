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

// Attributes are those of a span, of an event or of a resource.
type attributes struct{ list canon.Node }

// get returns the value of the first of some names that is there: an AnyValue.
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

// ambiguous reports an attribute that is there and has no text, or that is there twice and has
// different ones.
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

// isAttribute reports whether an attribute has a name, and a value of a type that such have.
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
		if value := v.Member(x.name); !event.Absent(value) && !slices.Contains(x.is, value.Kind()) {
			return false
		}
	}
	return true
}

// isText reports a text, or nothing.
func isText(n canon.Node) bool { return event.Absent(n) || n.Kind() == canon.KindString }

// text is a value that is a text.
func (a attributes) text(s *story.Story, names ...string) string {
	return s.Name(a.get(names...).Member("stringValue"))
}

// count is the first value of some names that is a count: a number, or the text of one
// (protobuf writes 64 bits so).
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

// flag is a value that is true or false, or a text of it; ok is false where there is none.
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

// digest is that of a value. JSON in a text is read as such.
func (a attributes) digest(s *story.Story, names ...string) canon.Digest {
	v := a.get(names...)
	if text := v.Member("stringValue"); text.Kind() == canon.KindString {
		return s.DigestIn(text)
	}
	return s.Digest(v)
}

// enum reads an enum: its number, or the name of it. Any other is as if it were not set.
func enum(n canon.Node, names ...string) int {
	for i, name := range names {
		if n.String() == name || n.Kind() == canon.KindNumber && n.Float() == float64(i) {
			return i
		}
	}
	return 0
}

// An id is that of a trace or of a span, in lower-case hexadecimal digits; "" is none.
type id string

// maxID bounds ids that some export made up.
const maxID = 64

// idOf reads an id of some bytes: in hexadecimal digits, or in base64, as exporters by the
// JSON mapping of protobuf write it. One of zeros alone is none.
func idOf(n canon.Node, size int) id {
	text := n.String()
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != size {
		b, err = base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "=")))
	}
	switch {
	case err == nil && len(b) == size && len(bytes.Trim(b, "\x00")) == 0:
		return ""
	case err == nil && len(b) == size:
		return id(hex.EncodeToString(b))
	case len(text) > maxID:
		return ""
	}
	return id(text) // some export that made up its own
}

// nanos reads a time in nanoseconds since 1970: a number or the text of one. Who writes
// numbers as floating-point ones is off by less than a microsecond.
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

// Looks reports whether a text begins as an export does, wherever its lines end.
func Looks(head []byte) bool {
	text := strings.TrimPrefix(string(bytes.Join(bytes.Fields(bytes.TrimPrefix(head, []byte("\ufeff"))), nil)), "[")
	for _, name := range members() {
		if strings.HasPrefix(text, `{"`+name+`":[`) {
			return true
		}
	}
	return false
}

// members are the lists of which an export has one.
func members() []string {
	return []string{"resourceSpans", "resourceLogs", "resourceMetrics", "batches"}
}
