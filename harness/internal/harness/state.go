package harness

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/journal"
)

// A state is the result of applying all events in the log.
type state struct {
	mu         sync.RWMutex
	workspaces table[Workspace]
	sessions   table[Session]
	messages   table[Message]
	tasks      table[Task]
	artifacts  table[Artifact]
	outcomes   table[Outcome]

	permissions table[Permission]

	works  map[string]*work        // work of the tasks that have not ended
	issued map[canon.Digest]bool   // hashes of the receipts that, according to the log, were issued
	newest map[string]canon.Digest // the last of these hashes in each workspace

	folding int                                // index of the event in the commit that is currently applied
	read    func(journal.Part) ([]byte, error) // reads a part of the log
}

// kinds returns the functions that apply each kind of event. Other kinds change no resource. These
// events are only for clients that read events, and for the receipt.
func (s *state) kinds() map[string]func(*journal.Commit, *journal.Event) error {
	return map[string]func(*journal.Commit, *journal.Event) error{
		workspaceCreated: s.workspaceCreated,
		workspaceUpdated: s.workspaceUpdated,

		"session.created":          s.sessionCreated,
		sessionUpdated:             s.sessionUpdated,
		"session.closed":           s.sessionUpdated,
		"session.message_appended": s.messageAppended,

		"task.submitted":       s.taskSubmitted,
		"task.started":         s.taskStarted,
		"task.input_required":  s.taskWaits,
		"task.auth_required":   s.taskWaits,
		"task.status_changed":  s.taskWaits,
		"task.completed":       s.taskEnded,
		"task.failed":          s.taskEnded,
		"task.canceled":        s.taskEnded,
		"receipt.issued":       s.receiptIssued,
		"artifact.created":     s.artifactCreated,
		"user.message":         s.messageAppended,
		"agent.message":        s.messageAppended,
		"user.input_submitted": s.inputSubmitted,

		"tool.approval_required": s.permissionAsked,
		"user.tool_confirmation": s.toolConfirmed,
		"span.completed":         s.modelAnswered,
		"span.failed":            s.modelAnswered,
		"tool.requested":         s.toolRequested,
		"tool.completed":         s.toolAnswered,
		"agent.tool_result":      s.toolAnswered,
	}
}

// apply applies a commit to the state. It skips replayed events, because they belong to another
// task.
func (s *state) apply(c *journal.Commit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	kinds := s.kinds()
	for i := range c.Events {
		e := &c.Events[i]
		s.folding = i
		fold := kinds[e.Kind]
		if fold == nil || e.Replayed {
			continue
		}
		if err := fold(c, e); err != nil {
			return fmt.Errorf("the event %s of the kind %s: %w", e.ID, e.Kind, err)
		}
	}
	return nil
}

// resource returns the current version of a resource, or nil if the resource does not exist.
func (s *state) resource(of journal.Pointer) any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch of.Object {
	case "workspace":
		return s.workspaces.get(of.ID)
	case "session":
		return s.sessions.get(of.ID)
	case "message":
		return s.messages.get(of.ID)
	case "task":
		return s.tasks.get(of.ID)
	case "artifact":
		return s.artifacts.get(of.ID)
	}
	return nil
}

// answer returns a function that returns the current version of a resource for the response to a
// repeated request. If a task has ended, the function returns the task with its receipt, because
// the first response waited for the receipt, too.
func (s *state) answer(of journal.Pointer) func() any {
	now := s.resource(of)
	if t, _ := now.(*Task); t != nil && t.ended() {
		return func() any { return read(s, &s.tasks, t.ID) }
	}
	return func() any { return now }
}

// read returns the current version of a resource, or nil if the resource does not exist.
func read[T any](s *state, t *table[T], id string) *T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return t.get(id)
}

// readEach returns the current versions of the resources with the given IDs.
func readEach[T any](s *state, t *table[T], ids []string) []*T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]*T, len(ids))
	for i, id := range ids {
		list[i] = t.get(id)
	}
	return list
}

// list returns the current versions of the resources in the first group that is not empty, or of
// all resources.
func list[T any](s *state, t *table[T], groups ...string) []*T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, group := range groups {
		if group != "" {
			return t.of(group)
		}
	}
	return t.all()
}

// payload decodes the payload of an event.
func payload(e *journal.Event, into any) error { return json.Unmarshal(e.Payload, into) }

// An object is a payload that is to be recorded.
type object map[string]any

// json returns the JSON form of the object. An object contains only plain values and JSON texts, so
// encoding it cannot fail.
func (o object) json() json.RawMessage {
	for name, value := range o {
		if raw, is := value.(json.RawMessage); is && raw == nil {
			delete(o, name)
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("harness: a payload that is no JSON: %v", err))
	}
	return text
}
