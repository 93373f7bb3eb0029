package harness

import (
	"encoding/json"
	"maps"

	"github.com/receiptkit/receiptkit/harness/journal"
)

// An Outcome is the result of a task. Each task that has ended has exactly one outcome. The
// messages and artifacts of an outcome are read from the state when it is encoded.
type Outcome struct {
	envelope
	TaskID      string          `json:"task_id"`
	Status      string          `json:"status"`
	Summary     string          `json:"summary"`
	ReceiptID   *string         `json:"receipt_id"`
	Failure     json.RawMessage `json:"failure"`
	WorkspaceID string          `json:"-"`

	messages, artifacts []string // IDs
	state               *state
}

func (o *Outcome) place() place { return place{o.WorkspaceID, "", o.TaskID} }

// MarshalJSON returns the outcome with its messages and artifacts.
func (o *Outcome) MarshalJSON() ([]byte, error) {
	type own Outcome // without this method
	return json.Marshal(struct {
		*own
		Messages  []*Message  `json:"messages"`
		Artifacts []*Artifact `json:"artifacts"`
	}{(*own)(o), readEach(o.state, &o.state.messages, o.messages), readEach(o.state, &o.state.artifacts, o.artifacts)})
}

// An ending is the payload of a task's last event.
type ending struct {
	OutcomeID string          `json:"outcome_id"`
	Summary   string          `json:"summary"`
	Failure   json.RawMessage `json:"failure"`
}

// told returns the payload of the event with additional members.
func (n *ending) told(more object) object {
	told := object{"outcome_id": n.OutcomeID, "summary": n.Summary, "failure": n.Failure}
	maps.Copy(told, more)
	return told
}

// outcomeOf returns the outcome of a task that has just ended.
func (s *state) outcomeOf(c *journal.Commit, t *Task, n ending) Outcome {
	o := Outcome{
		TaskID: t.ID, Status: t.Status, Summary: n.Summary, Failure: n.Failure, WorkspaceID: t.WorkspaceID,
		messages: t.messages, artifacts: t.artifacts, state: s,
	}
	if t.Status == completed {
		o.Status = "SUCCEEDED"
	}
	o.begin("outcome", n.OutcomeID, c)
	return o
}
