package attest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// Types of a statement and of its predicate. PredicateType is specific to this project, and changes
// if the form of the predicate changes.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "urn:receiptkit:attestation:receipt:v1"
)

// A Statement is the content of an attestation, with its list of subjects. It was generated from
// the receipt, or compared with the statement that is generated from the receipt.
type Statement struct {
	Subjects []Subject
	itself   bool   // the receipt is the only subject, because it names no other
	receipt  []byte // canonical
	text     []byte
}

// NewStatement returns the statement for a sealed receipt. If commit is not empty, it is the result
// of the task according to the caller. A receipt that names other commits contradicts the caller.
// The error is a *[CommitError] or an *[Error].
func NewStatement(sealed *receipt.Sealed, commit string) (*Statement, error) {
	return newStatement(sealed.Document().Root(), commit)
}

// A CommitError indicates that a receipt and the caller name different commits, or that the
// caller's value is not a valid commit name.
type CommitError struct {
	Commit string   // the caller's commit
	Named  []string // commits named in the receipt
}

// Error returns both.
func (e *CommitError) Error() string {
	if len(e.Named) == 0 {
		return fmt.Sprintf("attestation: expected the name of a commit, 40 or 64 lowercase hexadecimal digits, found %s", quote(e.Commit))
	}
	return fmt.Sprintf("attestation: the receipt names the commit %s, and not %s", e.Named[0], e.Commit)
}

func newStatement(root canon.Node, word string) (*Statement, error) {
	s := &Statement{Subjects: subjectsOf(root)}
	if word != "" {
		if err := s.addCommit(word); err != nil {
			return nil, err
		}
	}

	// A statement must have a subject. If the receipt names no subject, the receipt itself is the
	// subject.
	if len(s.Subjects) == 0 {
		hash, err := canon.ParseDigest(root.Member("chain").Member("receipt_hash").Text())
		if err != nil {
			return nil, invalid("", "the receipt states no hash")
		}
		s.itself = true
		s.Subjects = []Subject{{root.Member("receipt_id").String(), SHA256, hexOf(hash)}}
	}
	if n := len(s.Subjects); n > MaxSubjects {
		return nil, invalid("", "the receipt tells of %d artifacts, files and commits; verifiers read at most %d subjects", n, MaxSubjects)
	}

	s.receipt = root.AppendCanonical(nil)
	s.text = s.append(nil)
	return s, nil
}

// addCommit adds the caller's commit, unless the receipt already names it.
func (s *Statement) addCommit(word string) error {
	if !IsCommit(word) {
		return &CommitError{Commit: word}
	}

	var named []string
	for _, subject := range s.Subjects {
		if subject.Algorithm == GitCommit {
			named = append(named, subject.Digest)
		}
	}
	switch {
	case slices.Contains(named, word):
		return nil
	case len(named) > 0:
		return &CommitError{word, named}
	}

	s.Subjects = append(s.Subjects, commit(word))
	return nil
}

// append appends the statement in canonical JSON.
func (s *Statement) append(b []byte) []byte {
	b = append(b, `{"_type":"`+StatementType+`","predicate":{"receipt":`...)
	b = append(b, s.receipt...)
	b = append(b, `},"predicateType":"`+PredicateType+`","subject":[`...)
	for i, subject := range s.Subjects {
		if i > 0 {
			b = append(b, ',')
		}
		b = subject.append(b)
	}
	return append(b, "]}"...)
}

// Bytes returns the statement in canonical JSON, which is the form that is signed. Callers must not
// modify the result.
func (s *Statement) Bytes() []byte { return s.text }

// Receipt returns the receipt in the statement, in canonical JSON. Callers must not modify the
// result.
func (s *Statement) Receipt() []byte { return s.receipt }

// told describes the subjects of the statement by listing the commits and counting the files.
func (s *Statement) told() string {
	const most = 3
	files := 0
	var list []string
	for _, subject := range s.Subjects {
		if subject.Algorithm != GitCommit {
			files++
		} else if len(list) < most {
			list = append(list, "commit "+subject.Digest)
		}
	}

	switch {
	case s.itself:
		list = append(list, "the receipt itself")
	case files == 1:
		list = append(list, "1 file")
	case files > 1:
		list = append(list, fmt.Sprintf("%d files", files))
	}
	switch more := len(s.Subjects) - files - most; {
	case more == 1:
		list = append(list, "1 more commit")
	case more > 1:
		list = append(list, fmt.Sprintf("%d more commits", more))
	}
	return strings.Join(list, ", ")
}

// payloadAt is the JSON Pointer to the statement in a bundle.
const payloadAt = "/dsseEnvelope/payload"

// parseStatement parses a statement, and compares it with the statement that is generated from its
// receipt.
func parseStatement(text []byte) (*Statement, *Error) {
	doc := new(canon.Document)
	if err := doc.Parse(text, canon.Limits{Bytes: MaxBytes, Depth: receipt.MaxDepth + 2}); err != nil {
		return nil, notStrict(payloadAt, "the payload is not a statement", err)
	}

	// Statements of other types are not supported.
	root := doc.Root()
	if kind := root.Member("_type"); kind.String() != StatementType {
		return nil, unsupported(payloadAt, "_type is %s, expected %s", shown(kind), StatementType)
	}
	if kind := root.Member("predicateType"); kind.String() != PredicateType {
		return nil, unsupported(payloadAt, "predicateType is %s, expected %s", shown(kind), PredicateType)
	}

	if n, lossy := doc.LossyInteger(); lossy {
		return nil, invalid(payloadAt, "%s is outside ±(2^53−1)", shown(n))
	}
	inside := root.Member("predicate").Member("receipt")
	if inside.Kind() != canon.KindObject {
		return nil, invalid(payloadAt, "the predicate contains no receipt")
	}

	// The receipt and the commit determine the statement, so it can be generated again.
	want, err := newStatement(inside, commitSaid(root))
	if err != nil {
		return nil, &Error{receipt.CodeAttestationMismatch, payloadAt, "no statement can be made of the receipt inside: " + err.Error()}
	}
	return want, want.compare(root, text)
}

// commitSaid returns the last commit that a statement names, which may be the caller's commit.
func commitSaid(root canon.Node) (name string) {
	for _, n := range root.Member("subject").Elements() {
		name = n.Member("digest").Member(GitCommit).String()
	}
	return name
}

// compare returns an error that describes the first difference between the given bytes and the
// statement, or nil if they are equal.
func (s *Statement) compare(root canon.Node, text []byte) *Error {
	if bytes.Equal(text, s.text) {
		return nil
	}

	// Different subjects contradict the receipt. Any other difference means that the statement is
	// malformed.
	list := root.Member("subject")
	other := Statement{receipt: s.receipt}
	form := append(bytes.TrimSuffix(other.append(nil), []byte("[]}")), list.AppendCanonical(nil)...)
	if list.Kind() != canon.KindArray || !bytes.Equal(append(form, '}'), text) {
		return invalid(payloadAt, "the statement is not in its one form: canonical JSON (RFC 8785) with the members _type, predicate, predicateType and subject, and in the predicate the receipt alone")
	}
	for i, n := range list.Elements() {
		if i < len(s.Subjects) && !bytes.Equal(n.AppendCanonical(nil), s.Subjects[i].append(nil)) {
			return mismatch("subject %d is %s, the receipt inside gives %s", i+1, shown(n), s.Subjects[i].append(nil))
		}
	}
	return mismatch("%d subjects, the receipt inside gives %d", list.Len(), len(s.Subjects))
}

func mismatch(format string, args ...any) *Error {
	return &Error{receipt.CodeAttestationMismatch, payloadAt, fmt.Sprintf(format, args...)}
}

// shown formats a value for messages.
func shown(n canon.Node) string {
	if n.IsZero() {
		return "missing"
	}
	return quote(n.Raw())
}
