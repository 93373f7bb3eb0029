package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/bench/internal/result"
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/schemas"
)

// few returns a bench with a few receipts and one round.
func few(t *testing.T) *bench {
	t.Helper()
	s, err := take(t.Context(), corpus.Config{Receipts: 40, Seed: seed}, 2, 40, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{ctx: t.Context(), rounds: 1, slice: time.Nanosecond, sample: s, dir: t.TempDir()}
}

func TestTake(t *testing.T) {
	var b bytes.Buffer
	s, err := take(t.Context(), corpus.Config{Receipts: 100, Seed: seed}, 3, 10, &b)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte("\n"))
	if len(lines) != 100 || len(s.first) != 100 || s.headBytes != int64(b.Len()) || s.set.Len() != 8 {
		t.Fatalf("%d lines, %d receipts, %d bytes, %d keys", len(lines), len(s.first), s.headBytes, s.set.Len())
	}
	for i := range 10 { // every tenth line, distributed to the slices in turn
		if got := s.slices[i%3][i/3]; !bytes.Equal(got, lines[10*i]) {
			t.Errorf("receipt %d of the sample is not that of line %d", i, 10*i+1)
		}
	}
	if len(s.slices) != 3 || len(s.slices[0]) != 4 || len(s.slices[2]) != 3 {
		t.Errorf("%d slices, the first has %d, the last %d", len(s.slices), len(s.slices[0]), len(s.slices[2]))
	}
	if _, err := take(t.Context(), corpus.Config{Receipts: 5, Seed: seed}, 3, 10, nil); err == nil {
		t.Error("ten receipts are taken from five")
	}
}

// TestContestantsAgree verifies that all contestants verify intact receipts and reject altered
// ones, and that a contestant with a wrong result is detected.
func TestContestantsAgree(t *testing.T) {
	b := few(t)
	unsigned := contestants(nil)
	if err := agree(b.ctx, b.sample, unsigned, false); err != nil {
		t.Error(err)
	}
	all := contestants(b.sample.set)
	if err := agree(b.ctx, b.sample, all, true); err != nil {
		t.Error(err)
	}
	if agree(b.ctx, b.sample, unsigned, true) == nil {
		t.Error("who looks at no signature sees that one was altered")
	}
	for _, liar := range []contestant{
		{"yes", func([]byte) error { return nil }},
		{"no", func([]byte) error { return errNotVerified }},
	} {
		if agree(b.ctx, b.sample, []contestant{liar}, false) == nil {
			t.Errorf("a contestant that always answers %s agrees", liar.name)
		}
	}
}

// TestTampered verifies that altered receipts are refuted because of the alteration, and remain
// well-formed receipts.
func TestTampered(t *testing.T) {
	b := few(t)
	v := verifier(b.sample.set)
	want := []receipt.Code{receipt.CodeHashMismatch, receipt.CodeSignatureInvalid}
	for _, slice := range b.sample.slices {
		for _, text := range slice {
			for i, bad := range tampered(text, true) {
				doc, rep := new(canon.Document), new(receipt.Report)
				if v.VerifyBytes(bad, doc, rep); rep.Finding().Code != want[i] {
					t.Errorf("finding %s, expected %s", rep.Finding().Code, want[i])
				}
			}
		}
	}
}

func TestNaive(t *testing.T) {
	b := few(t)
	n := newNaive(b.sample.set)
	text := string(b.sample.slices[0][0])
	for name, bad := range map[string]string{
		"no JSON":        text[1:],
		"no date":        strings.Replace(text, `"issued_at":"2026-`, `"issued_at":"2026/`, 1),
		"no signature":   text[:strings.Index(text, `"signatures":[`)] + `"signatures":[]` + text[strings.Index(text, `,"subject"`):],
		"an unknown key": strings.Replace(text, `"key_id":"test_key_`, `"key_id":"best_key_`, 1),
	} {
		if bad == text || n.verify([]byte(bad)) == nil {
			t.Errorf("%s: is verified", name)
		}
	}
}

func TestCorpora(t *testing.T) {
	schema, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	all, again := corpora(), corpora()
	if len(all) != 7 {
		t.Fatalf("%d corpora", len(all))
	}
	for i, c := range all {
		seen := map[string]bool{}
		for j, src := range c.receipts {
			doc, err := canon.Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			if r := schema.Check(doc.Root()); r.Total != 0 {
				t.Fatalf("%s: receipt %d: %v", c.name, j, r.Problems)
			}
			if !bytes.Equal(src, again[i].receipts[j]) {
				t.Fatalf("%s: receipt %d differs from run to run", c.name, j)
			}
			seen[string(src)] = true
		}
		if len(seen) != len(c.receipts) || len(seen) == 0 {
			t.Errorf("%s: %d of %d receipts are distinct", c.name, len(seen), len(c.receipts))
		}
	}
}

func TestRivalsAgree(t *testing.T) {
	for _, c := range corpora() {
		if err := sameBytes(c.receipts, rivals()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	liar := rival{"liar", func(_, src []byte) ([]byte, error) { return src, nil }}
	if sameBytes(corpora()[0].receipts, []rival{rivals()[0], liar}) == nil {
		t.Error("a rival that copies its input agrees")
	}
	if r := rivals(); r[jcsRival].name != "jcs" || r[jsontextRival].name != "jsontext" {
		t.Errorf("rivals stand elsewhere")
	}
}

func TestCanonicalTable(t *testing.T) {
	rows := few(t).canonicalTable()
	if len(rows) != 8 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		if len(row) != len(rows[0]) {
			t.Errorf("%d cells in %q", len(row), row)
		}
	}
}

// TestShortForm verifies that every line of the short form is measured, that lines that count
// violations report zero, and that the record has the same lines.
func TestShortForm(t *testing.T) {
	var messages bytes.Buffer
	b := bench{ctx: t.Context(), slice: time.Nanosecond}
	lines := b.shortForm(&messages, 1)
	seen := map[string]bool{}
	for _, l := range lines {
		if seen[l.ID] || l.Absent {
			t.Errorf("%+v", l)
		}
		seen[l.ID] = true
		counts := strings.HasSuffix(l.ID, "/allocations")
		if counts && (l.Seen != 0 || !l.Met()) || !counts && l.Seen <= 0 {
			t.Errorf("%s: %v", l.ID, l.Seen)
		}
	}
	recorded, err := result.Load(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range result.Guard(recorded.Short, lines) {
		if strings.HasPrefix(c.Why, "was not") {
			t.Errorf("%s %s", c.ID, c.Why)
		}
	}
	if got := strings.Count(messages.String(), "\n"); got != 8 {
		t.Errorf("%d sections:\n%s", got, &messages)
	}
}

// TestCheckpoint verifies that receipts without signatures are verified only under the checkpoint, and
// are measured.
func TestCheckpoint(t *testing.T) {
	b := few(t)
	signed := must(take(t.Context(), corpus.Config{Kind: corpus.Minimal, Receipts: 40, Seed: seed}, 2, 40, nil))
	unsigned := signed.unsigned()
	text := unsigned.slices[0][0]
	if err := oursWith(unsigned.under(b)).verify(text); err != nil {
		t.Error(err)
	}
	if ours(signed.set).verify(text) == nil {
		t.Error("verified without a signature")
	}
	if lines := b.checkpoint(); len(lines) != 1 || lines[0].ID != "checkpoint/naive" || lines[0].Seen <= 0 {
		t.Errorf("%+v", lines)
	}
}

// TestRecorded verifies that a record covers a complete run.
func TestRecorded(t *testing.T) {
	r, err := result.Load(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, l := range r.Lines {
		ids[l.ID] = true
	}
	for _, id := range []string{"command/jobs", "command/memory", "full/node"} {
		if !ids[id] {
			t.Errorf("no line %s", id)
		}
	}
	if len(r.Canonical) != 8 || len(r.Linear) != 6 || len(r.Profile.Steps) != len(stepNames()) || r.Profile.FloorSum() <= 0 || r.Rounds < 5 {
		t.Errorf("%d rows, %d of growth, %+v, %d rounds", len(r.Canonical), len(r.Linear), r.Profile, r.Rounds)
	}
}

// TestDocumentIsCurrent verifies that the document contains the recorded results.
func TestDocumentIsCurrent(t *testing.T) {
	r, err := result.Load(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	want, err := page(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(documentFile)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what go generate writes: %v", documentFile, err)
	}
}

// TestNode verifies that the Node.js verifier gives the same results, and that a wrong result is
// detected.
func TestNode(t *testing.T) {
	b := few(t)
	n, err := b.startNode()
	if err != nil {
		t.Skip(err)
	}
	defer n.stop()
	us := ours(b.sample.set)
	if err := n.agree(b.sample, us); err != nil {
		t.Error(err)
	}
	if n.agree(b.sample, contestant{"yes", func([]byte) error { return nil }}) == nil {
		t.Error("node agrees with a verifier that accepts altered receipts")
	}
	if seconds, err := n.time(0); err != nil || seconds <= 0 {
		t.Errorf("%v s, %v", seconds, err)
	}
}

func TestNodeIsMissing(t *testing.T) {
	b := few(t)
	t.Setenv("PATH", t.TempDir())
	lines := b.againstNode()
	if len(lines) != 1 || !lines[0].Absent || !lines[0].Met() || lines[0].Note == "" {
		t.Errorf("%+v", lines)
	}
}

func TestLinear(t *testing.T) {
	b := few(t)
	many := b.byNumber([]int{10, 100, 1000})
	big := b.bySize()
	for _, g := range append(many, big...) {
		if g.Cost <= 0 || g.Ratio <= 0 || g.Ratio > g.Worst {
			t.Errorf("%+v", g)
		}
	}
	if len(many) != 3 || len(big) != 3 || many[0].Size != "10^1" || many[2].Size != "10^3" || many[0].Ratio != 1 || big[0].Ratio != 1 {
		t.Errorf("%+v %+v", many, big)
	}
}

func TestOptions(t *testing.T) {
	var out bytes.Buffer
	o, err := parse(strings.Fields("-rounds 9 -skip memory,node -must -linear"), &out)
	if err != nil || o.rounds != 9 || len(o.skip) != 2 || !o.must || !o.linear || o.receipts != defaultSample {
		t.Errorf("%v, %+v", err, o)
	}
	for _, line := range []string{"x", "-rounds 4", "-skip nothing", "-receipts 100001", "-receipts 3", "-time 0s", "-record -skip node", "-record -speed", "-nonsense"} {
		if _, err := parse(strings.Fields(line), &out); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}

// TestNotMet verifies that a line whose bound is not met is an error only if -must is set.
func TestNotMet(t *testing.T) {
	missed := []result.Line{{Bound: result.Least, Must: 1}}
	if err := verdict(missed, true); !errors.Is(err, errNotMet) {
		t.Errorf("with -must: %v", err)
	}
	if err := errors.Join(verdict(missed, false), verdict(nil, true)); err != nil {
		t.Errorf("expected no error, found %v", err)
	}
}
