package harness

import (
	"encoding/json"

	"github.com/receiptkit/receiptkit/harness/journal"
)

// work contains the answers that the log records for a task that has not ended yet. If the module
// runs again after a crash, it gets the same answers.
type work struct {
	models    []answer          // answers of model calls, in order
	tools     map[string]answer // by call ID
	requested map[string]bool   // IDs of the calls that have started
	decisions map[string]bool   // by approval ID
	inputs    map[string]string // input from the person, by call ID
	waits     string            // ID of the approval or call for which the task waits
}

// An answer is the recorded answer to a call.
type answer struct {
	output json.RawMessage
	failed *Failure // nil if the call did not fail
}

func newWork() *work {
	return &work{tools: map[string]answer{}, requested: map[string]bool{}, decisions: map[string]bool{}, inputs: map[string]string{}}
}

// A callEvent is the payload of an event about a call.
type callEvent struct {
	CallID     string          `json:"tool_call_id"`
	ApprovalID string          `json:"approval_id"`
	Kind       string          `json:"kind"`
	Status     string          `json:"status"`
	Approved   bool            `json:"approved"`
	Text       string          `json:"text"`
	Output     json.RawMessage `json:"output"`
	Response   json.RawMessage `json:"response"`
	Failure    *Failure        `json:"failure"`
}

// note adds the answer in an event to the work of its task, unless the task has ended.
func (s *state) note(e *journal.Event, how func(*work, callEvent)) error {
	var told callEvent
	if err := payload(e, &told); err != nil {
		return err
	}
	if w := s.works[e.Task]; w != nil {
		how(w, told)
	}
	return nil
}

func (s *state) modelAnswered(_ *journal.Commit, e *journal.Event) error {
	return s.note(e, func(w *work, told callEvent) {
		w.models = append(w.models, answer{told.Response, told.Failure})
	})
}

func (s *state) toolRequested(_ *journal.Commit, e *journal.Event) error {
	return s.note(e, func(w *work, told callEvent) { w.requested[told.CallID] = true })
}

func (s *state) toolAnswered(_ *journal.Commit, e *journal.Event) error {
	return s.note(e, func(w *work, told callEvent) {
		a := answer{output: told.Output}
		if told.Status != statusOK {
			a.failed = &Failure{"tool_error", told.Status}
		}
		w.tools[told.CallID] = a
	})
}

func (s *state) toolConfirmed(c *journal.Commit, e *journal.Event) error {
	err := s.note(e, func(w *work, told callEvent) {
		w.decisions[told.ApprovalID] = told.Approved
		s.permissionDecided(c, e, told)
	})
	if err != nil {
		return err
	}
	return s.messageAppended(c, e)
}

func (s *state) inputSubmitted(c *journal.Commit, e *journal.Event) error {
	if err := s.note(e, func(w *work, told callEvent) { w.inputs[told.CallID] = told.Text }); err != nil {
		return err
	}
	return s.messageAppended(c, e)
}

// look returns a value from the work of a task, and reports whether there is one.
func look[T any](s *state, task string, at func(*work) (T, bool)) (value T, found bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if w := s.works[task]; w != nil {
		return at(w)
	}
	return value, false
}
