package stream_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A writer creates the receipts of a stream.
type writer struct {
	t      testing.TB
	issuer string
	head   chain.Head
	n      int
}

func newWriter(t testing.TB, issuer string) *writer {
	t.Helper()
	return &writer{t: t, issuer: issuer}
}

func (w *writer) draft() *receipt.Draft {
	w.n++
	at := receipt.At(time.Date(2026, 4, 25, 19, 0, 0, 0, time.UTC).Add(time.Duration(w.n) * time.Second))
	return &receipt.Draft{
		ReceiptID:   fmt.Sprintf("receipt_%s_%d", w.issuer, w.n),
		Subject:     receipt.ResourceRef{Object: "task", ID: "task"},
		Issuer:      receipt.Issuer{ID: w.issuer, Kind: "harness"},
		IssuedAt:    at,
		Identifiers: receipt.Identifiers{WorkspaceRef: "w", SessionID: "s", TaskID: "t"},
		Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: "SUCCEEDED"},
		Trust:       receipt.TrustTiers{StartTier: "act_auto", EndTier: "act_auto"},
		ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
		ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "p", Model: "m"}, RoutePolicyReason: "r"},
		Cost:        receipt.Cost{Currency: "USD"},
	}
}

func (w *writer) seal(head chain.Head) []byte {
	w.t.Helper()
	s, err := receipt.Seal(w.draft(), head)
	if err != nil {
		w.t.Fatal(err)
	}
	w.head = s.Head()
	return s.JSON()
}

// next returns the next receipt in the stream.
func (w *writer) next() []byte { return w.seal(w.head) }

func (w *writer) many(n int) [][]byte {
	var list [][]byte
	for range n {
		list = append(list, w.next())
	}
	return list
}

var compiled = sync.OnceValues(func() (*receipt.Verifier, error) {
	return receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
})

func integrity(t testing.TB) *receipt.Verifier {
	t.Helper()
	v, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func jsonl(docs ...[]byte) []byte {
	size := 0
	for _, doc := range docs {
		size += len(doc) + 1
	}
	all := make([]byte, 0, size)
	for _, doc := range docs {
		all = append(append(all, doc...), '\n')
	}
	return all
}

// A result contains the summary and one line for each receipt that is not verified.
type result struct {
	lines   []string
	summary *stream.Summary
	err     error
}

func verify(t testing.TB, input []byte, o stream.Options) result {
	t.Helper()
	return collect(stream.Verify(context.Background(), integrity(t), bytes.NewReader(input), o))
}

// verifyOnly verifies an input that has the given name and kind.
func verifyOnly(t testing.TB, input []byte, name string, kind stream.Kind, o stream.Options) result {
	t.Helper()
	return collect(stream.VerifyFiles(context.Background(), integrity(t), []stream.Source{from(name, kind, bytes.NewReader(input))}, o))
}

func from(name string, kind stream.Kind, r io.Reader) stream.Source {
	s := stream.From(name, r)
	s.Kind = kind
	return s
}

func collect(run *stream.Run) (r result) {
	for rep := range run.Reports() {
		if c := rep.Finding(); rep.Verdict != receipt.Verified {
			r.lines = append(r.lines, fmt.Sprintf("%s %s", rep.Address(), c.Code))
		} else if link := rep.Check(receipt.StepLink); link.Status == receipt.StatusNotChecked {
			r.lines = append(r.lines, fmt.Sprintf("%s open", rep.Address()))
		}
	}
	r.summary, r.err = run.Summary()
	return r
}

func (r result) String() string {
	s := r.summary
	text := fmt.Sprintf("%v %d/%d/%d", s.Verdict(), s.Verified, s.Refuted, s.Undecided)
	for _, l := range r.lines {
		text += "; " + l
	}
	for _, f := range s.Findings {
		text += "; whole " + string(f.Code)
	}
	for _, g := range s.Streams {
		text += fmt.Sprintf("; %s %d", g.Stream.Issuer, g.Count)
	}
	if s.Copies > 0 {
		text += fmt.Sprintf("; %d copies", s.Copies)
	}
	if r.err != nil {
		text += "; error"
	}
	return text
}

func expect(t *testing.T, name string, r result, want string) {
	t.Helper()
	if got := r.String(); got != want {
		t.Errorf("%s:\n got %s\nwant %s (%v)", name, got, want, r.err)
	}
}

func without(list [][]byte, i int) [][]byte {
	return append(append([][]byte{}, list[:i]...), list[i+1:]...)
}

func swapped(list [][]byte, i, j int) [][]byte {
	c := append([][]byte{}, list...)
	c[i], c[j] = c[j], c[i]
	return c
}

func with(list [][]byte, i int, doc []byte) [][]byte {
	c := append([][]byte{}, list...)
	c[i] = doc
	return c
}

func insert(list [][]byte, i int, doc []byte) [][]byte {
	return append(append(append([][]byte{}, list[:i]...), doc), list[i:]...)
}

func altered(doc []byte) []byte {
	return bytes.Replace(doc, []byte(`"act_auto"`), []byte(`"shadow"`), 1)
}

func TestOrder(t *testing.T) {
	w := newWriter(t, "a")
	list := w.many(6)
	other := newWriter(t, "b").many(3)
	fork := newWriter(t, "a")
	fork.n = 100
	second := fork.next()
	sealed, err := receipt.ParseSealed(list[1])
	if err != nil {
		t.Fatal(err)
	}
	branch := fork.seal(sealed.Head())
	stolen := bytes.Replace(list[2], []byte(sealed.Hash().String()), []byte(canon.Sum(nil).String()), 1)
	hash, err := receipt.ParseSealed(list[2])
	if err != nil {
		t.Fatal(err)
	}
	forged := bytes.Replace(list[2], []byte(hash.Hash().String()), []byte(canon.Sum(nil).String()), 1)
	reissued := newWriter(t, "a")
	reissued.n = 2 // reuses the ID of list[2]
	sameID := reissued.seal(w.head)
	for _, c := range []struct {
		name string
		in   [][]byte
		o    stream.Options
		want string
	}{
		{"whole", list, stream.Options{}, "verified 6/0/0; a 6"},
		{"two streams", [][]byte{list[0], other[0], list[1], other[1], other[2], list[2]}, stream.Options{}, "verified 6/0/0; a 3; b 3"},
		{"without the first", list[1:], stream.Options{}, "verified 5/0/0; input:1 open; a 5"},
		{"without the last", list[:5], stream.Options{}, "verified 5/0/0; a 5"},
		{"without the middle", without(list, 3), stream.Options{}, "refuted 4/1/0; input:4 chain_break; a 5"},
		{"without the middle, partial", without(list, 3), stream.Options{Partial: true}, "verified 5/0/0; input:4 open; a 5"},
		{"reordered", swapped(list, 2, 3), stream.Options{}, "refuted 3/3/0; input:3 chain_break; input:4 chain_break; input:5 chain_break; a 6"},
		{"reordered, partial", swapped(list, 2, 3), stream.Options{Partial: true}, "refuted 4/2/0; input:3 open; input:4 chain_break; input:5 chain_break; a 6"},
		{"a second first", insert(list, 3, second), stream.Options{}, "refuted 5/2/0; input:4 chain_break; input:5 chain_break; a 7"},
		{"fork", insert(list, 3, branch), stream.Options{}, "refuted 5/2/0; input:4 chain_fork; input:5 chain_break; a 7"},
		{"altered, then as it was", insert(list, 3, altered(list[3])), stream.Options{}, "refuted 6/1/0; input:4 hash_mismatch; a 7"},
		{"copy", insert(list, 3, list[2]), stream.Options{}, "verified 6/0/0; a 6; 1 copies"},
		{"copies later", append(append([][]byte{}, list...), list[1], list[4]), stream.Options{}, "verified 6/0/0; a 6; 2 copies"},
		{"altered", with(list, 3, altered(list[3])), stream.Options{}, "refuted 5/1/0; input:4 hash_mismatch; a 6"},
		{"altered first", with(list, 0, altered(list[0])), stream.Options{}, "refuted 5/1/0; input:1 hash_mismatch; a 5"},
		{"altered last", with(list, 5, altered(list[5])), stream.Options{}, "refuted 5/1/0; input:6 hash_mismatch; a 6"},
		{"altered hash", with(list, 2, forged), stream.Options{}, "refuted 5/1/0; input:3 hash_mismatch; a 6"},
		{"altered link", with(list, 2, stolen), stream.Options{}, "refuted 5/1/0; input:3 hash_mismatch; a 5"},
		{"unreadable", with(list, 3, list[3][:100]), stream.Options{}, "refuted 5/1/0; input:4 syntax; input:5 open; a 5"},
		{"same id", append(append([][]byte{}, list...), sameID), stream.Options{}, "refuted 6/1/0; input:7 duplicate_id; a 7"},
	} {
		expect(t, c.name, verify(t, jsonl(c.in...), c.o), c.want)
	}
}

// TestStated verifies that a report contains both the predecessor that a receipt states and the
// receipt that in fact precedes it.
func TestStated(t *testing.T) {
	list := newWriter(t, "a").many(4)
	other := newWriter(t, "a")
	other.n = 100
	for name, c := range map[string]struct {
		doc    []byte
		stated string
	}{
		"a first one":   {other.next(), "null"},
		"one behind":    {other.seal(headOf(t, list[1])), headOf(t, list[1]).Hash.String()},
		"one too early": {list[3], headOf(t, list[2]).Hash.String()},
	} {
		run := stream.Verify(t.Context(), integrity(t), bytes.NewReader(jsonl(list[0], list[1], list[2], c.doc)), stream.Options{})
		if name == "one too early" {
			run = stream.Verify(t.Context(), integrity(t), bytes.NewReader(jsonl(list[0], list[1], c.doc)), stream.Options{})
		}
		for rep := range run.Reports() {
			if found := rep.Finding(); rep.Verdict != receipt.Verified && (found.Stated != c.stated || found.Computed == "" || found.Computed == c.stated) {
				t.Errorf("%s: states %q, expected %q, computed %q", name, found.Stated, c.stated, found.Computed)
			}
		}
		if s, err := run.Summary(); err != nil || s.Refuted != 1 {
			t.Errorf("%s: %d refuted, %v", name, s.Refuted, err)
		}
	}
}
