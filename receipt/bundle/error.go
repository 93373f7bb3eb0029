package bundle

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
)

// A Kind is what is wrong with a bundle or a run record. Kinds are never renamed.
type Kind string

// The kinds.
const (
	Malformed          Kind = "decode"                   // not strict JSON, or a value of another type than the schema has
	MissingRequired    Kind = "missing_required"         // a member is not there
	InvalidType        Kind = "invalid_type"             // _type or schema_version is something else than the format's
	UnsupportedVersion Kind = "unsupported_version"      // schema_version is another integer than 1
	UnsafeSecretMarker Kind = "unsafe_secret_marker"     // a text, or a name, looks like a secret
	NoRunRecord        Kind = "no_importable_run_record" // neither a run record nor all that one can be made of
	NotEnded           Kind = "not_ended"                // only a run that has ended gets a receipt
	TooLarge           Kind = "size_limit"               // more than MaxBytes, or more than an index may take
	WeakerMode         Kind = "weaker_mode"              // a bundle cannot get back what its mode took out
)

// An Error says why something is no bundle, or cannot become what it was asked to be. It
// holds no text of a value.
type Error struct {
	Kind Kind
	Path string // such as $.tools.calls[3].result; names that look like secrets are replaced
	Rule string // what was found or expected there: the rule of a secret, the type of a value
}

// Error gives kind, path and rule on one line.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s at %s", e.Kind, e.Path)
	if e.Rule != "" {
		text += ": " + e.Rule
	}
	return text
}

// An OptionError says that a field of options has a value that cannot be.
type OptionError struct {
	Name   string // of the field
	Detail string
}

// Error gives both.
func (e *OptionError) Error() string { return "bundle: options: " + e.Name + " " + e.Detail }

// unreadable says why a text is not strict JSON. The parser's own words may quote it.
func unreadable(err error) error {
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	if syntax.Code == canon.CodeSizeLimit {
		return tooLarge("the bytes")
	}
	return &Error{Malformed, "$", fmt.Sprintf("%s in line %d, column %d", syntax.Code, syntax.Line, syntax.Column)}
}

func tooLarge(what string) error {
	return &Error{TooLarge, "$", fmt.Sprintf("%s are more than %d MiB", what, MaxBytes>>20)}
}
