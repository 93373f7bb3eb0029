package bundle

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
)

// A Kind identifies the cause of an [Error]. Kinds are never renamed.
type Kind string

// The kinds.
const (
	Malformed          Kind = "decode"                   // not strict JSON, or the type of a value differs from the schema
	MissingRequired    Kind = "missing_required"         // a member is missing
	InvalidType        Kind = "invalid_type"             // _type has the wrong value, or schema_version is not an integer
	UnsupportedVersion Kind = "unsupported_version"      // schema_version is an integer other than 1
	UnsafeSecretMarker Kind = "unsafe_secret_marker"     // a string or a member name looks like a secret
	NoRunRecord        Kind = "no_importable_run_record" // the bundle contains neither a run record nor the data needed to create one
	NotEnded           Kind = "not_ended"                // the run has not ended, so it gets no receipt
	TooLarge           Kind = "size_limit"               // the bundle exceeds MaxBytes, or its index exceeds the limit
	WeakerMode         Kind = "weaker_mode"              // the requested mode removes less than the mode of the bundle
)

// An Error describes why data is not a valid bundle, or why a bundle cannot be converted as
// requested. It contains no text from the values of the bundle.
type Error struct {
	Kind Kind
	Path string // such as $.tools.calls[3].result; a name that looks like a secret is replaced
	Rule string // the finding or the expectation: the rule for a secret, or the type of a value
}

// Error returns the kind, path, and rule on one line.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s at %s", e.Kind, e.Path)
	if e.Rule != "" {
		text += ": " + e.Rule
	}
	return text
}

// An OptionError indicates an invalid field of the options.
type OptionError struct {
	Name   string // of the field
	Detail string
}

// Error returns the name and detail of the invalid option.
func (e *OptionError) Error() string { return "bundle: options: " + e.Name + " " + e.Detail }

// unreadable describes why a document is not strict JSON. It does not use the parser's message,
// which may quote the document.
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
