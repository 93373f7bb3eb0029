package replay

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// A matcher finds the values that the overrides of a request replace.
type matcher struct {
	*Plan
	answered  map[string]record.Dependency // keyed by the event and the prefix of the answer's key
	compacted map[string]record.Dependency // snapshots, keyed by their events
	restored  map[*swap]bool               // overrides of events before the checkpoint
}

func (m *matcher) all(ctx context.Context) error {
	for _, d := range m.Log.Dependencies {
		m.known[d.Key] = d
		if at := ofEvent(d.Key, d.EventID); m.answered[at].Key == "" {
			m.answered[at] = d
		}
		if d.Kind == "artifact" {
			m.compacted[d.EventID] = d
		}
	}

	// Overrides are matched in key order, so that the first error is always the same.
	for i := range m.request.Overrides {
		if err := m.match(ctx, &m.request.Overrides[i]); err != nil {
			return err
		}
	}
	slices.SortFunc(m.wrong, func(a, b Mismatch) int { return cmp.Compare(a.Key, b.Key) })

	// The log is read again only if the request names events or a checkpoint, which are not
	// dependencies.
	if err := m.findEvents(); err != nil {
		return err
	}
	if err := m.restore(); err != nil {
		return err
	}
	return m.findMissing(ctx)
}

// restore rejects overrides of answers and events before the checkpoint. These are part of the
// restored state, so a module that continues from the checkpoint does not request them.
func (m *matcher) restore() error {
	for _, s := range m.swaps {
		if s.of.Kind != record.KindTime && m.before[s.of.Key] || m.restored[s] {
			return &RequestError{"override." + s.Key, "expected an answer or an event after the checkpoint: those before it are restored as they were recorded"}
		}
	}
	return nil
}

func ofEvent(key, event string) string {
	prefix, _, _ := strings.Cut(key, ":")
	return prefix + ":" + event
}

// match finds the dependency that an override replaces: the dependency with the override's key or,
// if there is none, the dependency whose answer was recorded by the override's event.
func (m *matcher) match(ctx context.Context, o *Override) error {
	s := &swap{Override: o, operation: "add"}
	m.swaps = append(m.swaps, s)
	if err := m.weigh(ctx, s); err != nil {
		return err
	}

	// If a dependency has the key, the override refers to that dependency.
	d, found := m.known[o.Key]
	switch {
	case found && o.EventID != "" && o.EventID != d.EventID:
		return &RequestError{"override." + o.Key + ".event_id", "expected " + quote(d.EventID) + ", the event that recorded the answer, found " + quote(o.EventID)}
	case o.Kind == kindCheckpoint && m.compacted[o.EventID].Key != "":
		d, found = m.compacted[o.EventID], true // the answer is a snapshot, which has no key

	// Overrides of these kinds replace the payload of an event, not an answer.
	case o.Kind == kindPayload || o.Kind == kindCheckpoint:
		m.byEvent[o.EventID] = s
		return nil
	case !found && o.EventID != "":
		if d, found = m.answered[ofEvent(o.Key, o.EventID)]; d.Kind == record.KindTime {
			return &RequestError{"override." + o.Key, "expected " + quote(d.Key) + ", the key of the time that this event records"}
		}
	}

	// No log records the value of a secret, so the replaced value is unknown.
	key := o.Key
	switch {
	case found:
		s.of, s.operation, key = d, "replace", d.Key
	case s.unrecorded():
		s.operation = "replace"
	}
	if m.byKey[key] != nil {
		return &RequestError{"override." + o.Key, "expected one override of " + quote(key) + ", found another under " + quote(m.byKey[key].Key)}
	}

	m.byKey[key], m.label[o.Key] = s, key
	switch {
	case o.secret():
	case !found:
		s.before.Null = true
	default:
		s.before.Digest = d.SHA256
	}
	return nil
}

// weigh computes the digest of an override's new value.
func (m *matcher) weigh(ctx context.Context, s *swap) error {
	if s.secret() {
		return nil
	}
	if d, ok := s.Digest(); ok {
		s.after.Digest = d
		return nil
	}

	// The digest of an artifact is computed from its bytes.
	data, err := m.artifacts(ctx, Wanted{ID: s.ArtifactID, SHA256: s.Stated})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &UnavailableError{Object: "artifact", ID: s.ArtifactID, Key: s.Key, Detail: "expected the value of the override " + quote(s.Key)}
	case err != nil:
		return err
	}

	if s.after.Digest = canon.Sum(data); !s.Stated.IsZero() && s.Stated != s.after.Digest {
		m.wrong = append(m.wrong, Mismatch{s.Key, s.Stated, s.after.Digest})
	}
	return nil
}

// findEvents finds the events that the request names but that record no answer: those whose
// payloads are replaced, and the checkpoint.
func (m *matcher) findEvents() error {
	r := m.request
	if len(m.byEvent) == 0 && r.Mode != FromCheckpoint {
		return nil
	}

	of := map[string][]string{} // keys, by the event that recorded the answers
	for _, d := range m.Log.Dependencies {
		of[d.EventID] = append(of[d.EventID], d.Key)
	}

	doc := new(canon.Document)

	found := map[string]bool{}
	err := m.Log.each(func(line []byte) error {
		if err := doc.Parse(line, canon.Limits{Bytes: event.MaxLine + 1}); err != nil {
			return err
		}
		root := doc.Root()
		id, payload := root.Member("id").String(), root.Member("payload")
		if s := m.byEvent[id]; s != nil {
			// A module requests answers, not events.
			if kind := root.Member("event").String(); answers(kind) {
				return &RequestError{"override." + s.Key + ".event_id", "expected an event without an answer or a time of the task, found " + quote(kind) + ": override the answer"}
			}
			found[id] = true
			if s.operation = "replace"; !s.secret() {
				s.before.Digest = event.HashOf(payload)
			}
		}

		// Answers and events before the checkpoint belong to the restored state.
		if err := m.mark(id, payload); err != nil || m.boundary != "" || r.Mode != FromCheckpoint {
			return err
		}
		for _, key := range of[id] {
			m.before[key] = true
		}
		m.restored[m.byEvent[id]] = true
		return nil
	})
	if err != nil {
		return err
	}

	if r.Mode == FromCheckpoint && m.boundary == "" {
		return &UnavailableError{Object: "event", ID: cmp.Or(r.CheckpointEventID, r.CheckpointID), EventID: r.CheckpointEventID, Detail: "expected the event of the checkpoint in the log"}
	}
	for _, s := range m.swaps {
		if m.byEvent[s.EventID] == s && !found[s.EventID] {
			return &UnavailableError{Object: "event", ID: s.EventID, Key: s.Key, EventID: s.EventID, Detail: "expected the event whose payload the override replaces"}
		}
	}
	return nil
}

// mark records the ID of the event if the event is the checkpoint of the request. A request can
// specify the checkpoint by its ID, by the ID of its event, or by both. Both IDs must refer to the
// same event. If the request does not specify the ID of the event, only one event may have the
// checkpoint ID.
func (m *matcher) mark(id string, payload canon.Node) error {
	r := m.request
	if r.Mode != FromCheckpoint {
		return nil
	}

	// A checkpoint can be named by its own ID or by the ID of its snapshot.
	named := r.CheckpointID != "" && (payload.Member("checkpoint_id").String() == r.CheckpointID || payload.Member("snapshot_asset_id").String() == r.CheckpointID)
	switch {
	case r.CheckpointEventID == "" && named && m.boundary != "":
		return &RequestError{"checkpoint_event_id", "expected it, because two events have the checkpoint " + quote(r.CheckpointID) + ": " + quote(m.boundary) + " and " + quote(id)}
	case r.CheckpointEventID == "" && named:
		m.boundary = id
	case r.CheckpointEventID == "" || id != r.CheckpointEventID:
	case r.CheckpointID != "" && !named:
		return &RequestError{"checkpoint_event_id", "expected the event of the checkpoint " + quote(r.CheckpointID) + ", found another"}
	default:
		m.boundary = id
	}
	return nil
}

// findMissing finds the first recorded answer that is neither in the log nor an available artifact.
func (m *matcher) findMissing(ctx context.Context) error {
	for _, d := range m.Log.Dependencies {
		if d.Pointer != "" || m.byKey[d.Key] != nil {
			continue
		}
		_, found, err := recorded(ctx, m.artifacts, Wanted{URI: d.URI, SHA256: d.SHA256})
		if err != nil {
			return err
		}
		if !found {
			m.missing = unavailable(d)
			return nil
		}
	}
	return nil
}
