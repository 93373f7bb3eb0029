package replay

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// A Plan is a replay before it runs: what answers each dependency, and what is swapped. It
// is safe for concurrent use.
type Plan struct {
	log       *Log
	request   *Request
	artifacts Artifacts

	swaps    []*swap           // in the order of their keys
	byKey    map[string]*swap  // of dependencies, and of what is added
	byEvent  map[string]*swap  // of events whose payload is replaced
	label    map[string]string // of overrides that were matched by their event: the key of the dependency
	known    map[string]record.Dependency
	wrong    []Mismatch
	missing  *UnavailableError
	boundary string // the event id of the checkpoint; "": there is none

	mu    sync.Mutex
	taken map[string]bool
}

// NewPlan makes the plan of a replay. Artifacts may be nil: there are none. Errors are a
// *[RequestError] for a request that cannot be run with this log, an *[UnavailableError]
// for a checkpoint, an event or an artifact that it names and that is not there, and those
// of the log and of the artifacts.
//
// What the request states falsely is no error: [Plan.Mismatches]. Neither is a recorded
// answer that is not there, as not every replay asks for it: [Plan.Unavailable].
func NewPlan(ctx context.Context, log *Log, request *Request, artifacts Artifacts) (*Plan, error) {
	if artifacts == nil {
		artifacts = none{}
	}
	p := &Plan{
		log: log, request: request, artifacts: artifacts, wrong: request.Mismatches(),
		byKey: map[string]*swap{}, byEvent: map[string]*swap{}, label: map[string]string{}, known: map[string]record.Dependency{}, taken: map[string]bool{},
	}
	m := &matcher{p, map[string]record.Dependency{}, map[string]record.Dependency{}}
	if err := m.all(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// Log returns the log that is replayed.
func (p *Plan) Log() *Log { return p.log }

// Mismatches returns the overrides that state another digest than their value has, in the
// order of their keys.
func (p *Plan) Mismatches() []Mismatch { return slices.Clone(p.wrong) }

// Unavailable returns the first recorded answer, in the order of the events, that is
// neither in the log nor among the artifacts; nil when all are there.
func (p *Plan) Unavailable() *UnavailableError { return p.missing }

// Deltas returns what the receipt of the replay lists as deltas, in the order of their
// keys. The digests are those of the values, whatever the request states.
func (p *Plan) Deltas() []receipt.Delta {
	list := []receipt.Delta{}
	for _, s := range p.swaps {
		list = append(list, s.delta())
	}
	return list
}

// Take returns the answer of a dependency, once, for a harness that runs its module again.
// What neither the log nor the request has is an *[UnavailableError]: nothing is
// refreshed. What was taken before is [ErrTaken].
func (p *Plan) Take(ctx context.Context, key string) (Answer, error) {
	if of, ok := p.label[key]; ok {
		key = of
	}

	a, err := find(ctx, p, key)
	if err != nil {
		return Answer{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[key] {
		return Answer{}, ErrTaken
	}
	p.taken[key] = true
	return a, nil
}

// Untaken returns the keys of what answers and was not taken: recorded dependencies in the
// order of their events, then what overrides add, in the order of the keys.
func (p *Plan) Untaken() (keys []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.log.Dependencies {
		if !p.taken[d.Key] {
			keys = append(keys, d.Key)
		}
	}
	for _, s := range p.swaps {
		if key := p.label[s.Key]; key != "" && s.of.Key == "" && !p.taken[key] {
			keys = append(keys, key)
		}
	}
	return keys
}

// Events tells the recorded events again, as the log of a replay: one event at a time, in
// canonical form with a line feed. The bytes are valid until the next. The log begins and
// ends with events of the replay itself, at the times of the source: no clock is read.
// Every event of the source is marked as replayed; those that a substitution changed name
// it, and a replay.event_replayed announces each. Before a checkpoint only what answered
// the task is told, so that its materials stay listed.
//
// Values of overrides that are receipt_only are told by their digests, and payloads that
// are replaced so are left out. Secrets are not told. An error ends the events.
func (p *Plan) Events(run Run) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		t := newTeller(p, run, yield)
		if err := t.tell(); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// Check adds to a report what the receipt of a replay has other than the plan gives, and
// draws the verdict anew. The report is the verifier's of that receipt. What is compared:
// the source's log, each delta and that there is no other, each material, the times and the
// end of the task, and that nothing was done, approved, consumed or paid. One thing that is
// false is one finding: what follows from it is not told again. Of a replay that failed for
// want of something only what its receipt claims is compared: deltas, and that nothing was
// done. Errors are those of the log.
//
// A receipt that does not fit the schema has that finding alone.
func (p *Plan) Check(v *receipt.Verifier, rep *receipt.Report, replayed *canon.Document) error {
	if rep.Check(receipt.StepSchema).Status != receipt.StatusPassed {
		return nil
	}
	c := &checker{plan: p, weigh: func(c receipt.Check) { v.Weigh(rep, c) }, excused: map[string]bool{}}
	if err := json.Unmarshal(replayed.AppendCanonical(nil), &c.got); err != nil {
		return err
	}
	if !c.source() {
		return nil
	}

	want, err := expected(p)
	if err != nil {
		return err
	}
	c.mismatches()
	c.deltas(want.Deltas)
	c.effects()
	if c.failed {
		return nil
	}
	c.materials(want.ReplayInput.Materials)
	c.claim(want.ReplayInput.Determinism)
	c.life(want.Lifecycle)
	return nil
}

// CheckSource adds to a report of a replay's receipt whether another receipt is that of its
// source: it names the log of the plan, and the replay names its hash, if any.
//
// The receipt of the source has to be judged before: only what it names is looked at.
func (p *Plan) CheckSource(v *receipt.Verifier, rep *receipt.Report, replayed, source *canon.Document) error {
	if rep.Check(receipt.StepSchema).Status != receipt.StatusPassed {
		return nil
	}
	c := &checker{plan: p, weigh: func(c receipt.Check) { v.Weigh(rep, c) }}
	var of receipt.Draft
	if err := errors.Join(json.Unmarshal(source.AppendCanonical(nil), &of), json.Unmarshal(replayed.AppendCanonical(nil), &c.got)); err != nil {
		return err
	}

	m, at := logIn(of.ReplayInput.Materials)
	hash := source.Root().Member("chain").Member("receipt_hash").String()
	named := replayed.Root().Member("metadata").Member("source_receipt_hash").String()
	switch {
	case at < 0 || m.SHA256.IsZero():
		c.unavailable("/metadata/source_task_id", "the receipt that was given for the source does not tell the digest of its log")
	case m.SHA256 != p.log.Digest:
		c.fail(vocab.CodeReplaySourceMismatch, "/metadata/source_task_id", m.SHA256.String(), p.log.Digest.String(), "the receipt that was given for the source names another log")
	case named != "" && named != hash:
		c.fail(vocab.CodeReplaySourceMismatch, "/metadata/source_receipt_hash", named, hash, "the replay names another receipt of its source than was given")
	}
	return nil
}
