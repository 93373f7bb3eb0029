package harness

import (
	"net/http"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A Permission is the question whether a tool may be used, which a person answers by a
// tool_confirmation. If the task ends before that, it stays pending: nobody decided.
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

// permissionID is the ID of a permission request: that of an approval is of its task alone.
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

// permissionDecided folds the answer of a person.
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

// listPermissions serves GET /v1/permission-requests, and those of a task.
func (h *Harness) listPermissions(w http.ResponseWriter, r *protocol.Request) error {
	workspace, session, task := r.Query["workspace_id"], r.Query["session_id"], r.Query["task_id"]
	if id := r.PathValue("task_id"); id != "" {
		t, err := h.task(r, id)
		if err != nil {
			return err
		}
		task = t.ID
	}
	fits := func(want, is string) bool { return want == "" || want == is }
	return protocol.WriteItems(w, r, list(&h.state, &h.state.permissions, task, session, workspace), func(p *Permission) string { return p.ID },
		func(p *Permission) bool {
			return h.sees(r, p.WorkspaceID) && fits(workspace, p.WorkspaceID) && fits(session, p.SessionID) && fits(task, p.TaskID)
		})
}
