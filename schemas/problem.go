package schemas

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/receiptkit/receiptkit/canon"
)

// MaxProblems is how many problems of a document are told; more are counted.
const MaxProblems = 20

// A Problem is one place where a document does not fit its schema.
type Problem struct {
	Pointer string // RFC 6901; of a missing member the object that lacks it
	Keyword string // the keyword that failed, such as "required"
	Detail  string // what was expected and what was found, on one line; foreign text is quoted and bounded
}

// A Result is what [Schema.Check] found. A Total of 0 means that the document
// fits.
type Result struct {
	Problems []Problem // the first MaxProblems by pointer
	Total    int
}

// Check checks a parsed value.
func (s *Schema) Check(root canon.Node) Result {
	if root.IsZero() {
		return Result{[]Problem{{Detail: "expected a document, found none"}}, 1}
	}
	err := s.compiled.Validate(value(root))
	if err == nil {
		return Result{}
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return Result{[]Problem{{Detail: err.Error()}}, 1}
	}
	problems := collect(nil, invalid)
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Detail, b.Detail))
	})
	problems = slices.Compact(problems)
	return Result{problems[:min(len(problems), MaxProblems)], len(problems)}
}

// collect flattens the library's tree of errors into its leaves. The branches
// of an anyOf are one problem: any of them would do.
func collect(problems []Problem, e *jsonschema.ValidationError) []Problem {
	if _, ok := e.ErrorKind.(*kind.AnyOf); ok {
		return append(problems, Problem{pointer(e.InstanceLocation), "anyOf", branches(e)})
	}
	if len(e.Causes) == 0 {
		return append(problems, leaf(e)...)
	}
	for _, cause := range e.Causes {
		problems = collect(problems, cause)
	}
	return problems
}

func leaf(e *jsonschema.ValidationError) []Problem {
	at := pointer(e.InstanceLocation)
	keyword := strings.Join(e.ErrorKind.KeywordPath(), "/")
	var problems []Problem
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			problems = append(problems, Problem{at, keyword, "missing member " + quote(name)})
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			problems = append(problems, Problem{string(canon.AppendToken([]byte(at), name)), keyword, "unknown member " + quote(name)})
		}
	default:
		problems = append(problems, Problem{at, keyword, detail(e.ErrorKind)})
	}
	return problems
}

// branches words the alternatives of an anyOf whose branches demand members.
func branches(e *jsonschema.ValidationError) string {
	var ways []string
	for _, cause := range e.Causes {
		required, ok := cause.ErrorKind.(*kind.Required)
		if !ok {
			return "expected one of the allowed forms, found none of them"
		}
		ways = append(ways, "missing "+quoteAll(required.Missing, " and "))
	}
	return "expected one of the allowed forms, found none: " + strings.Join(ways, ", or ")
}

func detail(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("expected %s, found %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		var want []string
		for _, v := range k.Want {
			want = append(want, show(v))
		}
		return fmt.Sprintf("expected one of %s, found %s", strings.Join(want, ", "), show(k.Got))
	case *kind.Const:
		return fmt.Sprintf("expected %s, found %s", show(k.Want), show(k.Got))
	case *kind.MinLength:
		return fmt.Sprintf("expected at least %d character, found %d", k.Want, k.Got)
	case *kind.Pattern:
		return fmt.Sprintf("expected text that matches %s, found %s", k.Want, quote(k.Got))
	case *kind.Format:
		return fmt.Sprintf("expected a %s, found %s", k.Want, show(k.Got))
	case *kind.Minimum:
		return fmt.Sprintf("expected at least %s, found %s", k.Want.RatString(), clip(k.Got.FloatString(6)))
	case *kind.Maximum:
		return fmt.Sprintf("expected at most %s, found %s", k.Want.RatString(), clip(k.Got.FloatString(6)))
	case *kind.MinItems:
		return fmt.Sprintf("expected at least %d items, found %d", k.Want, k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("expected at most %d items, found %d", k.Want, k.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("expected distinct items, found items %d and %d equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.FalseSchema:
		return "this member is not allowed here"
	}
	return "the keyword " + strings.Join(k.KeywordPath(), "/") + " does not hold"
}

func show(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case float64:
		return string(canon.AppendFloat(nil, v))
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case []any:
		return "an array"
	}
	return "an object"
}

// quote quotes foreign text, escapes what a terminal would obey, and bounds it.
func quote(s string) string { return fmt.Sprintf("%+q", clip(s)) }

func quoteAll(names []string, separator string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return strings.Join(quoted, separator)
}

func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

func pointer(location []string) string {
	var b []byte
	for _, token := range location {
		b = canon.AppendToken(b, token)
	}
	return string(b)
}
