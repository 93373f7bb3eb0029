package replay

import (
	"context"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// An Answer is what a dependency answers in a replay. Printed, it shows its key only.
type Answer struct {
	Key      string       // of the dependency
	EventID  string       // of the event that recorded it; "": none did
	Override string       // the key of the override that it comes from; "": it is the recorded one
	SHA256   canon.Digest // zero: of a secret there is none
	Value    []byte       // canonical JSON, or the bytes of an artifact
}

// String returns the key, and never the value.
func (a Answer) String() string { return a.Key }

// GoString returns the key, and never the value.
func (a Answer) GoString() string { return a.Key }

// ErrTaken says that an answer was taken before: a dependency answers once.
var ErrTaken = errors.New("replay: the answer was taken before")

// Take returns the answer of a dependency, once, for a harness that runs its module again.
// What neither the log nor the request has is an *[UnavailableError]: nothing is
// refreshed. What was taken before is [ErrTaken].
func (p *Plan) Take(ctx context.Context, key string) (Answer, error) {
	if of, ok := p.label[key]; ok {
		key = of
	}

	a, err := p.find(ctx, key)
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

func (p *Plan) find(ctx context.Context, key string) (Answer, error) {
	d, known := p.known[key]
	a := Answer{Key: key, EventID: d.EventID, SHA256: d.SHA256}
	var err error
	switch s := p.byKey[key]; {
	case s != nil:
		a.Override, a.SHA256 = s.Key, s.after.Digest
		a.Value, err = p.replacement(ctx, s)
	case !known:
		return a, &UnavailableError{Object: "host_dependency", ID: key, Key: key, Detail: "the log has no such answer, and no override adds one"}
	default:
		a.Value, err = p.answer(ctx, d)
	}
	return a, err
}

// replacement is the value of an override.
func (p *Plan) replacement(ctx context.Context, s *swap) ([]byte, error) {
	if s.ArtifactID == "" {
		return s.Value(), nil
	}
	data, err := p.artifacts.Artifact(ctx, Wanted{ID: s.ArtifactID, SHA256: s.Stated})
	if err == nil && !s.Secret() && canon.Sum(data) != s.after.Digest {
		err = errors.New("replay: the artifact " + quote(s.ArtifactID) + " changed since the plan was made")
	}
	return data, err
}

// answer is what was recorded.
func (p *Plan) answer(ctx context.Context, d record.Dependency) ([]byte, error) {
	if d.Pointer != "" {
		return p.log.answer(d)
	}
	data, found, err := recorded(ctx, p.artifacts, Wanted{URI: d.URI, SHA256: d.SHA256})
	if err == nil && !found {
		return nil, unavailable(d)
	}
	return data, err
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
