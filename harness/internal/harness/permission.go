package harness

import (
	"github.com/receiptkit/receiptkit/harness/journal"
)

// A Permission is a request to use a tool, which a person answers with a tool_confirmation. If the
// task ends before that, the request stays pending, because nobody answered it.
type Permission struct {
	envelope
	Status      string `json:"status"`
	Source      string `json:"source"`
	Action      string `json:"action"`
	Request     text   `json:"request"`
	Response    object `json:"response"`
	SessionID   string `json:"session_id"`
	TaskID      string `json:"task_id"`
	WorkspaceID string `json:"-"`
}

func (p *Permission) place() place { return place{p.WorkspaceID, p.SessionID, p.TaskID} }

// permissionID returns the ID of a permission request. The ID of an approval is unique only within
// its task.
func permissionID(task, approval string) string { return "permission_" + task + "_" + approval }

func (s *state) permissionAsked(c *journal.Commit, e *journal.Event) error {
	var told struct {
		ApprovalID string `json:"approval_id"`
		Action     string `json:"action"`
	}
	if err := payload(e, &told); err != nil {
		return err
	}
	p := Permission{Status: "pending", Source: "hitl", Action: told.Action, Request: text{raw: e.Payload}, SessionID: e.Session, TaskID: e.Task, WorkspaceID: e.Workspace}
	s.keep(&p.Request, c, "payload")
	p.begin("permission_request", permissionID(e.Task, told.ApprovalID), c)
	s.permissions.put(p.ID, p, p.WorkspaceID, p.SessionID, p.TaskID)
	return nil
}

// permissionDecided applies a person's decision to the state.
func (s *state) permissionDecided(c *journal.Commit, e *journal.Event, told callEvent) {
	asked := s.permissions.get(permissionID(e.Task, told.ApprovalID))
	if asked == nil {
		return
	}
	p := *asked
	if p.Status = "denied"; told.Approved {
		p.Status = "approved"
	}
	p.UpdatedAt, p.Response = c.At, object{"approved": told.Approved}
	s.permissions.put(p.ID, p)
}
