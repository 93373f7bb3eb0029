package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/internal/foreign"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// ErrStreams indicates that an input has several streams although [Continuity] allows only one.
var ErrStreams = survey.ErrStreams

// ErrStopped indicates that the caller stopped before the end of the input was reached.
var ErrStopped = errors.New("stream: input was not read completely")

// ErrNoSources indicates that a run has no sources.
var ErrNoSources = errors.New("stream: there are no sources")

// errUnordered indicates that an unordered input cannot be read twice.
var errUnordered = errors.New("stream: unordered input must be read twice, but this input can be read only once")

// ErrChanged indicates that a source had different content when it was read a second time.
var ErrChanged = survey.ErrChanged

// An IncompleteError lists sources that could not be read to their ends. The reports and the
// summary cover only what could be read.
type IncompleteError struct {
	Notices []Notice
	cause   error
}

// Unwrap returns the error from the sequence that was passed to [VerifySeq], or nil.
func (e *IncompleteError) Unwrap() error { return e.cause }

// Error describes the first source and states how many others there are.
func (e *IncompleteError) Error() string {
	text := fmt.Sprintf("stream: %q: %s", e.Notices[0].Source, e.Notices[0].Detail)
	if more := len(e.Notices) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more inputs", more)
	}
	return text
}

// A Run verifies an input. Its methods are not safe for concurrent use.
type Run struct {
	ctx     context.Context
	v       *receipt.Verifier
	idle    func() []receipt.Piece // returns the evidence that no receipt has used so far
	sources []Source
	items   iter.Seq2[Item, error] // items to read instead of sources, or nil
	options Options
	several bool  // receipts are joined by their links, regardless of the order of the sources
	refused error // reason why nothing is read, or nil

	engine func(*join.Record) error // joins the receipts; if nil, the run joins them itself
	tree   *join.Tree               // tree of all inputs, from an engine; if nil, the run computes it

	begun   bool
	err     error
	cut     error // reason why the sequence of items ended early, or nil
	summary Summary
	current *item
	reading *Source // the source of the last document, or nil after its end

	reread  *survey.Rereading
	chains  foreign.Chains // chains of third-party receipts in the current source
	covered bool           // a checkpoint covers all receipts in the input

	bytes atomic.Int64 // read so far
}

// Verify verifies the receipts in r, which must be in order. In reports, the source is named
// "input"; to use another name or to specify a kind, call VerifyFiles with [From]. Verify reads
// nothing before Reports or Summary is called. If the run is stopped while a Read of r is blocked,
// only the goroutine in that Read keeps waiting. If a checkpoint is set or the input is unordered,
// r must be an io.Seeker; otherwise, nothing is read, and Summary returns an error.
func Verify(ctx context.Context, v *receipt.Verifier, r io.Reader, o Options) *Run {
	return newRun(ctx, v, []Source{From("input", r)}, o)
}

// VerifyFiles verifies the receipts in several sources. The receipts are joined by their links, so
// the order of the sources affects only the order of the reports. The receipts in a single source
// must be in order, as for [Verify].
func VerifyFiles(ctx context.Context, v *receipt.Verifier, sources []Source, o Options) *Run {
	return newRun(ctx, v, sources, o)
}

func newRun(ctx context.Context, v *receipt.Verifier, sources []Source, o Options) *Run {
	v, idle := v.TrackEvidence()
	r := &Run{ctx: ctx, v: v, idle: idle, sources: sources, options: o, several: len(sources) > 1 || o.Unordered,
		summary: Summary{Scope: v.Scope(), asked: askedOf(v, o.Summing.Subjects), Partial: o.Partial, Codes: map[receipt.Code]int{}, Unchecked: map[receipt.Code]int{}, roster: survey.NewRoster(o.Partial, o.Unordered, o.Summing.Mergeable, o.mostRostered())}}

	// If a checkpoint is set or the input is unordered, the input is read twice.
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

// Reports returns the reports in input order. It can be used only once. Each report is valid until
// the next one; use Clone to copy a report.
func (r *Run) Reports() iter.Seq[*receipt.Report] {
	return func(yield func(*receipt.Report) bool) {
		if r.begun {
			return
		}
		r.begun = true
		r.err = ErrStopped // also if the caller recovers from a panic
		r.err = r.read(yield)
		r.current = nil
	}
}

// Text returns the JSON text of the receipt that the current report is about, or nil if there is
// none. The text is valid as long as the report is.
func (r *Run) Text() []byte {
	if r.current == nil {
		return nil
	}
	return r.current.Data
}

// Tag returns the Tag of the item that the current report is about, or nil if there is none.
func (r *Run) Tag() any {
	if r.current == nil {
		return nil
	}
	return r.current.tag
}

// Summary reads the rest of the input and returns the verdict for the entire input. If not
// everything was read, it returns an error. The summary is never nil. If there is an error, the
// summary is incomplete, and its verdict is undecided or refuted.
func (r *Run) Summary() (*Summary, error) {
	for range r.Reports() {
	}
	return &r.summary, r.err
}

func (r *Run) read(yield func(*receipt.Report) bool) error {
	if r.refused != nil {
		return r.refused
	}
	p := &pipeline{sources: r.sources, items: r.items, options: &r.options, verify: r.v, meter: func(n int) { r.bytes.Add(int64(n)) }}
	place, err := r.prepare(p)
	if err != nil {
		return err
	}

	var failure error
	finished := false
	err = p.process(r.ctx, func(it *item) bool {
		more := true
		more, failure = r.take(it, place, yield)
		finished = it.end && it.last
		return more
	})

	// The summary covers everything that was read, regardless of why reading ended.
	r.summary.Inputs.Bytes = r.bytes.Load()
	r.conclude(place, finished)
	switch {
	case err != nil:
		return err
	case failure != nil:
		return failure
	case r.cut != nil:
		return &IncompleteError{r.summary.Inputs.Unreadable, r.cut}
	case len(r.sources) == 0 && r.items == nil:
		return ErrNoSources
	case !finished:
		return ErrStopped
	case !r.reread.Same():
		return ErrChanged
	case len(r.summary.Inputs.Unreadable) > 0:
		return &IncompleteError{Notices: r.summary.Inputs.Unreadable}
	}

	r.summary.Complete = true
	return nil
}

// conclude adds results that depend on the order of the receipts to the summary. If the input was
// not read to its end, missing receipts show nothing.
func (r *Run) conclude(place placement, finished bool) {
	s := &r.summary
	findings := len(s.Findings)
	if !finished {
		place = r.judged(place)
	}
	place.conclude(s)
	if !finished {
		s.selectAll()
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

// judged returns the placement of the receipts that a stopped run has judged. A survey also contains
// the receipts after them. If too many receipts were judged, the placement contains no streams.
func (r *Run) judged(place placement) placement {
	all, joined := place.(*byLinks)
	if !joined {
		return place
	}
	if r.summary.roster != nil {
		if c, err := survey.CrowdOf(r.summary.roster); err == nil {
			if s, err := c.Survey(); err == nil {
				return &byLinks{s, all.demands}
			}
		}
	}
	return &byLinks{survey.New(r.options.terms()), all.demands}
}

// noteUnused adds a note for each piece of evidence that no receipt in the input has used.
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
			r.summary.addNote(receipt.CodeDisclosureUnbound, "%s: no receipt in the input matches", given)
		default:
			r.summary.addNote(receipt.CodeEvidenceUnused, "%s: no receipt in the input matches", given)
		}
	}
}

// take adds an item to the summary and yields its report.
func (r *Run) take(it *item, place placement, yield func(*receipt.Report) bool) (more bool, err error) {
	if it.end {
		r.endSource(it)
		r.chains = foreign.Chains{}
		return true, nil
	}

	if it.Foreign != nil && it.Foreign.Place != nil {
		r.chains.Follow(it.Verifier, it.Foreign, r.options.Partial, &it.Report)
	} else {
		r.chains.Skip()
	}
	if r.reading != it.source { // counted now, because the run may stop before its end
		r.reading = it.source
		r.summary.Inputs.Files++
	}
	r.reread.Again(&it.Item)
	it.Weigh()
	if err := place.Place(&it.Item); err != nil {
		return false, err
	}

	if it.Other != "" {
		r.summary.skip(it.source.Name, it.Other)
		return true, nil
	}

	r.summary.count(&it.Item)
	if s := &r.summary; s.roster != nil && !s.roster.Add(&it.Item) {
		s.roster = nil
	}

	r.current = it
	return yield(&it.Report), nil
}

// endSource records in the summary how reading a source ended.
func (r *Run) endSource(it *item) {
	source := it.source
	if r.reading != source {
		r.summary.Inputs.Files++
	}
	r.reading = nil
	err := it.err
	if it.cut {
		r.cut = err
	}
	if other, beside := source.beside(err); beside {
		r.summary.skip(source.Name, other.What)
		return
	}
	if err == nil && it.docs == 0 {
		err = errEmpty
	}
	if err != nil {
		n := noticeOf(source.Name, err)
		n.After = it.docs
		r.summary.Inputs.Unreadable = append(r.summary.Inputs.Unreadable, n)
	}
}

// prepare reads the sources a first time if two passes are needed. This is the case if several
// sources are joined by their links, or if the input is compared with a checkpoint.
func (r *Run) prepare(p *pipeline) (placement, error) {
	var s *survey.Survey
	var f *forest
	if r.engine == nil && r.several {
		s = survey.New(r.options.terms())
		defer s.Close()
	}
	if r.options.Checkpoint != nil {
		f = newForest(r.v.OpenCheckpoint(r.options.Checkpoint))
	}

	// A single source that is in order and has no checkpoint is read only once. The input of an
	// engine is also read only once.
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
	first := &pipeline{sources: r.sources, items: r.items, options: &r.options, meter: func(int) {}}
	r.reread = survey.NewRereading()
	err := first.process(r.ctx, func(it *item) bool {
		switch {
		case it.cut: // because the rest is missing, a missing predecessor proves nothing
			r.endSource(it)
			failure = &IncompleteError{r.summary.Inputs.Unreadable, r.cut}
		case it.end && s != nil:
			s.EndSource(it.source.Name, it.listed || it.docs > 1)
		case !it.end:
			failure = r.keep(&it.Item, s, f)
		}
		return failure == nil
	})
	return errors.Join(err, failure)
}

// keep records the data from the first pass that the second pass needs about a document.
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

// weigh compares the checkpoint with the entire input.
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
		r.summary.addNote(receipt.CodeEvidenceUnused, "the checkpoint covers no receipts")
	} else if rest := f.behind(); rest > 0 {
		r.summary.addNote(receipt.CodeBatchNotChecked, "the checkpoint covers only the first %d of %d receipts", f.claims.Size, f.claims.Size+rest)
	} else {
		r.covered = f.given.Signed && f.Size == f.claims.Size && f.Root == f.claims.Root
	}
	return nil
}
