package replay

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/event"
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

// A swap is one override and what it replaces.
type swap struct {
	*Override
	of        record.Dependency // zero: there is none
	operation string
	before    receipt.OptionalDigest
	after     receipt.OptionalDigest
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

	events := map[string]record.Dependency{} // by prefix of the key and event
	for _, d := range log.Dependencies {
		p.known[d.Key] = d
		prefix, _, _ := strings.Cut(d.Key, ":")
		if at := prefix + ":" + d.EventID; events[at].Key == "" {
			events[at] = d
		}
	}
	for i := range request.Overrides {
		if err := p.match(ctx, &request.Overrides[i], events); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(p.wrong, func(a, b Mismatch) int { return cmp.Compare(a.Key, b.Key) })

	if err := p.findEvents(); err != nil {
		return nil, err
	}
	return p, p.findMissing(ctx)
}

// match finds what an override replaces: the dependency of its key, else the one that its
// event answered.
func (p *Plan) match(ctx context.Context, o *Override, events map[string]record.Dependency) error {
	s := &swap{Override: o, operation: "add"}
	p.swaps = append(p.swaps, s)
	if err := p.weigh(ctx, s); err != nil {
		return err
	}
	if o.Kind == EventPayload || o.Kind == CheckpointValue {
		p.byEvent[o.EventID] = s
		return nil
	}

	prefix, _, _ := strings.Cut(o.Key, ":")
	d, found := p.known[o.Key]
	switch {
	case found && o.EventID != "" && o.EventID != d.EventID:
		return &RequestError{"override." + o.Key + ".event_id", "expected " + quote(d.EventID) + ", the event that told the recorded answer, found " + quote(o.EventID)}
	case !found && o.EventID != "":
		d, found = events[prefix+":"+o.EventID]
	}

	// No log tells of a secret, so that what it replaces is not known.
	key := o.Key
	switch {
	case found:
		s.of, s.operation, key = d, "replace", d.Key
	case o.Secret():
		s.operation = "replace"
	}
	if p.byKey[key] != nil {
		return &RequestError{"override." + o.Key, "expected one override of " + quote(key) + ", found another under " + quote(p.byKey[key].Key)}
	}

	p.byKey[key], p.label[o.Key] = s, key
	switch {
	case o.Secret():
	case !found:
		s.before.Null = true
	default:
		s.before.Digest = d.SHA256
	}
	return nil
}

// weigh computes the digest of what an override puts in place.
func (p *Plan) weigh(ctx context.Context, s *swap) error {
	if s.Secret() {
		return nil
	}
	if d, ok := s.Digest(); ok {
		s.after.Digest = d
		return nil
	}

	data, err := p.artifacts.Artifact(ctx, Wanted{ID: s.ArtifactID, SHA256: s.Stated})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &UnavailableError{Object: "artifact", ID: s.ArtifactID, Key: s.Key, Detail: "expected the value of the override " + quote(s.Key)}
	case err != nil:
		return err
	}
	if s.after.Digest = canon.Sum(data); !s.Stated.IsZero() && s.Stated != s.after.Digest {
		p.wrong = append(p.wrong, Mismatch{s.Key, s.Stated, s.after.Digest})
	}
	return nil
}

// findEvents finds the events that the request names and that answer nothing: those whose
// payloads are replaced, and the checkpoint.
func (p *Plan) findEvents() error {
	r := p.request
	if len(p.byEvent) == 0 && r.Mode != FromCheckpoint {
		return nil
	}

	doc := new(canon.Document)
	found := map[string]bool{}
	err := p.log.each(func(line []byte) error {
		if err := doc.Parse(line, canon.Limits{Bytes: event.MaxLine + 1}); err != nil {
			return err
		}
		root := doc.Root()
		id, payload := root.Member("id").String(), root.Member("payload")
		if s := p.byEvent[id]; s != nil {
			found[id] = true
			if s.operation = "replace"; !s.Secret() {
				s.before.Digest = event.HashOf(payload)
			}
		}
		return p.mark(id, payload)
	})
	if err != nil {
		return err
	}

	if r.Mode == FromCheckpoint && p.boundary == "" {
		return &UnavailableError{Object: "event", ID: cmp.Or(r.CheckpointEventID, r.CheckpointID), EventID: r.CheckpointEventID, Detail: "expected the event of the checkpoint in the log"}
	}
	for _, s := range p.swaps {
		if p.byEvent[s.EventID] == s && !found[s.EventID] {
			return &UnavailableError{Object: "event", ID: s.EventID, Key: s.Key, EventID: s.EventID, Detail: "expected the event whose payload is replaced"}
		}
	}
	return nil
}

// mark notes the event of the checkpoint. Both names of one have to be of one event.
func (p *Plan) mark(id string, payload canon.Node) error {
	r := p.request
	if r.Mode != FromCheckpoint || p.boundary != "" {
		return nil
	}

	byEvent := r.CheckpointEventID != "" && id == r.CheckpointEventID
	byID := r.CheckpointID != "" && (payload.Member("checkpoint_id").String() == r.CheckpointID || payload.Member("snapshot_asset_id").String() == r.CheckpointID)
	switch {
	case byEvent && r.CheckpointID != "" && !byID, byID && r.CheckpointEventID != "" && !byEvent:
		return &RequestError{"checkpoint_event_id", "expected the event of the checkpoint " + quote(r.CheckpointID) + ", found another"}
	case byEvent || byID:
		p.boundary = id
	}
	return nil
}

// findMissing finds the first recorded answer that is nowhere.
func (p *Plan) findMissing(ctx context.Context) error {
	for _, d := range p.log.Dependencies {
		if d.Pointer != "" || p.byKey[d.Key] != nil {
			continue
		}
		_, found, err := recorded(ctx, p.artifacts, Wanted{URI: d.URI, SHA256: d.SHA256})
		if err != nil {
			return err
		}
		if !found {
			p.missing = unavailable(d)
			return nil
		}
	}
	return nil
}

func unavailable(d record.Dependency) *UnavailableError {
	u := &UnavailableError{Object: "host_dependency", ID: d.Key, Key: d.Key, EventID: d.EventID, Detail: "the log has the digest of the answer alone"}
	switch {
	case strings.HasPrefix(d.Key, "host:memory:"):
		u.Object = "memory"
	case d.Kind == "artifact" || d.URI != "":
		u.Object, u.ID = "artifact", cmp.Or(d.URI, d.Key)
	}
	if d.SHA256.IsZero() {
		u.Detail = "the log has neither the answer nor its digest"
	}
	return u
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

func (s *swap) delta() receipt.Delta {
	return receipt.Delta{
		DeltaID: record.DeltaID(s.Key), Operation: s.operation, Path: record.DeltaPath(cmp.Or(s.of.Key, s.Key)), OverrideKey: s.Key,
		EventID: cmp.Or(s.of.EventID, s.EventID), BeforeSHA256: s.before, AfterSHA256: s.after, ArtifactID: s.ArtifactID, Reason: event.Shorten(s.Reason),
	}
}
