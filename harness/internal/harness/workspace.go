package harness

import (
	"net/http"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// The protocol defines no kinds of events for workspaces.
const (
	workspaceCreated = "vendor.workspace.created"
	workspaceUpdated = "vendor.workspace.updated"
)

// A Workspace groups sessions and their tasks. The receipts in a workspace form one chain.
type Workspace struct {
	envelope
	Name          string `json:"name"`
	Root          string `json:"root"`
	DefaultBranch string `json:"default_branch_id"`
}

func (w *Workspace) place() place { return place{workspace: w.ID} }

func (s *state) workspaceCreated(c *journal.Commit, e *journal.Event) error {
	w := Workspace{DefaultBranch: "main"}
	if err := payload(e, &w); err != nil {
		return err
	}
	s.keep(&w.Metadata, c, "payload", "metadata")
	w.begin("workspace", e.Workspace, c)
	s.workspaces.put(w.ID, w)
	return nil
}

func (s *state) workspaceUpdated(c *journal.Commit, e *journal.Event) error {
	w := *s.workspaces.get(e.Workspace)
	w.UpdatedAt = c.At
	if err := payload(e, &w); err != nil {
		return err
	}
	s.keep(&w.Metadata, c, "payload", "metadata")
	s.workspaces.put(w.ID, w)
	return nil
}

func (h *Harness) createWorkspace(w http.ResponseWriter, r *protocol.Request) error {
	name, err := requiredText(r, "name")
	if err == nil {
		err = short(r, "name", "root")
	}
	if err != nil {
		return err
	}
	root, err := requiredText(r, "root")
	if err != nil {
		return err
	}
	metadata, err := objectMember(r, "metadata")
	if err != nil {
		return err
	}

	of := journal.Pointer{Object: "workspace", ID: h.newID("workspace")}
	if !h.sees(r, of.ID) {
		return &protocol.Error{Code: protocol.CodeForbidden, Message: "this API key is for other workspaces, and could not see a new one"}
	}
	return h.write(w, r, http.StatusCreated, of, func() ([]journal.Event, error) {
		told := object{"name": name, "root": root, "metadata": metadata}
		return []journal.Event{{Kind: workspaceCreated, Resource: of, Workspace: of.ID, Payload: told.json()}}, nil
	})
}

func (h *Harness) updateWorkspace(w http.ResponseWriter, r *protocol.Request) error {
	found, err := h.workspace(r, r.PathValue("workspace_id"))
	if err != nil {
		return err
	}
	name, err := textMember(r, "name")
	if err == nil {
		err = short(r, "name")
	}
	if err != nil {
		return err
	}
	metadata, err := objectMember(r, "metadata")
	if err != nil {
		return err
	}

	of := journal.Pointer{Object: "workspace", ID: found.ID}
	return h.write(w, r, http.StatusOK, of, func() ([]journal.Event, error) {
		told := object{"metadata": metadata}
		if name != "" {
			told["name"] = name
		}
		return []journal.Event{{Kind: workspaceUpdated, Resource: of, Workspace: of.ID, Payload: told.json()}}, nil
	})
}
