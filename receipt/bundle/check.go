package bundle

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

// Markers says what becomes of a bundle in which a text, or the name of a member, looks
// like a secret.
type Markers int

const (
	RefuseMarkers    Markers = iota // forms that nothing else has are refused, heuristics are warnings
	RefuseHeuristics                // both are refused
	AllowMarkers                    // nothing is searched
)

// Info says what a bundle that has the form of one says of itself. It shows nothing of whether
// that is so. Where one of its texts looks like a secret, it has a placeholder.
type Info struct {
	BundleID      string
	SchemaVersion int
	Mode          Mode
	RunRecordID   string
	Warnings      []Warning // the first maxWarnings
	Total         int       // how many there are
}

// maxWarnings is how many warnings are told; more are counted.
const maxWarnings = 20

// A Warning is a place where a heuristic takes something for a secret.
type Warning struct {
	Path string `json:"path"`
	Rule string `json:"rule"`
}

const (
	bundleType    = "harn_session_bundle"
	schemaVersion = 1
)

// Check says whether a bundle has the form of one: members that are required, _type,
// schema_version, no secrets, types, in this order. It ends with the first that is wrong;
// the error is an *[Error]. Secrets are searched in every text and every name, also of a
// local bundle: it is not said that what is in it may leave.
func Check(b *Bundle, m Markers) (*Info, error) {
	r, err := prepared()
	if err != nil {
		return nil, err
	}
	return check(r, b, m, newMarks(r.marker))
}

// check notes in found what it searches.
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

	// What is told of the bundle has placeholders, too.
	info.BundleID, info.RunRecordID = found.clean(root.member("bundle_id")), found.clean(root.member("source").member("run_record_id"))
	info.Mode = Mode(root.member("redaction").member("mode").content())
	return info, nil
}

// required looks for the members that are required, of the bundle and of what is in it. Null
// is there; of what is no object nothing is required here, as its type is wrong.
func required(r *rules, root value) *Error {
	if root.kind() != canon.KindObject {
		return &Error{Malformed, "$", "expected object, found " + typeOf(root)}
	}

	// The members of the bundle come before those of its members.
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

// checkVersion takes digits alone: 1.0 is not how a version is written.
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

// A sight looks for secrets in the order in which a bundle is written.
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

	// A secret in a name is found before those in the values.
	for i := from; i < to && s.err == nil; i++ {
		m := s.pairs[i]
		s.steps = append(s.steps, step{s.marks.name(m.name).name, -1})
		s.look(m.value)
		s.steps = s.steps[:len(s.steps)-1]
	}
	s.pairs = s.pairs[:from]
}

// found refuses or warns.
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
