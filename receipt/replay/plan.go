package replay

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// A Plan describes a replay before it runs: the answer for each dependency, and the substitutions.
// It is safe for concurrent use.
type Plan struct {
	Log *Log // that is replayed

	request   *Request
	artifacts Artifacts

	swaps    []*swap           // sorted by key
	byKey    map[string]*swap  // overrides of dependencies and of added answers, by key
	byEvent  map[string]*swap  // overrides of event payloads, by event ID
	label    map[string]string // by override key, the key of the replaced or added answer; overrides of event payloads have none
	known    map[string]record.Dependency
	wrong    []Mismatch
	missing  *UnavailableError
	boundary string          // ID of the checkpoint event, or ""
	before   map[string]bool // keys of dependencies before the checkpoint

	mu    sync.Mutex
	taken map[string]bool // requested keys; true if an answer was found
}

// NewPlan creates a plan for a replay. Artifacts may be nil if there are none. The error is a
// *[RequestError] if the request is not consistent with the log, and an *[UnavailableError] if the
// request names a checkpoint, an event, or an artifact that does not exist. Otherwise, it is an
// error from the log or the artifacts.
//
// An incorrect digest in the request is not an error; see [Plan.Mismatches]. A missing recorded
// answer is not an error either, because not every replay requests it; see [Plan.Unavailable].
func NewPlan(ctx context.Context, log *Log, request *Request, artifacts Artifacts) (*Plan, error) {
	if artifacts == nil {
		artifacts = func(context.Context, Wanted) ([]byte, error) { return nil, fs.ErrNotExist }
	}
	p := &Plan{
		Log: log, request: request, artifacts: artifacts, wrong: request.Mismatches(),
		byKey: map[string]*swap{}, byEvent: map[string]*swap{}, label: map[string]string{}, known: map[string]record.Dependency{}, taken: map[string]bool{}, before: map[string]bool{},
	}

	m := &matcher{p, map[string]record.Dependency{}, map[string]record.Dependency{}, map[*swap]bool{}}
	if err := m.all(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// Mismatches returns the overrides whose stated digest differs from the digest of their value or
// artifact, in key order.
func (p *Plan) Mismatches() []Mismatch { return slices.Clone(p.wrong) }

// Unavailable returns the first recorded answer, in event order, that is neither in the log nor an
// available artifact, or nil if all are available.
func (p *Plan) Unavailable() *UnavailableError { return p.missing }

// Deltas returns the deltas for the replay's receipt, in key order. An override that matches
// nothing in the log has a delta only after its key has been taken. Digests are computed from the
// values, regardless of the digests in the request.
func (p *Plan) Deltas() []receipt.Delta {
	list := []receipt.Delta{}
	for _, s := range p.swaps {
		if p.uses(s) {
			list = append(list, s.delta())
		}
	}
	return list
}

// uses reports whether the replay uses an override: the override replaces a secret or something in
// the log, or its answer was taken.
func (p *Plan) uses(s *swap) bool { return s.operation != "add" || p.wasTaken(s) }

func (p *Plan) wasTaken(s *swap) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken[p.label[s.Key]]
}

// Unmatched returns the keys of the overrides that match nothing in the log, in key order. Keys of
// secrets are excluded, because no log records secrets.
func (p *Plan) Unmatched() (keys []string) {
	for _, s := range p.swaps {
		if s.operation == "add" {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Unused returns the keys of the overrides whose answers were not taken, in key order, for a
// harness that runs its module again. A replay that does not use every override has failed.
// Overrides of events and of the task's times are never taken.
func (p *Plan) Unused() (keys []string) {
	for _, s := range p.swaps {
		if p.label[s.Key] != "" && !isTaskTime(s.Key) && !p.wasTaken(s) {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Checkpoint returns the ID of the event at which the replay begins, and the keys of the earlier
// answers, which restore the state at that event. The ID is "" if there is no checkpoint.
func (p *Plan) Checkpoint() (eventID string, restored []string) {
	for _, d := range p.Log.Dependencies {
		if d.Kind != record.KindTime && p.before[d.Key] {
			restored = append(restored, d.Key)
		}
	}
	return p.boundary, restored
}

// Take returns the answer for a dependency to a harness that runs its module again. Each answer can
// be taken only once. If neither the log nor the request contains the answer, the error is an
// *[UnavailableError], because a replay does not obtain new answers. If the answer has already been
// taken, the error is [ErrTaken].
func (p *Plan) Take(ctx context.Context, key string) (Answer, error) {
	if of, ok := p.label[key]; ok {
		key = of
	}
	p.ask(key)

	// An answer is marked as taken only if it was found, so that a failed request can be repeated.
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

// ask records that a key was requested.
func (p *Plan) ask(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, before := p.taken[key]; !before {
		p.taken[key] = false
	}
}

// Untaken returns the keys of the answers that were not taken. Recorded dependencies come first, in
// event order; dependencies before a checkpoint are omitted. The answers that overrides add follow,
// in key order.
func (p *Plan) Untaken() (keys []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.Log.Dependencies {
		if !p.taken[d.Key] && (d.Kind == record.KindTime || !p.before[d.Key]) {
			keys = append(keys, d.Key)
		}
	}
	for _, s := range p.swaps {
		// An answer without a dependency was added by an override.
		if key := p.label[s.Key]; key != "" && s.of.Key == "" && !p.taken[key] {
			keys = append(keys, key)
		}
	}
	return keys
}

// Events yields the recorded events again, as the log of a replay. Each event is in canonical form
// and followed by a line feed. The bytes of an event are valid until the next event is yielded. The
// log begins and ends with events about the replay itself. These have the times of source events,
// because no clock is read. Every event of the source is marked as replayed. An event that was
// changed by a substitution contains the key of the override, and a replay.event_replayed event
// announces each substitution. Overrides that match nothing in the log and were not taken have no
// effect; replay.started lists their keys. Before a checkpoint, only the answers of the task are
// written, because the receipt lists them as materials.
//
// For a receipt_only override, events contain only the digest of the value. An event whose entire
// payload is replaced by such a value is omitted. No event contains a secret. The sequence ends
// after the first error.
func (p *Plan) Events(run Run) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		t := newTeller(p, run, p.uses, yield)
		if err := t.tell(); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// Check compares the receipt of a replay with the draft that package record creates from the log
// and the request, adds its findings to the report, and determines the verdict again. It compares
// the same members as [Compare] with [Projection], and also the metadata members that the log and
// the request determine. Each difference results in a note in NotChecked or in a finding. A finding
// refutes the receipt, or leaves the verdict undecided because the log and the request do not
// support the receipt. Members that the comparison omits are also listed in NotChecked.
//
// Source is the receipt of the replayed task, or nil if it is not available. The source receipt
// must match the log, and it supplies the values of members that the log does not contain. The
// caller must have verified the source receipt.
//
// The report must be the verifier's report on the receipt of the replay. If the receipt of the
// replay does not match the schema, Check adds nothing to the report. Any error is from the log.
func (p *Plan) Check(v *receipt.Verifier, rep *receipt.Report, replayed, source *canon.Document) error {
	if rep.Check(receipt.StepSchema).Status != receipt.StatusPassed {
		return nil
	}
	s, err := subjectOf(replayed)
	if err != nil {
		return err
	}

	c := &checker{judge: judge{subject: s, plan: p, failed: s.got.ReplayInput.Determinism == "unavailable"}, open: map[string]bool{}, excused: map[string]bool{}}
	if source != nil {
		if c.source, err = subjectOf(source); err != nil {
			return err
		}
		if err := c.compareSource(); err != nil {
			return err
		}
	}
	if err := c.compare(); err != nil {
		return err
	}
	c.report(v, rep)
	return nil
}
