package harness

import (
	"net/http"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// sessionUpdated is a vendor-specific kind of event, because the protocol does not define a kind
// for updates of a session.
const sessionUpdated = "vendor.session.updated"

// A Session is a conversation in which tasks are submitted.
type Session struct {
	envelope
	WorkspaceID string  `json:"workspace_id"`
	State       string  `json:"state"`
	Transcript  string  `json:"transcript"` // the path of its messages
	PersonaID   *string `json:"persona_id"`
	Root        string  `json:"root_session_id"`
	Parent      *string `json:"parent_session_id"`
	BranchID    *string `json:"branch_id"`
	Summary     text    `json:"summary"`
	ExpiresAt   *string `json:"expires_at"`
}

func (s *Session) place() place { return place{s.WorkspaceID, s.ID, ""} }

func (s *state) sessionCreated(c *journal.Commit, e *journal.Event) error {
	v := Session{WorkspaceID: e.Workspace, State: "ACTIVE", Root: e.Session, Transcript: "/v1/sessions/" + e.Session + "/messages"}
	if err := payload(e, &v); err != nil {
		return err
	}
	s.keep(&v.Metadata, c, "payload", "metadata")
	v.begin("session", e.Session, c)
	s.sessions.put(v.ID, v, v.WorkspaceID)
	return nil
}

func (s *state) sessionUpdated(c *journal.Commit, e *journal.Event) error {
	v := *s.sessions.get(e.Session)
	v.UpdatedAt = c.At
	if err := payload(e, &v); err != nil {
		return err
	}
	s.keep(&v.Metadata, c, "payload", "metadata")
	s.keep(&v.Summary, c, "payload", "summary")
	s.sessions.put(v.ID, v)
	return nil
}

// openSession is like session, but rejects a session that is closed. The caller must hold
// h.writing.
func (h *Harness) openSession(r *protocol.Request, id string) (*Session, error) {
	s, err := h.session(r, id)
	if err == nil && s.State == "CLOSED" {
		err = protocol.Conflict("the session is closed")
	}
	return s, err
}

// event returns an event of the session.
func (s *Session) event(kind string, told object) journal.Event {
	return journal.Event{Kind: kind, Resource: journal.Pointer{Object: "session", ID: s.ID}, Workspace: s.WorkspaceID, Session: s.ID, Payload: told.json()}
}

func (h *Harness) createSession(w http.ResponseWriter, r *protocol.Request) error {
	workspace, err := requiredText(r, "workspace_id")
	if err != nil {
		return err
	}
	if _, err := h.workspace(r, workspace); err != nil {
		return err
	}
	if err := unimplemented(r, "persona_id", "vault_ids", "memory_ids", "skill_ids"); err != nil {
		return err
	}
	metadata, err := objectMember(r, "metadata")
	if err != nil {
		return err
	}
	first, err := initialMessages(r)
	if err != nil {
		return err
	}

	s := &Session{WorkspaceID: workspace}
	s.ID = h.newID("session")
	return h.write(w, r, http.StatusCreated, journal.Pointer{Object: "session", ID: s.ID}, func() ([]journal.Event, error) {
		events := []journal.Event{s.event("session.created", object{"metadata": metadata})}
		for _, m := range first {
			events = append(events, s.event("session.message_appended", m.told(h.newID("message"))))
		}
		return events, nil
	})
}

// unimplemented returns the error 422 if a request names a feature that this harness does not
// implement. Without this check, a receipt would state the feature.
func unimplemented(r *protocol.Request, names ...string) error {
	for _, name := range names {
		switch value := r.JSON.Root().Member(name); {
		case value.IsZero(), value.Kind() == canon.KindNull, value.Kind() == canon.KindArray && value.Len() == 0:
		default:
			return &protocol.Error{Code: protocol.CodePolicy, Param: name, Message: "this harness has nothing that " + name + " could name"}
		}
	}
	return nil
}

// initialMessages parses the initial messages for a session.
func initialMessages(r *protocol.Request) (list []*messageInput, err error) {
	const name = "initial_messages"
	node := r.JSON.Root().Member(name)
	switch node.Kind() {
	case canon.KindInvalid, canon.KindNull:
		return nil, nil
	case canon.KindArray:
	default:
		return nil, protocol.Invalid(name, "expected an array of messages")
	}
	for _, element := range node.Elements() {
		m, err := readMessage(element, name)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

func (h *Harness) updateSession(w http.ResponseWriter, r *protocol.Request) error {
	found, err := h.session(r, r.PathValue("session_id"))
	if err != nil {
		return err
	}
	metadata, err := objectMember(r, "metadata")
	if err != nil {
		return err
	}
	if _, err := textMember(r, "summary"); err != nil {
		return err
	}

	return h.write(w, r, http.StatusOK, journal.Pointer{Object: "session", ID: found.ID}, func() ([]journal.Event, error) {
		told := object{"metadata": metadata}
		if summary := r.JSON.Root().Member("summary"); !summary.IsZero() { // null removes it
			told["summary"] = rawOf(summary)
		}
		return []journal.Event{found.event(sessionUpdated, told)}, nil
	})
}

func (h *Harness) closeSession(w http.ResponseWriter, r *protocol.Request) error {
	found, err := h.session(r, r.PathValue("session_id"))
	if err != nil {
		return err
	}
	of := journal.Pointer{Object: "session", ID: found.ID}
	return h.write(w, r, http.StatusOK, of, func() ([]journal.Event, error) {
		if s, err := h.openSession(r, found.ID); err != nil || s.State == "CLOSED" {
			return nil, nil // the session is already closed
		}
		return []journal.Event{found.event("session.closed", object{"state": "CLOSED"})}, nil
	})
}
