package harness

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/journal"
)

// A state is what all events of the log together come to.
type state struct {
	mu         sync.RWMutex
	workspaces table[Workspace]
	sessions   table[Session]
	messages   table[Message]
	tasks      table[Task]
	artifacts  table[Artifact]
	outcomes   table[Outcome]

	permissions table[Permission]

	works  map[string]*work        // of tasks that have not ended
	issued map[canon.Digest]bool   // the hashes of receipts that the log says were issued
	newest map[string]canon.Digest // the last of them, by workspace

	folding int                                // which event of a commit is being applied
	read    func(journal.Part) ([]byte, error) // from the log
}

// kinds says what becomes of each kind of event. What is not here changes no resource: it is
// for whoever reads the events, and for the receipt.
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

// apply folds a commit. What is told again from another task is no deed of this one.
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

// resource returns a resource as it is now; nil when there is none.
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

// answer returns what reads a resource as it is now, also later: for an answer that is to be the same
// again. A task that has ended is read with its receipt, for which its first answer waited.
func (s *state) answer(of journal.Pointer) func() any {
	now := s.resource(of)
	if t, _ := now.(*Task); t != nil && t.ended() {
		return func() any { return read(s, &s.tasks, t.ID) }
	}
	return func() any { return now }
}

// read returns a resource as it is now; nil when there is none.
func read[T any](s *state, t *table[T], id string) *T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return t.get(id)
}

// readEach returns the resources with some IDs as they are now.
func readEach[T any](s *state, t *table[T], ids []string) []*T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]*T, len(ids))
	for i, id := range ids {
		list[i] = t.get(id)
	}
	return list
}

// list returns the resources of a kind as they are now: those of the narrowest of the groups that is
// named, or all.
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

// payload reads the payload of an event into a resource, whose members it has.
func payload(e *journal.Event, into any) error { return json.Unmarshal(e.Payload, into) }

// An object is a payload that is told.
type object map[string]any

// json is the object as a payload. Of plain values and texts of JSON: it cannot fail.
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
