package attest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// Digest algorithms of a subject, with the names that in-toto uses.
const (
	SHA256    = "sha256"    // digest of the bytes of a file
	GitCommit = "gitCommit" // the name of a commit
)

// MaxSubjects is the maximum number of subjects in a statement. Other verifiers do not accept more.
const MaxSubjects = 1024

// A Subject is an artifact that an attestation covers.
type Subject struct {
	Name      string // name of the artifact or file, or kind of a commit; "" in a requirement
	Algorithm string // SHA256 or GitCommit
	Digest    string // lowercase hexadecimal digits: 64, or 40 or 64 for a commit
}

// ParseSubject parses a required subject: sha256: followed by 64 lowercase hexadecimal digits, or
// gitCommit: followed by 40 or 64.
func ParseSubject(text string) (Subject, error) {
	algorithm, digest, _ := strings.Cut(text, ":")
	switch {
	case algorithm == SHA256 && isHex(digest, 64):
	case algorithm == GitCommit && IsCommit(digest):
	default:
		return Subject{}, fmt.Errorf("attest: expected sha256: and 64, or gitCommit: and 40 or 64, lowercase hexadecimal digits, found %s", quote(text))
	}
	return Subject{Algorithm: algorithm, Digest: digest}, nil
}

// String returns the algorithm and the digest in the form that ParseSubject accepts.
func (s Subject) String() string { return s.Algorithm + ":" + s.Digest }

// Is reports whether two subjects have the same digest.
func (s Subject) Is(o Subject) bool { return s.Algorithm == o.Algorithm && s.Digest == o.Digest }

// IsCommit reports whether a string is a commit hash: 40 or 64 lowercase hexadecimal digits that
// are not all zero. Git uses zeros to represent the absence of a commit.
func IsCommit(text string) bool {
	return (isHex(text, 40) || isHex(text, 64)) && strings.Trim(text, "0") != ""
}

func isHex(text string, n int) bool {
	return len(text) == n && strings.Trim(text, "0123456789abcdef") == ""
}

// append appends a ResourceDescriptor in canonical JSON.
func (s Subject) append(b []byte) []byte {
	b = append(b, `{"digest":{`...)
	b = append(canon.AppendString(b, s.Algorithm), ':')
	b = append(canon.AppendString(b, s.Digest), `},"name":`...)
	return append(canon.AppendString(b, s.Name), '}')
}

// A teller collects the results of a task from a receipt.
type teller struct {
	root       canon.Node
	unreported receipt.Pointers
	over       receipt.Pointers
	list       []Subject
}

// subjectsOf returns the subjects that the receipt names, including commits.
func subjectsOf(root canon.Node) []Subject {
	t := &teller{root: root, unreported: receipt.ReadUnreported(root), over: receipt.ReadAtMost(root)}
	t.artifacts()
	t.writes()
	t.commits()
	return t.list
}

func (t *teller) artifacts() {
	for i, a := range t.root.Member("final_artifacts").Elements() {
		if at := fmt.Sprintf("/final_artifacts/%d", i); t.told(at, "sha256") {
			t.add(a.Member("artifact_id"), a.Member("sha256"))
		}
	}
}

// writes adds each file with its last write, because earlier content no longer exists.
func (t *teller) writes() {
	// A file may be written several times. Only the last content of a file can still exist.
	last := map[string]int{}
	list := t.root.Member("side_effects").Member("fs_writes")
	for i, w := range list.Elements() {
		last[w.Member("path").String()] = i
	}

	for i, w := range list.Elements() {
		gone := last[w.Member("path").String()] != i || w.Member("operation").String() == "delete"
		if at := fmt.Sprintf("/side_effects/fs_writes/%d", i); !gone && t.told(at, "after_sha256") {
			t.add(w.Member("path"), w.Member("after_sha256"))
		}
	}
}

func (t *teller) commits() {
	for i, a := range t.root.Member("final_artifacts").Elements() {
		id := a.Member("artifact_id").String()
		if at := fmt.Sprintf("/final_artifacts/%d", i); a.Member("kind").String() == "git_commit" && IsCommit(id) && t.told(at, "artifact_id") {
			t.put(commit(id))
		}
	}
}

// told reports whether a member of an entry was recorded by the source and cannot overstate what
// happened. Entries of an incomplete list are included.
func (t *teller) told(entry, member string) bool {
	// A list that is marked as unreported may still contain entries that the source recorded.
	_, whole := slices.BinarySearch(t.unreported, entry)
	_, part := slices.BinarySearch(t.unreported, entry+"/"+member)
	return !whole && !part && !t.over.Has(entry+"/"+member)
}

// add adds a file with its digest, if the digest is valid.
func (t *teller) add(name, digest canon.Node) {
	if d, err := canon.ParseDigest(digest.Text()); err == nil {
		t.put(Subject{name.String(), SHA256, hexOf(d)})
	}
}

func (t *teller) put(s Subject) {
	if !slices.Contains(t.list, s) {
		t.list = append(t.list, s)
	}
}

func commit(name string) Subject { return Subject{"git commit", GitCommit, name} }

// hexOf returns the hexadecimal digits of a digest, without its algorithm.
func hexOf(d canon.Digest) string { return strings.TrimPrefix(d.String(), "sha256:") }
