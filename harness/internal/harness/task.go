package harness

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A Task is a task and its result.
type Task struct {
	envelope
	SessionID   string          `json:"session_id"`
	WorkspaceID string          `json:"workspace_id"`
	Status      string          `json:"status"`
	Input       text            `json:"input"`
	CreatedBy   string          `json:"created_by"`
	PersonaID   *string         `json:"persona_id"`
	BranchID    *string         `json:"branch_id"`
	ParentID    *string         `json:"parent_task_id"`
	AgentID     *string         `json:"assigned_agent_id"`
	ReceiptID   *string         `json:"receipt_id"`
	OutcomeID   *string         `json:"outcome_id"`
	QuotaID     *string         `json:"quota_id"`
	StartedAt   *receipt.Time   `json:"started_at"`
	CompletedAt *receipt.Time   `json:"completed_at"`
	CanceledAt  *receipt.Time   `json:"canceled_at"`
	Failure     json.RawMessage `json:"failure"` // null: it did not fail

	messages, artifacts []string // of the agent
}

func (t *Task) place() place { return place{t.WorkspaceID, t.SessionID, t.ID} }

// These are the states of a task. The last three states are final.
const (
	submitted     = "SUBMITTED"
	working       = "WORKING"
	inputRequired = "INPUT_REQUIRED"
	authRequired  = "AUTH_REQUIRED"
	completed     = "COMPLETED"
	failed        = "FAILED"
	canceled      = "CANCELED"
)

// ended reports whether the task is in a final state.
func (t *Task) ended() bool {
	return t.Status == completed || t.Status == failed || t.Status == canceled
}

// event returns an event for the task. All events of a task are numbered consecutively, so that a
// missing event is detected.
func (t *Task) event(kind string, told object) journal.Event {
	return journal.Event{
		Kind: kind, Resource: journal.Pointer{Object: "task", ID: t.ID}, Payload: told.json(),
		Workspace: t.WorkspaceID, Session: t.SessionID, Task: t.ID,
	}
}

func (s *state) taskSubmitted(c *journal.Commit, e *journal.Event) error {
	t := Task{SessionID: e.Session, WorkspaceID: e.Workspace, Status: submitted}
	if err := payload(e, &t); err != nil {
		return err
	}
	s.keep(&t.Input, c, "payload", "input")
	s.keep(&t.Metadata, c, "payload", "metadata")
	t.begin("task", e.Task, c)
	s.tasks.put(t.ID, t, t.SessionID, t.WorkspaceID)
	if s.works == nil {
		s.works = map[string]*work{}
	}
	s.works[t.ID] = newWork()
	return nil
}

// change applies the function how to a task.
func (s *state) change(c *journal.Commit, e *journal.Event, how func(*Task)) error {
	t := *s.tasks.get(e.Task)
	t.UpdatedAt = c.At
	how(&t)
	s.tasks.put(t.ID, t)
	return nil
}

func (s *state) taskStarted(c *journal.Commit, e *journal.Event) error {
	return s.change(c, e, func(t *Task) { t.Status, t.StartedAt = working, &e.CreatedAt })
}

// taskWaits applies an event that makes a task wait for a person or stop waiting.
func (s *state) taskWaits(c *journal.Commit, e *journal.Event) error {
	var told callEvent
	if err := payload(e, &told); err != nil {
		return err
	}
	if w := s.works[e.Task]; w != nil {
		w.waits = cmp.Or(told.ApprovalID, told.CallID)
	}
	switch e.Kind {
	case "task.input_required":
		told.Status = inputRequired
	case "task.auth_required":
		told.Status = authRequired
	}
	return s.change(c, e, func(t *Task) { t.Status = told.Status })
}

func (s *state) taskEnded(c *journal.Commit, e *journal.Event) error {
	var told ending
	if err := payload(e, &told); err != nil {
		return err
	}
	delete(s.works, e.Task)
	return s.change(c, e, func(t *Task) {
		t.OutcomeID, t.Failure = &told.OutcomeID, told.Failure
		switch e.Kind {
		case "task.completed":
			t.Status, t.CompletedAt = completed, &e.CreatedAt
		case "task.failed":
			t.Status, t.CompletedAt = failed, &e.CreatedAt
		case "task.canceled":
			t.Status, t.CanceledAt = canceled, &e.CreatedAt
		}
		s.outcomes.put(told.OutcomeID, s.outcomeOf(c, t, told), t.ID)
	})
}

// receiptIssued adds the receipt to all resources that the receipt covers.
func (s *state) receiptIssued(c *journal.Commit, e *journal.Event) error {
	if err := s.noteIssued(e); err != nil {
		return err
	}
	return s.change(c, e, func(t *Task) {
		t.ReceiptID = &e.Receipt
		for _, id := range t.artifacts {
			a := *s.artifacts.get(id)
			a.ReceiptID, a.UpdatedAt = &e.Receipt, c.At
			s.artifacts.put(id, a)
		}
		o := *s.outcomes.get(*t.OutcomeID)
		o.ReceiptID, o.UpdatedAt = &e.Receipt, c.At
		s.outcomes.put(o.ID, o)
	})
}

// submit serves both routes on which a task can be submitted. The task starts immediately.
func (h *Harness) submit(w http.ResponseWriter, r *protocol.Request) error {
	t, err := h.readTask(r)
	if err != nil {
		return err
	}
	of := journal.Pointer{Object: "task", ID: t.ID}
	err = h.write(w, r, http.StatusAccepted, of, func() ([]journal.Event, error) {
		if _, err := h.openSession(r, t.SessionID); err != nil {
			return nil, err
		}
		told := object{"created_by": t.CreatedBy, "input": t.Input.raw, "metadata": t.Metadata.raw, "autonomy_tier": tier}
		if t.ParentID != nil {
			told["parent_task_id"] = *t.ParentID
		}
		return []journal.Event{t.event("task.submitted", told), t.event("task.started", object{})}, nil
	})
	if err == nil {
		h.begin(t.ID)
	}
	return err
}

// tier is the agent's autonomy tier, in which a person must approve every change.
const tier = "act_with_approval"

// readTask parses a SubmitTaskRequest.
func (h *Harness) readTask(r *protocol.Request) (*Task, error) {
	t := new(Task)
	t.ID, t.CreatedBy = h.newID("task"), actorOf(r)

	// The path, the body, or both specify the session. If both specify an ID, the IDs must be
	// equal.
	inBody, err := textMember(r, "session_id")
	if err != nil {
		return nil, err
	}
	if t.SessionID = r.PathValue("session_id"); t.SessionID == "" {
		if t.SessionID, err = requiredText(r, "session_id"); err != nil {
			return nil, err
		}
	}
	s, err := h.session(r, t.SessionID)
	if err != nil {
		return nil, err
	}
	t.WorkspaceID = s.WorkspaceID
	if workspace, err := textMember(r, "workspace_id"); err != nil || workspace != "" && workspace != s.WorkspaceID || inBody != "" && inBody != s.ID {
		return nil, protocol.Invalid("session_id", "expected one session, of one workspace")
	}

	if err := unimplemented(r, "persona_id", "branch_id"); err != nil {
		return nil, err
	}
	parent, err := textMember(r, "parent_task_id")
	if err != nil {
		return nil, err
	}
	if parent != "" {
		if _, err := h.task(r, parent); err != nil {
			return nil, err
		}
		t.ParentID = &parent
	}
	if t.Metadata.raw, err = objectMember(r, "metadata"); err != nil {
		return nil, err
	}
	t.Input.raw, err = readInput(r.JSON.Root().Member("input"))
	return t, err
}

// readInput parses the input of a task, which is a message or any other object.
func readInput(node canon.Node) (json.RawMessage, error) {
	if node.Kind() != canon.KindObject {
		return nil, protocol.Invalid("input", "expected a message, or another object")
	}
	if !node.Member("role").IsZero() || !node.Member("parts").IsZero() {
		if _, err := readMessage(node, "input"); err != nil {
			return nil, err
		}
	}
	return rawOf(node), nil
}

// publicInput returns the part of the input that models and tools may see.
func (t *Task) publicInput() (json.RawMessage, error) {
	input, err := t.Input.value()
	if err != nil {
		return nil, err
	}
	return new(protocol.Client).Visible(input)
}

// actorOf returns the name of the client that sent a request.
func actorOf(r *protocol.Request) string { return cmp.Or(r.Client.Name, "anonymous") }
