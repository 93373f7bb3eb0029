package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// An Answer is the answer for a dependency in a replay. When printed, an Answer shows only its key.
type Answer struct {
	Key      string       // of the dependency
	EventID  string       // ID of the event that recorded the answer, or ""
	Override string       // key of the override that supplied the answer; "" for a recorded answer
	SHA256   canon.Digest // zero for a secret
	Value    []byte       // canonical JSON, or the bytes of an artifact
}

// Format prints the key, never the value, for every verb.
func (a Answer) Format(w fmt.State, verb rune) { io.WriteString(w, a.Key) }

// ErrTaken indicates that an answer has already been taken. Each dependency supplies its answer
// only once.
var ErrTaken = errors.New("replay: answer was already taken")

// find finds the answer for a dependency.
func find(ctx context.Context, p *Plan, key string) (Answer, error) {
	// An override takes precedence over the recorded answer.
	d, known := p.known[key]
	a := Answer{Key: key, EventID: d.EventID, SHA256: d.SHA256}
	var err error
	switch s := p.byKey[key]; {
	case s != nil:
		a.Override, a.SHA256 = s.Key, s.after.Digest
		a.Value, err = replacement(ctx, p.artifacts, s)
	case !known:
		return a, &UnavailableError{Object: "host_dependency", ID: key, Key: key, Detail: "the log has no such answer, and no override adds one"}
	default:
		a.Value, err = answer(ctx, p, d)
	}
	return a, err
}

// replacement returns the value of an override.
func replacement(ctx context.Context, from Artifacts, s *swap) ([]byte, error) {
	if s.ArtifactID == "" {
		return slices.Clone(s.value), nil
	}

	data, err := from(ctx, Wanted{ID: s.ArtifactID, SHA256: s.Stated})
	if err == nil && !s.secret() && canon.Sum(data) != s.after.Digest {
		err = errors.New("replay: the artifact " + quote(s.ArtifactID) + " has changed since the plan was created")
	}
	return data, err
}

// answer returns the recorded answer for a dependency.
func answer(ctx context.Context, p *Plan, d record.Dependency) ([]byte, error) {
	if d.Pointer != "" {
		return p.Log.answer(d)
	}
	data, found, err := recorded(ctx, p.artifacts, Wanted{URI: d.URI, SHA256: d.SHA256})
	if err == nil && !found {
		return nil, unavailable(d)
	}
	return data, err
}
