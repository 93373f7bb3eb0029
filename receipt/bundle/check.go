package bundle

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

// Markers specifies how to treat strings and member names in a bundle that look like secrets.
type Markers int

const (
	RefuseMarkers    Markers = iota // unambiguous secrets are refused; heuristic matches are warnings
	RefuseHeuristics                // both are refused
	AllowMarkers                    // nothing is searched
)

// Info describes a bundle with a valid structure, using the values in the bundle. None of the
// values are verified. A string that looks like a secret is replaced with a placeholder in Info.
type Info struct {
	BundleID      string
	SchemaVersion int
	Mode          Mode
	RunRecordID   string
	Warnings      []Warning // the first maxWarnings
	Total         int       // the number of all warnings
}

// maxWarnings is the maximum number of listed warnings. The remaining warnings are only counted.
const maxWarnings = 20

// A Warning is a location that matches a heuristic for secrets.
type Warning struct {
	Path string `json:"path"`
	Rule string `json:"rule"`
}

const (
	bundleType    = "harn_session_bundle"
	schemaVersion = 1
)

// Check checks the structure of a bundle, in this order: required members, _type, schema_version,
// absence of secrets, types. It stops at the first fault and returns it as an *[Error]. Every
// string and every member name is searched for secrets, even in a local bundle. A bundle that
// passes is not necessarily safe to share.
func Check(b *Bundle, m Markers) (*Info, error) {
	r, err := prepared()
	if err != nil {
		return nil, err
	}
	return check(r, b, m, newMarks(r.marker))
}

// check stores the results of its search in found.
func check(r *rules, b *Bundle, m Markers, found *marks) (*Info, error) {
	root := b.root()
	for _, wrong := range []*Error{required(r, root), checkType(root), checkVersion(root)} {
		if wrong != nil {
			return nil, wrong
		}
	}

	info := &Info{SchemaVersion: schemaVersion}
	if m != AllowMarkers {
		found.search(b.doc.Root())
		s := sight{marks: found, strict: m == RefuseHeuristics, info: info}
		if s.look(root); s.err != nil {
			return nil, s.err
		}
	}

	if wrong := r.shape.check(root, []byte("$")); wrong != nil {
		return nil, wrong
	}

	// Secrets in strings from the bundle are also replaced with placeholders in Info.
	info.BundleID, info.RunRecordID = found.clean(root.member("bundle_id")), found.clean(root.member("source").member("run_record_id"))
	info.Mode = Mode(root.member("redaction").member("mode").content())
	return info, nil
}

// required reports the first required member that is missing from the bundle or from an object in
// it. A null member counts as present. Members are required only of objects; a value of another
// type is reported later.
func required(r *rules, root value) *Error {
	if root.kind() != canon.KindObject {
		return &Error{Malformed, "$", "expected object, found " + typeOf(root)}
	}

	// The members of the bundle are checked before the members of nested objects.
	for _, name := range r.shape.required {
		if root.member(name).none() {
			return &Error{Kind: MissingRequired, Path: "$." + name}
		}
	}

	for _, name := range r.shape.names {
		of := root.member(name)
		for _, inner := range r.shape.members[name].required {
			if of.kind() == canon.KindObject && of.member(inner).none() {
				return &Error{Kind: MissingRequired, Path: "$." + name + "." + inner}
			}
		}
	}
	return nil
}

func checkType(root value) *Error {
	if v := root.member("_type"); string(v.content()) != bundleType {
		return &Error{InvalidType, "$._type", "expected " + bundleType}
	}
	return nil
}

// checkVersion accepts only digits, so 1.0 is not a valid spelling of the version.
func checkVersion(root value) *Error {
	v := root.member("schema_version")
	raw := string(v.raw())
	switch {
	case v.kind() != canon.KindNumber || strings.Trim(strings.TrimPrefix(raw, "-"), "0123456789") != "":
		return &Error{InvalidType, "$.schema_version", "expected an integer"}
	case raw != "1":
		return &Error{UnsupportedVersion, "$.schema_version", "found " + raw[:min(len(raw), 20)] + ", supported is 1"}
	}
	return nil
}

// A sight searches a bundle for secrets, in the order in which the bundle is written.
type sight struct {
	marks  *marks
	strict bool
	info   *Info
	steps  []step
	pairs  []pair
	err    *Error
}

func (s *sight) look(v value) {
	switch v.kind() {
	case canon.KindString:
		if marked, ok := s.marks.of(v); ok {
			s.found(marked, "")
		}
	case canon.KindArray:
		for i, e := range v.each {
			s.steps = append(s.steps, step{"", i})
			s.look(e)
			s.steps = s.steps[:len(s.steps)-1]
			if s.err != nil {
				return
			}
		}
	case canon.KindObject:
		s.object(v)
	}
}

func (s *sight) object(v value) {
	from := len(s.pairs)
	s.pairs = v.appendPairs(s.pairs)
	to := len(s.pairs)
	for i := from; i < to; i++ {
		if mark := s.marks.name(s.pairs[i].name); mark.secret {
			s.found(mark.found, " in the name of a member")
		}
	}

	// Secrets in member names are reported before secrets in the values.
	for i := from; i < to && s.err == nil; i++ {
		m := s.pairs[i]
		s.steps = append(s.steps, step{s.marks.name(m.name).name, -1})
		s.look(m.value)
		s.steps = s.steps[:len(s.steps)-1]
	}
	s.pairs = s.pairs[:from]
}

// found records an error or a warning.
func (s *sight) found(marked redact.Marked, where string) {
	rule := strings.Join(marked.Rules, ", ") + where
	if marked.Certain || s.strict {
		if s.err == nil {
			s.err = &Error{UnsafeSecretMarker, s.marks.path(s.steps), rule}
		}
		return
	}

	if s.info.Total++; s.info.Total <= maxWarnings {
		s.info.Warnings = append(s.info.Warnings, Warning{s.marks.path(s.steps), rule})
	}
}
