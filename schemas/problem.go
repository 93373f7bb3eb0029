package schemas

import (
	"iter"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/receiptkit/receiptkit/canon"
)

// maxPointer is the longest pointer of a problem, in bytes. The members that
// schemas name need a tenth of it.
const maxPointer = 1024

// A Problem is one place where a document does not fit its schema.
type Problem struct {
	// Pointer (RFC 6901) names the value at fault: of a missing member the
	// object that lacks it, of an unknown member that member. Where it would be
	// longer than 1,024 bytes it names an enclosing value. Its tokens may come
	// from the document: escape it before showing it.
	Pointer string

	// Keyword is the keyword of JSON Schema that failed, such as "required".
	Keyword string

	// Detail is what was expected and what was found, on one line. Foreign text
	// in it is quoted, escaped and cut to 64 bytes.
	Detail string
}

// problems yields the leaves of the library's tree of errors in our words. At
// is the pointer of the value that was validated.
func problems(at string, e *jsonschema.ValidationError) iter.Seq[Problem] {
	return func(yield func(Problem) bool) { walk(at, e, yield) }
}

func walk(at string, e *jsonschema.ValidationError, yield func(Problem) bool) bool {
	// These name several members at once, of which each is a problem.
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			if !yield(Problem{pointer(at, e.InstanceLocation), "required", "missing member " + quote(name)}) {
				return false
			}
		}
		return true
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			if !yield(Problem{pointer(at, e.InstanceLocation, name), "additionalProperties", "unknown member " + quote(name)}) {
				return false
			}
		}
		return true
	}

	if len(e.Causes) == 0 || whole(e.ErrorKind) {
		return yield(Problem{pointer(at, e.InstanceLocation), keyword(e.ErrorKind), detail(e)})
	}

	// Any other error with causes only leads to them.
	for _, cause := range e.Causes {
		if !walk(at, cause, yield) {
			return false
		}
	}
	return true
}

// whole reports whether an error is one problem although it has causes: what
// each alternative or each element lacks is not a problem by itself.
func whole(k jsonschema.ErrorKind) bool {
	switch k.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Contains:
		return true
	}
	return false
}

func keyword(k jsonschema.ErrorKind) string {
	switch k.(type) {
	case *kind.FalseSchema: // a member that may not be there
		return "properties"
	case *kind.RefCycle:
		return "$ref"
	}
	return strings.Join(k.KeywordPath(), "/")
}

// pointer appends the tokens of location and of more to at, until the pointer
// would become too long.
func pointer(at string, location []string, more ...string) string {
	b := []byte(at)
	for _, tokens := range [][]string{location, more} {
		for _, token := range tokens {
			if len(b)+len(token) >= maxPointer {
				return string(b)
			}
			b = canon.AppendToken(b, token)
		}
	}
	return string(b)
}
