package join_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

func linesOf(files [][]byte) (list []stream.Source) {
	for i, text := range files {
		s := sourceOf(fmt.Sprint(i), text)
		s.Kind = stream.Lines
		list = append(list, s)
	}
	return list
}

// told returns what the reports about receipts state, except for the positions of the receipts. The
// part after @ identifies the receipt to which an invalid link refers.
func told(run *stream.Run, related func(*receipt.Report) join.Place) (list []string) {
	for rep := range run.Reports() {
		link, batch, signed := rep.Check(receipt.StepLink), rep.Check(receipt.StepBatch), rep.Check(receipt.StepSignatures)
		about := join.Place{}
		if link.Status == receipt.StatusFailed && link.Cause != "" && link.Cause != receipt.CauseZeroHash { // the receipt alone reveals the excluded cause
			about = related(rep)
		}
		list = append(list, fmt.Sprintln(rep.ReceiptID, rep.ReceiptHash, rep.Verdict, rep.Finding().Code, link.Status, link.Cause,
			batch.Status, batch.Code, batch.Detail, signed.Status, signed.Code, signed.Detail, "@", about))
	}
	return list
}

// anywhere removes the related receipts, because their positions depend on how files are divided.
func anywhere(list []string) (cut []string) {
	for _, text := range list {
		text, _, _ = strings.Cut(text, "@")
		cut = append(cut, text)
	}
	slices.Sort(cut)
	return cut
}

// linkOf returns the position of the receipt to which the link in a report refers. The sources must
// be those that linesOf returns.
func linkOf(rep *receipt.Report) (at join.Place) {
	related := rep.Check(receipt.StepLink).Related
	if related == (receipt.Place{}) {
		return at
	}
	at.Source, _ = strconv.Atoi(related.Source)
	at.Index = max(related.Index, 1) // the index is 0 if the source contains only one document
	return at
}

// machine returns the results of a single machine for the given files.
func machine(t *testing.T, v *receipt.Verifier, files [][]byte, o stream.Options) (*stream.Summary, []string) {
	t.Helper()
	run := stream.VerifyFiles(t.Context(), v, linesOf(files), o)
	list := told(run, linkOf)
	sum, err := run.Summary()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return sum, list
}

// workers returns the results of an engine for the given files. Workers read each file separately,
// the engine joins the records, and the workers read the files again for the reports.
func workers(t *testing.T, v *receipt.Verifier, files [][]byte, o stream.Options, dice *rand.Rand) (sum *stream.Summary, list []string) {
	t.Helper()
	e := &engine{t: t, dice: dice, strict: v.Policy().Strict, strands: map[chain.Stream]*join.Strand{}}
	e.terms = join.Terms{Partial: func(chain.Stream) bool { return o.Partial },
		Head:     func(s chain.Stream) canon.Digest { return o.Continuity.Expect[s].Hash },
		Previous: func(s chain.Stream) canon.Digest { return o.Continuity.After[s].Hash }}
	o.Unordered = false
	trees := plant(t, v, files, o, dice)

	var records []join.Record
	for i, source := range linesOf(files) {
		gaps, index := map[int]bool{}, 0
		own := stream.Options{Partial: o.Partial, Checkpoint: o.Checkpoint}
		place := func(r *join.Record) error {
			if index++; r == nil {
				gaps[index] = true
				return nil
			}
			records = append(records, *r)
			records[len(records)-1].Place.Source = i
			return nil
		}
		run := stream.Records(t.Context(), v, []stream.Source{source}, own, trees[i], place)
		for rep := range run.Reports() {
			if gaps[rep.Index] {
				e.counts.Gap(rep.Verdict, rep.Finding().Code)
			}
		}
		sum, err := run.Summary()
		if err != nil {
			t.Fatal(err)
		}
		e.counts.Leave(sum.Unchecked, sum.Withheld)
	}

	sum, err := stream.Conclude(v, e.run(records), o, trees[0])
	if err != nil {
		t.Fatal(err)
	}

	marks := map[join.Place]join.Record{}
	for _, r := range e.done {
		marks[r.Place] = r
	}
	if len(marks) != len(records) || len(e.done) != len(records) {
		t.Fatalf("of %d receipts %d are done, %d times", len(records), len(marks), len(e.done))
	}
	for i, source := range linesOf(files) {
		own := o
		own.Continuity.Expect = nil
		var related join.Place
		place := func(r *join.Record) error {
			if r != nil {
				m := marks[join.Place{Source: i, Index: r.Place.Index}]
				r.Mark, r.Related, related = m.Mark, m.Related, m.Related
			}
			return nil
		}
		list = append(list, told(stream.Records(t.Context(), v, []stream.Source{source}, own, trees[i], place), func(*receipt.Report) join.Place { return related })...)
	}
	slices.Sort(list)
	return sum, list
}

// asked returns random requirements for the receipts of a tangle.
func (g *tangle) asked(list []knot) (o stream.Options) {
	o = stream.Options{Unordered: true, Partial: g.dice.IntN(4) == 0}
	head := func(hash canon.Digest) map[chain.Stream]chain.Head {
		k := list[g.dice.IntN(len(list))]
		if g.dice.IntN(3) > 0 && !k.gap {
			hash = k.stated
		}
		if k.gap || hash.IsZero() {
			return nil
		}
		return map[chain.Stream]chain.Head{k.stream: {Hash: hash, Count: g.dice.Uint64N(5)}}
	}
	if g.dice.IntN(4) == 0 {
		o.Continuity.Expect = head(canon.Sum([]byte("gone")))
	}
	if g.dice.IntN(4) == 0 {
		o.Continuity.After = head(list[g.dice.IntN(len(list))].previous)
	}
	return o
}

// TestTangleAgrees verifies that a single machine and an engine return the same result for each
// receipt and for the entire input, regardless of how the receipts are distributed. There are few
// streams, IDs, and hashes, some of which are forged, and there are copies with different outcomes.
func TestTangleAgrees(t *testing.T) {
	cases := testsize.Of(60, 400, 1200)
	g, policies := newTangle(t), []*receipt.Verifier{verifier(t, receipt.Policy{NoInputDigest: true}), verifier(t, receipt.Policy{NoInputDigest: true, Strict: true})}
	for seed := range cases {
		list := g.list(uint64(seed), 1+seed%18)
		o, v := g.asked(list), policies[min(g.dice.IntN(3), 1)]
		files := split(list, 1+g.dice.IntN(5), g.dice)
		sum, all := machine(t, v, files, o)

		check := func(who string, s *stream.Summary, own, reports []string) {
			t.Helper()
			if !slices.Equal(reports, own) {
				t.Fatalf("case %d: %s reports\n%s\nfor the reports of one machine\n%s", seed, who, own, reports)
			}
			if want, got := gist(t, sum), gist(t, s); want != got {
				t.Fatalf("case %d: %s reports\n%s\nand one machine reports\n%s", seed, who, got, want)
			}
		}
		files = split(list, 1+g.dice.IntN(6), g.dice)
		s, reports := machine(t, v, files, o)
		check("one machine with other files", s, anywhere(reports), anywhere(all))
		s, own := workers(t, v, files, o, g.dice)
		check("an engine", s, own, reports)
	}
}
