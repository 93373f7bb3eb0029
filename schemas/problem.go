package schemas

import (
	"iter"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/receiptkit/receiptkit/canon"
)

// maxPointer is the maximum length of a problem's pointer, in bytes. The members that schemas name
// need only a tenth of this length.
const maxPointer = 1024

// A Problem is one location at which a document does not match its schema.
type Problem struct {
	// Pointer (RFC 6901) refers to the invalid value. For a missing member, it refers to the object
	// without the member; for an unknown member, it refers to that member. If the pointer would be
	// longer than 1,024 bytes, it refers to an enclosing value instead. Its tokens may be text from
	// the document and must be escaped before they are shown.
	Pointer string

	// Keyword is the JSON Schema keyword that failed, such as "required".
	Keyword string

	// Detail states the expected and actual values on one line. Text from the document is quoted,
	// escaped, and truncated after 64 bytes.
	Detail string
}

// problems yields the leaves of the library's error tree as Problems. at is the pointer to the
// validated value.
func problems(at string, e *jsonschema.ValidationError) iter.Seq[Problem] {
	return func(yield func(Problem) bool) { walk(at, e, yield) }
}

func walk(at string, e *jsonschema.ValidationError, yield func(Problem) bool) bool {
	// These errors name several members, and each of them is a problem.
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

	// Other errors with causes serve only to lead to these causes.
	for _, cause := range e.Causes {
		if !walk(at, cause, yield) {
			return false
		}
	}
	return true
}

// whole reports whether an error is a single problem even though it has causes. The defects in
// individual alternatives or elements are not separate problems.
func whole(k jsonschema.ErrorKind) bool {
	switch k.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Contains:
		return true
	}
	return false
}

func keyword(k jsonschema.ErrorKind) string {
	switch k.(type) {
	case *kind.FalseSchema: // a member that is not allowed
		return "properties"
	case *kind.RefCycle:
		return "$ref"
	}
	return strings.Join(k.KeywordPath(), "/")
}

// pointer appends the tokens of location and of more to at, until the pointer would be too long.
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
