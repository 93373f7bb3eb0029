package attest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// The types of a statement. PredicateType is specific to this project, and changes with the
// form of the predicate.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "urn:receiptkit:attestation:receipt:v1"
)

// A Statement lists the subjects of an attestation. It was created from the receipt, or was
// compared with the statement created from it.
type Statement struct {
	Subjects []Subject
	itself   bool   // the receipt is the subject, because it names no other
	receipt  []byte // canonical
	text     []byte
}

// NewStatement returns the statement of a sealed receipt. A commit, if not "", is the result of
// the task according to the caller. A receipt that names other commits contradicts it. The
// error is a *[CommitError] or an *[Error].
func NewStatement(sealed *receipt.Sealed, commit string) (*Statement, error) {
	return newStatement(sealed.Document().Root(), commit)
}

// A CommitError indicates that a receipt names other commits than the caller, or that the
// caller's commit is not the name of a commit.
type CommitError struct {
	Commit string   // the caller's commit
	Named  []string // the commits that the receipt names
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

	// A statement must have a subject. If the receipt names none, the subject is the receipt.
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

// addCommit adds the commit of the caller, unless the receipt already names it.
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

// Bytes returns the statement in canonical JSON, as it is signed. The result must not be
// modified.
func (s *Statement) Bytes() []byte { return s.text }

// Receipt returns the receipt inside in canonical JSON. The result must not be modified.
func (s *Statement) Receipt() []byte { return s.receipt }

// told describes the subjects of the statement: each commit, and the number of files.
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

// payloadAt is the location of the statement in a bundle.
const payloadAt = "/dsseEnvelope/payload"

// parseStatement parses a statement, and compares it with the statement created from its
// receipt.
func parseStatement(text []byte) (*Statement, *Error) {
	doc := new(canon.Document)
	if err := doc.Parse(text, canon.Limits{Bytes: MaxBytes, Depth: receipt.MaxDepth + 2}); err != nil {
		return nil, notStrict(payloadAt, "the payload is not a statement", err)
	}

	// A statement of another type is not judged here.
	root := doc.Root()
	if kind := root.Member("_type"); kind.String() != StatementType {
		return nil, unsupported(payloadAt, "_type is %s, expected %s", shown(kind), StatementType)
	}
	if kind := root.Member("predicateType"); kind.String() != PredicateType {
		return nil, unsupported(payloadAt, "predicateType is %s, expected %s", shown(kind), PredicateType)
	}

	inside := root.Member("predicate").Member("receipt")
	if inside.Kind() != canon.KindObject {
		return nil, invalid(payloadAt, "the predicate contains no receipt")
	}

	// The receipt and the commit determine the statement, so it is created again.
	want, err := newStatement(inside, commitSaid(root))
	if err != nil {
		return nil, &Error{receipt.CodeAttestationMismatch, payloadAt, "no statement can be made of the receipt inside: " + err.Error()}
	}
	return want, want.compare(root, text)
}

// commitSaid returns the commit that a statement names last, which may be the caller's.
func commitSaid(root canon.Node) (name string) {
	for _, n := range root.Member("subject").Elements() {
		name = n.Member("digest").Member(GitCommit).String()
	}
	return name
}

// compare returns where a text differs from the statement, or nil if it does not.
func (s *Statement) compare(root canon.Node, text []byte) *Error {
	if bytes.Equal(text, s.text) {
		return nil
	}

	// Report the first subject that differs, before any difference in form.
	list := root.Member("subject")
	for i, n := range list.Elements() {
		if i < len(s.Subjects) && !bytes.Equal(n.AppendCanonical(nil), s.Subjects[i].append(nil)) {
			return mismatch("subject %d is %s, the receipt inside gives %s", i+1, shown(n), s.Subjects[i].append(nil))
		}
	}
	if list.Len() != len(s.Subjects) {
		return mismatch("%d subjects, the receipt inside gives %d", list.Len(), len(s.Subjects))
	}
	return invalid(payloadAt, "the statement is not in its one form: canonical JSON (RFC 8785) with the members _type, predicate, predicateType and subject, and in the predicate the receipt alone")
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
