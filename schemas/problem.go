package schemas

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/receiptkit/receiptkit/canon"
)

// maxPointer is the maximum length, in bytes, of the pointer in a problem. Pointers to the members
// that the schemas define have at most a tenth of this length.
const maxPointer = 1024

// A Problem describes one location at which a document does not match its schema.
type Problem struct {
	// Pointer (RFC 6901) refers to the invalid value. If a member is missing, it refers to the
	// object that lacks the member; if a member is unknown, it refers to that member. If the
	// pointer would be longer than 1,024 bytes, it refers to an enclosing value instead. The tokens
	// of the pointer may be text from the document, so the pointer must be escaped before it is
	// shown.
	Pointer string

	// Keyword is the JSON Schema keyword that failed, such as "required".
	Keyword string

	// Detail describes the expected and the actual value on one line. Text from the document is
	// quoted, escaped, and truncated after 64 bytes.
	Detail string
}

// walk passes a Problem to add for each leaf of an error tree from the library. The argument at is
// the pointer to the validated value.
func walk(at string, e *jsonschema.ValidationError, add func(Problem)) {
	// Each of these errors can name several members, each of which is a separate problem.
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			add(Problem{pointer(at, e.InstanceLocation), "required", "missing member " + quote(name)})
		}
		return
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(Problem{pointer(at, e.InstanceLocation, name), "additionalProperties", "unknown member " + quote(name)})
		}
		return
	}

	if len(e.Causes) == 0 || whole(e.ErrorKind) {
		add(Problem{pointer(at, e.InstanceLocation), keyword(e.ErrorKind), detail(e)})
		return
	}

	// Any other error with causes is only a group of errors.
	for _, cause := range e.Causes {
		walk(at, cause, add)
	}
}

// whole reports whether an error is a single problem, even if it has causes. The faults that were
// found in individual alternatives or elements are then not separate problems.
func whole(k jsonschema.ErrorKind) bool {
	switch k.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Contains:
		return true
	}
	return false
}

func keyword(k jsonschema.ErrorKind) string {
	switch k.(type) {
	case *kind.FalseSchema: // the schema allows no such member
		return "properties"
	case *kind.RefCycle:
		return "$ref"
	}
	return strings.Join(k.KeywordPath(), "/")
}

// pointer appends the tokens in location and more to at, but stops before the pointer would be too
// long.
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
