package schemas

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// detail describes a single validation error.
func detail(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return "expected " + strings.Join(k.Want, " or ") + ", found " + k.Got
	case *kind.Const:
		return "expected " + show(k.Want) + ", found " + kindOf(k.Got)
	case *kind.Enum:
		return "expected one of " + join(k.Want, ", ", show) + ", found " + kindOf(k.Got)
	case *kind.Pattern:
		return "expected a string that matches " + k.Want + ", found " + kindOf(k.Got)
	case *kind.Format:
		return "expected a " + k.Want + ", found " + kindOf(k.Got)
	case *kind.AnyOf:
		return "needs " + join(e.Causes, ", or ", lacks)
	case *kind.Contains:
		return "none of the elements is one that is needed"
	case *kind.FalseSchema:
		return "member " + last(e.InstanceLocation) + " is not allowed"
	case *kind.UniqueItems:
		return fmt.Sprintf("expected distinct elements, found %d and %d equal", k.Duplicates[0], k.Duplicates[1])
	}
	return bound(e.ErrorKind)
}

// bound describes an error about a minimum or maximum value or length.
func bound(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "expected at least " + rational(k.Want) + ", found less"
	case *kind.Maximum:
		return "expected at most " + rational(k.Want) + ", found more"
	case *kind.ExclusiveMaximum:
		return "expected less than " + rational(k.Want) + ", found as much or more"
	case *kind.MinLength:
		return fmt.Sprintf("expected at least %s, found %d", count(k.Want, "character"), k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("expected at most %s, found %d", count(k.Want, "character"), k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("expected at least %s, found %d", count(k.Want, "element"), k.Got)
	case *kind.MaxItems: // a long array has been cut, so its length is not known
		return fmt.Sprintf("expected at most %s, found more", count(k.Want, "element"))
	}
	return fmt.Sprintf("the keyword %q does not hold", keyword(k))
}

// lacks describes the requirement that a value does not meet in one alternative of an anyOf.
func lacks(e *jsonschema.ValidationError) string {
	if k, ok := e.ErrorKind.(*kind.Required); ok {
		return join(k.Missing, " and ", quote)
	}
	return "another form"
}

func join[T any](list []T, separator string, text func(T) string) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = text(v)
	}
	return strings.Join(words, separator)
}

// kindOf describes the type of a rejected value, including the length of a string. It never shows
// the value itself, because the value may be a misplaced secret and reports are passed on.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil, bool:
		return show(v)
	case string:
		return "a string of " + count(utf8.RuneCountInString(v), "character")
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// show formats a value from a schema.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return string(canon.AppendFloat(nil, v))
	case string:
		return quote(v)
	case []any:
		return "an array"
	}
	return "an object"
}

// rational formats a number in the same way as RFC 8785. Every number in a document has been
// converted to a double, so nothing is rounded here.
func rational(r *big.Rat) string {
	f, _ := r.Float64()
	return string(canon.AppendFloat(nil, f))
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

func last(location []string) string {
	if len(location) == 0 {
		return `""`
	}
	return quote(location[len(location)-1])
}

// quote quotes and escapes untrusted text, and truncates it after 64 bytes. If the text was
// truncated, the closing quote is followed by "…".
func quote(s string) string {
	const most = 64
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(untrusted.Head(s, most)) + "…"
}
