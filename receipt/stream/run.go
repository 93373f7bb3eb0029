package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
	"github.com/receiptkit/receiptkit/receipt/stream/join"
)

// ErrStreams is returned for an input of several streams when [Options.Only]
// asked for one.
var ErrStreams = survey.ErrStreams

// ErrStopped is returned by Summary when the caller stopped before the end.
var ErrStopped = errors.New("stream: the input was not read to its end")

// errUnordered is returned for an input without an order that cannot be read twice.
var errUnordered = errors.New("stream: an input that is in no order is read twice, which this one does not allow")

// ErrChanged is returned when a source was not the same when it was read again.
var ErrChanged = survey.ErrChanged

// An IncompleteError says that sources could not be read to their end. What was
// read of them is in the reports and in the summary.
type IncompleteError struct{ Notices []Notice }

// Error names the first of them.
func (e *IncompleteError) Error() string {
	text := fmt.Sprintf("stream: %q: %s", e.Notices[0].Source, e.Notices[0].Detail)
	if more := len(e.Notices) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more inputs", more)
	}
	return text
}

// A Run is the verification of one input. Its methods are for one goroutine.
type Run struct {
	ctx     context.Context
	v       *receipt.Verifier
	idle    func() []receipt.Piece // evidence of v that showed nothing so far
	sources []Source
	options Options
	several bool  // sources join by links, whatever their order
	refused error // why nothing is read

	engine func(*join.Record) error // joins the receipts; nil: they are joined here
	tree   *join.Tree               // over the receipts of all inputs, from an engine; nil: it is computed here

	begun   bool
	err     error
	summary Summary
	current *item

	reread  *survey.Rereading
	covered bool // a checkpoint is over all receipts of the input

	bytes atomic.Int64 // that were read
}

// Verify verifies the receipts that r holds, in their order. Reports call it "input";
// VerifyFiles with [From] gives it another name, or a kind. Nothing is read
// before Reports or Summary is called. A read of r that never returns keeps one
// goroutine waiting when the run is stopped, and nothing else. With a checkpoint, or when
// it is unordered, r has to be an io.Seeker: otherwise nothing is read, and Summary returns an error.
func Verify(ctx context.Context, v *receipt.Verifier, r io.Reader, o Options) *Run {
	return newRun(ctx, v, []Source{From("input", r)}, o)
}

// VerifyFiles verifies the receipts of several sources. Their order decides the
// order of the reports and nothing else: receipts join by their links. One
// source alone is ordered, as by [Verify].
func VerifyFiles(ctx context.Context, v *receipt.Verifier, sources []Source, o Options) *Run {
	return newRun(ctx, v, sources, o)
}

func newRun(ctx context.Context, v *receipt.Verifier, sources []Source, o Options) *Run {
	v, idle := v.Watch()
	r := &Run{ctx: ctx, v: v, idle: idle, sources: sources, options: o, several: len(sources) > 1 || o.Unordered,
		summary: Summary{Scope: v.Scope(), asked: askedOf(v.Policy(), o.Summing.Subjects), Partial: o.Partial, Codes: map[receipt.Code]int{}, Unchecked: map[receipt.Code]int{}, roster: survey.NewRoster(o.Partial, o.Unordered, o.Summing.Mergeable, o.mostRostered())}}

	// With a checkpoint, or without an order, the input is read twice.
	if slices.ContainsFunc(sources, func(s Source) bool { return s.once }) {
		switch {
		case o.Checkpoint != nil:
			r.refused = errOnce
		case r.several:
			r.refused = errUnordered
		}
	}
	return r
}

// Reports returns the reports in the order of the input, once. Each is valid
// until the next one; Clone keeps it.
func (r *Run) Reports() iter.Seq[*receipt.Report] {
	return func(yield func(*receipt.Report) bool) {
		if r.begun {
			return
		}
		r.begun = true
		r.err = r.read(yield)
		r.current = nil
	}
}

// Text returns the JSON text of the receipt that the current report is
// about, or nil when there is none. It is valid as long as the report.
func (r *Run) Text() []byte {
	if r.current == nil {
		return nil
	}
	return r.current.Data
}

// Summary reads what is left of the input and returns the verdict over all of
// it. The error says that not everything was read; the summary, which is never
// nil, then says so too and is not verified.
func (r *Run) Summary() (*Summary, error) {
	for range r.Reports() {
	}
	return &r.summary, r.err
}

func (r *Run) read(yield func(*receipt.Report) bool) error {
	if r.refused != nil {
		return r.refused
	}
	p := &pipeline{sources: r.sources, options: &r.options, verify: r.v, meter: func(n int) { r.bytes.Add(int64(n)) }}
	place, err := r.prepare(p)
	if err != nil {
		return err
	}

	var failure error
	finished := false
	err = p.process(r.ctx, func(it *item) bool {
		more := true
		more, failure = r.take(it, place, yield)
		finished = it.end && it.Source == len(r.sources)-1
		return more
	})

	// The summary tells what was read, whatever ended the reading.
	r.summary.Inputs.Bytes = r.bytes.Load()
	r.conclude(place, finished)
	switch {
	case err != nil:
		return err
	case failure != nil:
		return failure
	case !finished:
		return ErrStopped
	case !r.reread.Same():
		return ErrChanged
	case len(r.summary.Inputs.Unreadable) > 0:
		return &IncompleteError{r.summary.Inputs.Unreadable}
	}

	r.summary.Complete = true
	return nil
}

// conclude adds to the summary what the order of the receipts shows. Of an input
// that was not read to its end nothing shows what it lacks.
func (r *Run) conclude(place placement, finished bool) {
	s := &r.summary
	findings := len(s.Findings)
	place.conclude(s)
	if !finished {
		s.Findings = s.Findings[:findings]
		s.dropNotes(receipt.CodeEvidenceUnused)
		s.dropNotes(receipt.CodeDisclosureUnbound)
	} else if s.Receipts > 0 {
		r.noteUnused()
	}
	if r.covered {
		s.dropNotes(receipt.CodeTailNotChecked)
	}
}

// noteUnused says which evidence had to do with no receipt of the input.
func (r *Run) noteUnused() {
	name := r.options.Summing.Evidence
	if name == nil {
		name = receipt.Piece.String
	}
	for _, p := range r.idle() {
		given := name(receipt.Piece{Kind: p.Kind, Index: p.Index})
		switch {
		case p.Part != "":
			r.summary.addNote(receipt.CodeDisclosureUnbound, "%s has values that fit no receipt of the input: %s", given, p.Part)
		case p.Kind == "disclosures":
			r.summary.addNote(receipt.CodeDisclosureUnbound, "%s has to do with no receipt of the input", given)
		default:
			r.summary.addNote(receipt.CodeEvidenceUnused, "%s has to do with no receipt of the input", given)
		}
	}
}

// take adds one item to the summary and hands its report out.
func (r *Run) take(it *item, place placement, yield func(*receipt.Report) bool) (more bool, err error) {
	if it.end {
		r.endSource(it)
		return true, nil
	}

	r.reread.Again(&it.Item)
	it.Weigh()
	if err := place.Place(&it.Item); err != nil {
		return false, err
	}

	if it.Other != "" {
		r.summary.skip(r.sources[it.Source].Name, it.Other)
		return true, nil
	}

	r.summary.count(&it.Item)
	if s := &r.summary; s.roster != nil && !s.roster.Add(&it.Item) {
		s.roster = nil
	}

	r.current = it
	return yield(&it.Report), nil
}

// endSource adds to the summary how the reading of a source ended.
func (r *Run) endSource(it *item) {
	source := &r.sources[it.Source]
	r.summary.Inputs.Files++
	err := it.err
	if other, beside := source.beside(err); beside {
		r.summary.skip(source.Name, other.What)
		return
	}
	if err == nil && it.docs == 0 {
		err = errEmpty
	}
	if err != nil {
		r.summary.Inputs.Unreadable = append(r.summary.Inputs.Unreadable, noticeOf(source.Name, err))
	}
}

// prepare reads the sources a first time when that is needed: to join several by
// their links, or to compare the whole with a checkpoint.
func (r *Run) prepare(p *pipeline) (placement, error) {
	var s *survey.Survey
	var f *forest
	if r.engine == nil && r.several {
		s = survey.New(r.options.terms(), namesOf(r.sources))
		defer s.Close()
	}
	if r.options.Checkpoint != nil {
		f = newForest(r.v.OpenCheckpoint(r.options.Checkpoint))
	}

	// One ordered source without a checkpoint is read once, and so is what an engine joins.
	if known := f.take(r.tree); s != nil || f != nil && !known {
		if err := r.readFirst(s, f); err != nil {
			return nil, err
		}
	}
	if f != nil {
		if err := r.weigh(f, p); err != nil {
			return nil, err
		}
	}

	switch {
	case r.engine != nil:
		return &outside{engine: r.engine, partial: r.options.Partial, demands: r.options.demands()}, nil
	case s == nil:
		return &inOrder{Order: survey.NewOrder(r.options.terms()), demands: r.options.demands()}, nil
	}
	return &byLinks{Survey: s, demands: r.options.demands()}, s.Join()
}

func (r *Run) readFirst(s *survey.Survey, f *forest) (failure error) {
	first := &pipeline{sources: r.sources, options: &r.options, meter: func(int) {}}
	r.reread = survey.NewRereading()
	err := first.process(r.ctx, func(it *item) bool {
		switch {
		case it.end && s != nil:
			s.EndSource(it.Source, it.docs)
		case !it.end:
			failure = r.keep(&it.Item, s, f)
		}
		return failure == nil
	})
	return errors.Join(err, failure)
}

// keep keeps what the second reading has to know of a document of the first.
func (r *Run) keep(it *survey.Item, s *survey.Survey, f *forest) error {
	r.reread.Before(it)
	if f != nil {
		f.add(it)
	}
	if s != nil {
		return s.Record(it)
	}
	return nil
}

// weigh uses what a checkpoint says of the whole input.
func (r *Run) weigh(f *forest, p *pipeline) error {
	inside, outside, until, found := f.judge(r.options.Partial)
	if found != nil {
		r.summary.addFinding(*found)
	}

	var err error
	if p.inside, err = beside(r.v, inside); err != nil {
		return err
	}
	if p.verify, err = beside(r.v, outside); err != nil {
		return err
	}
	p.bound = until
	if found != nil {
		return nil
	}

	if f.claims.Size == 0 && f.Documents > 0 {
		r.summary.addNote(receipt.CodeEvidenceUnused, "the checkpoint is over no receipt")
	} else if rest := f.behind(); rest > 0 {
		r.summary.addNote(receipt.CodeBatchNotChecked, "%d receipts after the %d that the checkpoint is over", rest, f.claims.Size)
	} else {
		r.covered = f.Size == f.claims.Size && f.given.Signed
	}
	return nil
}
