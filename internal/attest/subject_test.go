package attest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// sealedWith seals the minimal receipt with the given artifacts, writes, and metadata.
func sealedWith(t testing.TB, artifacts, writes, metadata string) *receipt.Sealed {
	t.Helper()
	var d members
	if err := json.Unmarshal(read(t, "valid/minimal.json"), &d); err != nil {
		t.Fatal(err)
	}
	delete(d, "signatures")
	delete(d["chain"].(members), "receipt_hash")
	d["final_artifacts"], d["metadata"] = json.RawMessage(artifacts), json.RawMessage(metadata)
	d["side_effects"].(members)["fs_writes"] = json.RawMessage(writes)

	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := receipt.SealDocument(doc, chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// hash returns a digest in which all digits are the same.
func hash(digit string) string { return `"sha256:` + strings.Repeat(digit, 64) + `"` }

// TestSubjects verifies that the subjects are exactly the results of the task that the receipt
// states.
func TestSubjects(t *testing.T) {
	const other = "0123456789abcdef0123456789abcdef01234567"
	long := strings.Repeat("ab", 32)
	write := func(path, operation, after string) string {
		return fmt.Sprintf(`{"path":%q,"operation":%q,"after_sha256":%s}`, path, operation, after)
	}
	artifact := func(id, kind, digest string) string {
		return fmt.Sprintf(`{"artifact_id":%q,"kind":%q,"sha256":%s}`, id, kind, digest)
	}
	list := func(entries ...string) string { return "[" + strings.Join(entries, ",") + "]" }
	a, b, c := "sha256:aaaa", "sha256:bbbb", "sha256:cccc"

	tests := []struct {
		name, artifacts, writes, metadata, commit string
		want                                      []string
	}{
		{"artifacts, files, commit", list(artifact("p", "patch", hash("a"))), list(write("f", "create", hash("b"))), `{}`, head, []string{"p " + a, "f " + b, "git commit gitCommit:8f94"}},
		{"a commit of SHA-256", `[]`, `[]`, `{}`, long, []string{"git commit gitCommit:abab"}},
		{"nothing: the receipt itself", `[]`, `[]`, `{}`, "", []string{"receipt_minimal sha256:"}},
		{"no digest", `[{"artifact_id":"p","kind":"patch"}]`, list(write("f", "create", hash("b"))), `{}`, "", []string{"f " + b}},
		{"the last write of a file", `[]`, list(write("f", "create", hash("a")), write("g", "create", hash("b")), write("f", "modify", hash("c"))), `{}`, "", []string{"g " + b, "f " + c}},
		{"a digest that was not told last", `[]`, list(write("f", "create", hash("a")), write("f", "modify", "null"), write("g", "create", hash("b"))), `{}`, "", []string{"g " + b}},
		{"a file that is gone", `[]`, list(write("f", "create", hash("a")), write("f", "delete", "null"), write("g", "create", hash("b"))), `{}`, "", []string{"g " + b}},
		{"a file that is gone, with a digest", `[]`, list(write("f", "delete", hash("a")), write("g", "create", hash("b"))), `{}`, "", []string{"g " + b}},
		{"the same twice", list(artifact("f", "file", hash("a"))), list(write("f", "create", hash("a"))), `{}`, "", []string{"f " + a}},
		{"one name, two digests", list(artifact("f", "file", hash("a"))), list(write("f", "create", hash("b"))), `{}`, "", []string{"f " + a, "f " + b}},
		{"a commit of the receipt", list(artifact(head, "git_commit", hash("a"))), `[]`, `{}`, "", []string{head + " " + a, "git commit gitCommit:8f94"}},
		{"the same commit of the caller", `[{"artifact_id":"` + head + `","kind":"git_commit"}]`, `[]`, `{}`, head, []string{"git commit gitCommit:8f94"}},
		{"two commits", `[{"artifact_id":"` + head + `","kind":"git_commit"},{"artifact_id":"` + other + `","kind":"git_commit"}]`, `[]`, `{}`, other, []string{"git commit gitCommit:8f94", "git commit gitCommit:0123"}},
		{"a kind that is not exactly so", `[{"artifact_id":"` + head + `","kind":"commit"}]`, `[]`, `{}`, other, []string{"git commit gitCommit:0123"}},
		{"a short commit", `[{"artifact_id":"8f94139","kind":"git_commit"}]`, `[]`, `{}`, other, []string{"git commit gitCommit:0123"}},
		{"the commit that was checked out before", `[]`, `[]`, `{"source":{"git_commit":"` + other + `"}}`, head, []string{"git commit gitCommit:8f94"}},
		{"and nothing more", `[]`, list(write("f", "create", hash("b"))), `{"source":{"git_commit":"` + other + `"}}`, "", []string{"f " + b}},

		// An absent value is not the same as zero.
		{"a digest that was not told", list(artifact("p", "patch", hash("a")), artifact("q", "patch", hash("b"))), `[]`, `{"unreported":["/final_artifacts/0/sha256"]}`, "", []string{"q " + b}},
		{"an entry that was not told", `[]`, list(write("f", "create", hash("a")), write("g", "create", hash("b"))), `{"unreported":["/side_effects/fs_writes/1"]}`, "", []string{"f " + a}},
		{"a list that goes on", list(artifact("p", "patch", hash("a"))), `[]`, `{"unreported":["/final_artifacts"]}`, "", []string{"p " + a}},
		{"more than happened", list(artifact("p", "patch", hash("a"))), list(write("f", "create", hash("b"))), `{"at_most":["/side_effects/fs_writes"]}`, "", []string{"p " + a}},
		{"one that may not have happened", list(artifact("p", "patch", hash("a")), artifact("q", "patch", hash("b"))), `[]`, `{"at_most":["/final_artifacts/0"]}`, "", []string{"q " + b}},
		{"a commit that was not told", `[{"artifact_id":"` + head + `","kind":"git_commit"}]`, `[]`, `{"unreported":["/final_artifacts/0/artifact_id"]}`, other, []string{"git commit gitCommit:0123"}},
	}
	for _, test := range tests {
		s, err := attest.NewStatement(sealedWith(t, test.artifacts, test.writes, test.metadata), test.commit)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for i, subject := range s.Subjects {
			text := subject.Name + " " + subject.String()
			if i < len(test.want) {
				text = text[:min(len(text), len(test.want[i]))]
			}
			got = append(got, text)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}

		// The statement is canonical, and its bytes are the same each time.
		canonical, err := canon.Transform(s.Bytes())
		if err != nil || string(canonical) != string(s.Bytes()) {
			t.Errorf("%s: not canonical: %s, %v", test.name, s.Bytes(), err)
		}
	}
}

// TestTold verifies that a report describes the subjects of an attestation.
func TestTold(t *testing.T) {
	commits := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"artifact_id":"%s","kind":"git_commit"}`, strings.Repeat(fmt.Sprint(i+1), 40)))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	name := func(digit string) string { return "commit " + strings.Repeat(digit, 40) }
	files := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"path":"f%d","operation":"create","after_sha256":%s}`, i, hash("a")))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	for _, test := range []struct{ artifacts, writes, want string }{
		{`[]`, `[]`, "the receipt itself"},
		{`[]`, files(1), "1 file"},
		{`[]`, files(2), "2 files"},
		{commits(1), `[]`, name("1")},
		{commits(3), files(1), name("1") + ", " + name("2") + ", " + name("3") + ", 1 file"},
		{commits(4), files(2), name("1") + ", " + name("2") + ", " + name("3") + ", 2 files, 1 more commit"},
		{commits(5), `[]`, name("1") + ", " + name("2") + ", " + name("3") + ", 2 more commits"},
	} {
		s := sealedWith(t, test.artifacts, test.writes, `{}`)
		signed, err := s.Sign(context.Background(), keys.NewSigner(private(t, "key_second"), nil))
		if err != nil {
			t.Fatal(err)
		}
		st, err := attest.NewStatement(signed, "")
		if err != nil {
			t.Fatal(err)
		}
		e, err := attest.Sign(context.Background(), st, keys.NewSigner(private(t, "key_second"), nil))
		if err != nil {
			t.Fatal(err)
		}
		rep := newDesk(t, receipt.Policy{}).judge(t, e.Bytes())
		if got := rep.Signatures[len(rep.Signatures)-1].Detail; got != test.want || rep.Verdict != receipt.Verified {
			t.Errorf("%v, %q; want %q", rep.Verdict, got, test.want)
		}
	}
}

// TestCommits verifies that a commit that the caller passes must be a valid commit name and must
// not contradict the receipt.
func TestCommits(t *testing.T) {
	naming := sealedWith(t, `[{"artifact_id":"`+head+`","kind":"git_commit"}]`, `[]`, `{}`)
	for word, want := range map[string]string{
		"0123456789abcdef0123456789abcdef01234567": "attestation: the receipt names the commit " + head + ", and not 0123456789abcdef0123456789abcdef01234567",
		head[:39]:               `attestation: expected the name of a commit, 40 or 64 lowercase hexadecimal digits, found "` + head[:39] + `"`,
		strings.ToUpper(head):   `attestation: expected the name of a commit, 40 or 64 lowercase hexadecimal digits, found "` + strings.ToUpper(head) + `"`,
		strings.Repeat("0", 40): `attestation: expected the name of a commit, 40 or 64 lowercase hexadecimal digits, found "` + strings.Repeat("0", 40) + `"`,
		" " + head:              `attestation: expected the name of a commit, 40 or 64 lowercase hexadecimal digits, found " ` + head + `"`,
	} {
		_, err := attest.NewStatement(naming, word)
		var commit *attest.CommitError
		if !errors.As(err, &commit) || err.Error() != want {
			t.Errorf("%q: %v, want %s", word, err, want)
		}
	}
}

// TestMaxSubjects verifies that no statement is created if it would have more subjects than other
// verifiers accept.
func TestMaxSubjects(t *testing.T) {
	var writes []string
	for i := range attest.MaxSubjects {
		writes = append(writes, fmt.Sprintf(`{"path":"f%d","operation":"create","after_sha256":%s}`, i, hash("a")))
	}
	s := sealedWith(t, `[]`, "["+strings.Join(writes, ",")+"]", `{}`)
	if _, err := attest.NewStatement(s, ""); err != nil {
		t.Error(err)
	}
	if _, err := attest.NewStatement(s, head); err == nil || err.Error() != "attestation: the receipt tells of 1025 artifacts, files and commits; verifiers read at most 1024 subjects" {
		t.Error(err)
	}
}

func TestParseSubject(t *testing.T) {
	for text, want := range map[string]bool{
		"sha256:" + strings.Repeat("0a", 32):    true,
		"gitCommit:" + head:                     true,
		"gitCommit:" + strings.Repeat("0a", 32): true,
		"sha256:" + head:                        false,
		"sha256:" + strings.Repeat("0A", 32):    false,
		"gitCommit:" + head[:7]:                 false,
		"sha1:" + head:                          false,
		head:                                    false,
		"":                                      false,
	} {
		s, err := attest.ParseSubject(text)
		if (err == nil) != want || want && s.String() != text {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}

// TestAsked verifies that a receipt is verified only if it is attested for all required subjects.
func TestAsked(t *testing.T) {
	file, commit := attest.Subject{Algorithm: attest.SHA256, Digest: "f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8"}, attest.Subject{Algorithm: attest.GitCommit, Digest: head}
	before := attest.Subject{Algorithm: attest.GitCommit, Digest: strings.Repeat("ab", 20)}
	for _, test := range []struct {
		asked []attest.Subject
		file  string
		want  string
	}{
		{[]attest.Subject{file, commit}, "attested", "verified"},
		{[]attest.Subject{before}, "attested", "undecided signatures not_attested"},
		{[]attest.Subject{file, before}, "attested", "undecided signatures not_attested"},
		{[]attest.Subject{commit}, "valid/task.json", "undecided signatures not_attested"},
		{[]attest.Subject{commit}, "malicious/changed-cost.json", "refuted hash hash_mismatch"},
		{[]attest.Subject{{Algorithm: attest.SHA256, Digest: head}}, "attested", "undecided signatures not_attested"},
	} {
		data := bundle(t, "valid/task.json", head, "key_2026_04")
		if test.file != "attested" {
			data = read(t, test.file)
		}
		if got := outcome(newDesk(t, receipt.Policy{}, test.asked...).judge(t, data)); got != test.want {
			t.Errorf("%v of %s: %s, want %s", test.asked, test.file, got, test.want)
		}
	}
}
