package join_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/lake"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// An engine groups bytes by key in a random order, as Beam and Spark do.
type engine struct {
	t      *testing.T
	dice   *rand.Rand
	terms  join.Terms
	strict bool

	counts  join.Counts
	done    []join.Record
	missing []join.Record
	strands map[chain.Stream]*join.Strand
	ids     map[join.Place]string // the receipt_id, in the form used in reports
}

// shuffled groups values by key, in a random order.
func shuffled[K comparable](e *engine, keys []K, values [][]byte) (groups [][][]byte) {
	at := map[K]int{}
	for _, i := range e.dice.Perm(len(keys)) {
		n, known := at[keys[i]]
		if !known {
			n = len(groups)
			at[keys[i]], groups = n, append(groups, nil)
		}
		groups[n] = append(groups[n], values[i])
	}
	return groups
}

func (e *engine) records(group [][]byte) (list []join.Record) {
	for _, b := range group {
		r, err := join.Parse(b)
		if err != nil {
			e.t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func (e *engine) parts(group [][]byte) (list []join.Part) {
	for _, b := range group {
		p, err := join.ParsePart(b)
		if err != nil {
			e.t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// finish counts the completed records.
func (e *engine) finish(list []join.Record) {
	for i := range list {
		if list[i].Mark == join.MarkMissing && e.counts.Gaps > 0 {
			e.missing = append(e.missing, list[i])
			continue
		}
		e.counts.Record(&list[i], e.strict)
		e.done = append(e.done, list[i])
	}
}

func (e *engine) add(strands []join.Strand) {
	for i := range strands {
		s := strands[i]
		back, err := join.ParseStrand(s.Append(nil))
		if err != nil || back != s {
			e.t.Fatalf("%+v, %v", back, err)
		}
		if e.strands[s.Stream] == nil {
			e.strands[s.Stream] = &join.Strand{}
		}
		e.strands[s.Stream].Add(&s)
	}
}

// run joins the records that describe documents.
func (e *engine) run(records []join.Record) *join.Result {
	var ids []join.ID
	var own, on [][]byte
	for i := range records {
		if id, ok := records[i].Key(); ok {
			ids, own = append(ids, id), append(own, records[i].Append(nil))
		} else {
			on = append(on, records[i].Append(nil))
		}
	}
	for _, group := range shuffled(e, ids, own) {
		done, rest := join.IDs(e.records(group))
		e.finish(done)
		for i := range rest {
			on = append(on, rest[i].Append(nil))
		}
	}

	var digests []canon.Digest
	var parts [][]byte
	for _, r := range e.records(on) {
		for _, p := range r.Parts() {
			digests, parts = append(digests, p.Digest()), append(parts, p.Append(nil))
		}
	}
	var streams []chain.Stream
	var open [][]byte
	for _, group := range shuffled(e, digests, parts) {
		done, left, strands := join.Links(e.parts(group), e.terms)
		e.finish(done)
		e.add(strands)
		for i := range left {
			streams, open = append(streams, left[i].Stream), append(open, left[i].Append(nil))
		}
	}

	left := map[chain.Stream][]join.Part{}
	for _, group := range shuffled(e, streams, open) {
		list := e.parts(group)
		left[list[0].Stream] = list
	}
	judged := map[chain.Stream]*join.Strand{}
	for stream, s := range e.strands {
		done, strand := join.Begin(*s, left[stream], e.terms)
		e.finish(done)
		judged[stream] = &strand
	}

	if gaps := e.counts.Gaps; gaps > 0 {
		done, failures := join.Forgive(e.missing, gaps)
		for i := range done {
			e.counts.Record(&done[i], e.strict)
		}
		e.done = append(e.done, done...)
		for i := range failures {
			judged[failures[i].Stream].Failures += failures[i].Failures
		}
	}

	result := &join.Result{Counts: e.counts}
	for _, s := range judged {
		result.Strands = append(result.Strands, *s)
	}
	return result
}

func verifier(t testing.TB, p receipt.Policy) *receipt.Verifier {
	t.Helper()
	data, err := fixtures.Read(lake.Keys)
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.ParseSet(data)
	if err != nil {
		t.Fatal(err)
	}
	v, err := receipt.NewVerifier(set, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func sourceOf(name string, text []byte) stream.Source {
	return stream.Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
}

// read verifies each part separately, as the workers in an engine do.
func (e *engine) read(v *receipt.Verifier, files [][]byte) (list []join.Record) {
	e.t.Helper()
	for i, text := range files {
		place := func(r *join.Record) error {
			if r == nil {
				return nil
			}
			own := *r
			own.Place.Source = i
			list = append(list, own)
			return nil
		}
		run := stream.Records(e.t.Context(), v, []stream.Source{sourceOf(fmt.Sprint(i), text)}, stream.Options{}, nil, place)
		for rep := range run.Reports() {
			e.ids[join.Place{Source: i, Index: rep.Index}] = string(rep.ReceiptID)
			if rep.Verdict == receipt.Refuted && rep.Finding().Code == "syntax" {
				e.counts.Gap(rep.Verdict, rep.Finding().Code)
			}
		}
		sum, err := run.Summary()
		if err != nil {
			e.t.Fatal(err)
		}
		e.counts.Leave(sum.Unchecked, sum.Withheld)
	}
	return list
}

// summary returns the summary that an engine creates for the parts.
func (e *engine) summary(v *receipt.Verifier, files [][]byte, expect map[chain.Stream]chain.Head) *stream.Summary {
	e.t.Helper()
	e.strands, e.ids = map[chain.Stream]*join.Strand{}, map[join.Place]string{}
	e.terms.Head = func(s chain.Stream) canon.Digest { return expect[s].Hash }
	result := e.run(e.read(v, files))
	sum, err := stream.Conclude(v, result, stream.Options{Continuity: stream.Continuity{Expect: expect}}, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	return sum
}

// findings returns the receipts that are not verified, with the reasons.
func (e *engine) findings() (list []lake.Finding) {
	for i := range e.done {
		r := &e.done[i]
		if verdict, code := r.Outcome(false); r.Mark != join.MarkCopy && verdict != receipt.Verified {
			list = append(list, lake.Finding{Code: code, ID: e.ids[r.Place]})
		}
	}
	return list
}

// whole adds the findings that concern entire streams.
func whole(list []lake.Finding, s *stream.Summary) []lake.Finding {
	for _, f := range s.Findings {
		list = append(list, lake.Finding{Code: f.Code, Where: f.Stream.Workspace})
	}
	lake.Sort(list)
	return list
}

// gist returns the content of a summary without the list of sources.
func gist(t *testing.T, s *stream.Summary) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var said map[string]any
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"roster", "inputs", "skipped", "skipped_count"} {
		delete(said, name)
	}
	text, err = json.MarshalIndent(said, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestEngineAgrees verifies that an engine returns the same summary as a single machine, byte for
// byte, regardless of the order and the division into parts, and that both find the planted faults.
func TestEngineAgrees(t *testing.T) {
	n, cases := testsize.Of(600, 3000), testsize.Of(6, 10, 40)
	l, err := lake.New(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	v := verifier(t, receipt.Policy{NoInputDigest: true})
	dice := rand.New(rand.NewPCG(3, 4))
	for i := range cases {
		mix := i%2 == 0
		files, copies := l.Deal(1+dice.IntN(12), i%3 > 0, mix, dice)
		if i%4 == 3 { // an unreadable document may be the missing receipt
			files[0] = append(files[0], "{\"a\":\n"...)
			files[len(files)-1] = append([]byte("[\n"), files[len(files)-1]...)
		}
		var sources []stream.Source
		for k, text := range files {
			sources = append(sources, sourceOf(fmt.Sprint(k), text))
		}
		run := stream.VerifyFiles(t.Context(), v, sources, stream.Options{Unordered: true, Continuity: stream.Continuity{Expect: l.Expect}})
		var found []lake.Finding
		for rep := range run.Reports() {
			if c := rep.Finding(); rep.Verdict != receipt.Verified && c.Code != "syntax" {
				found = append(found, lake.Finding{Code: c.Code, ID: string(rep.ReceiptID)})
			}
		}
		want, err := run.Summary()
		if err != nil {
			t.Fatal(err)
		}
		if found = whole(found, want); i%4 != 3 && !slices.Equal(found, l.Findings) {
			t.Fatalf("case %d: one machine finds\n%v\nplanted were\n%v", i, found, l.Findings)
		}
		if i%4 != 3 && (want.Receipts != l.Receipts || want.Refuted != l.Refuted || want.Verified != l.Verified || want.Copies != l.Copies+copies || !maps.Equal(codes(want), l.Codes)) {
			t.Fatalf("case %d: one machine finds %s\nplanted were %+v", i, gist(t, want), l.Codes)
		}
		e := &engine{t: t, dice: dice}
		sum := e.summary(v, files, l.Expect)
		if got := gist(t, sum); got != gist(t, want) {
			t.Fatalf("case %d: an engine reports\n%s\nand one machine reports\n%s", i, got, gist(t, want))
		}
		if got := whole(e.findings(), sum); !slices.Equal(got, found) {
			t.Fatalf("case %d: an engine finds\n%v\none machine\n%v", i, got, found)
		}
	}
}

func codes(s *stream.Summary) map[receipt.Code]int {
	all := maps.Clone(s.Codes)
	for _, f := range s.Findings {
		all[f.Code]++
	}
	return all
}

// FuzzParse verifies that encoding a parsed record reproduces the bytes that Parse accepted.
func FuzzParse(f *testing.F) {
	r := join.Record{Stream: chain.Stream{Issuer: "a", Tenant: "", HasTenant: true, Workspace: "w"}, Stated: canon.Digest{1}, Computed: canon.Digest{2}, Previous: canon.Digest{3},
		Issued: -5, Place: join.Place{Source: 3, Index: 1 << 40}, Verdict: receipt.Refuted, Reason: "hash_mismatch", Before: true, Mark: join.MarkFork, Related: join.Place{Source: 0, Index: 7}}
	f.Add(r.Append(nil))
	s := join.Strand{Stream: r.Stream, Count: -1, Failures: 3, Found: true, Head: canon.Digest{9}}
	f.Add(s.Append(nil))
	p := r.AsNames()
	f.Add(p.Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := join.Parse(data); err == nil && !bytes.Equal(r.Append(nil), data) {
			t.Errorf("record %x was written as %x", data, r.Append(nil))
		}
		if p, err := join.ParsePart(data); err == nil && !bytes.Equal(p.Append(nil), data) {
			t.Errorf("part %x was written as %x", data, p.Append(nil))
		}
		if s, err := join.ParseStrand(data); err == nil && !bytes.Equal(s.Append(nil), data) {
			t.Errorf("strand %x was written as %x", data, s.Append(nil))
		}
	})
}

// TestRecordBytes verifies that each field of a record is preserved, and that truncated or changed
// bytes are rejected.
func TestRecordBytes(t *testing.T) {
	r := join.Record{Stream: chain.Stream{Issuer: "a", Tenant: "t", HasTenant: true, Workspace: "w"}, ID: join.ID{4}, Stated: canon.Digest{1}, Computed: canon.Digest{2}, Previous: canon.Digest{3},
		Issued: 1_777_000_000_000, Place: join.Place{Source: 3, Index: 12}, Verdict: receipt.Undecided, Reason: "unknown_key", Mark: join.MarkFork, Related: join.Place{Source: 0, Index: 7}}
	text := r.Append(nil)
	if got, err := join.Parse(text); err != nil || got != r {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range text {
		if got, err := join.Parse(text[:i]); err == nil || got != (join.Record{}) {
			t.Errorf("%d bytes are the record %+v", i, got)
		}
	}
	r.Verdict = receipt.Verified // with a reason
	for name, wrong := range map[string][]byte{"more": append(slices.Clone(text), 0), "version": append([]byte{2}, text[1:]...), "flags": append([]byte{1, 0xff}, text[2:]...),
		"mark": append([]byte{1, text[1], 99}, text[3:]...), "reason": r.Append(nil)} {
		if got, err := join.Parse(wrong); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
