package harness

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A Message is a message in a session or to a task.
type Message struct {
	envelope
	Role        string  `json:"role"`
	Parts       text    `json:"parts"`
	SessionID   string  `json:"session_id"`
	TaskID      *string `json:"task_id"`
	WorkspaceID string  `json:"-"`
}

func (m *Message) place() place { return place{m.WorkspaceID, m.SessionID, orNone(m.TaskID)} }

// A messageEvent is the payload of an event that contains a message. The message is in a separate
// member, because other members of these payloads have other meanings.
type messageEvent struct {
	Message struct {
		ID       string `json:"id"`
		Role     string `json:"role"`
		Parts    text   `json:"parts"`
		Metadata text   `json:"metadata"`
	} `json:"message"`
}

func (s *state) messageAppended(c *journal.Commit, e *journal.Event) error {
	var told messageEvent
	if err := payload(e, &told); err != nil || told.Message.ID == "" {
		return err
	}
	m := Message{Role: told.Message.Role, Parts: told.Message.Parts, SessionID: e.Session, WorkspaceID: e.Workspace}
	m.Metadata = told.Message.Metadata
	s.keep(&m.Parts, c, "payload", "message", "parts")
	s.keep(&m.Metadata, c, "payload", "message", "metadata")
	m.begin("message", told.Message.ID, c)
	if e.Task != "" {
		m.TaskID = &e.Task
	}
	s.messages.put(m.ID, m, m.SessionID)
	if m.TaskID == nil || m.Role != "agent" {
		return nil
	}
	return s.change(c, e, func(t *Task) { t.messages = append(slices.Clip(t.messages), m.ID) })
}

// A messageInput is a message from a client.
type messageInput struct {
	role            string
	parts, metadata json.RawMessage
	text            string          // the text of all public text parts, one part per line
	value           json.RawMessage // the content of the first JSON part, or nil if there is none
}

// told returns the payload for an event that contains the message.
func (m *messageInput) told(id string) object {
	message := object{"id": id, "role": m.role, "parts": m.parts}
	if m.metadata != nil {
		message["metadata"] = m.metadata
	}
	return object{"message": message}
}

// partMembers returns the members that each type of part has in addition to type and visibility,
// with the kinds of their values. KindInvalid means any kind.
func partMembers() map[string]map[string]canon.Kind {
	const text, any = canon.KindString, canon.KindInvalid
	return map[string]map[string]canon.Kind{
		"text":         {"text": text},
		"json":         {"value": any},
		"tool_call":    {"tool_call_id": text, "name": text, "input": canon.KindObject},
		"tool_result":  {"tool_call_id": text, "output": any, "status": text},
		"artifact_ref": {"artifact_id": text},
		"file_ref":     {"uri": text, "mime_type": text},
		"image_ref":    {"artifact_id": text, "mime_type": text},
	}
}

// readMessage parses a MessageInput. Errors use param as the name of the message.
func readMessage(node canon.Node, param string) (*messageInput, error) {
	if node.Kind() != canon.KindObject {
		return nil, protocol.Invalid(param, "expected a message, an object")
	}
	m := &messageInput{role: node.Member("role").String(), parts: rawOf(node.Member("parts"))}
	if roles := []string{"user", "assistant", "system", "tool", "agent"}; !slices.Contains(roles, m.role) {
		return nil, protocol.Invalid(param+".role", "expected one of %s", strings.Join(roles, ", "))
	}
	if node.Member("parts").Kind() != canon.KindArray || node.Member("parts").Len() == 0 {
		return nil, protocol.Invalid(param+".parts", "expected an array that is not empty")
	}
	switch metadata := node.Member("metadata"); metadata.Kind() {
	case canon.KindInvalid, canon.KindNull:
	case canon.KindObject:
		m.metadata = rawOf(metadata)
	default:
		return nil, protocol.Invalid(param+".metadata", "expected an object")
	}

	var texts []string
	for _, part := range node.Member("parts").Elements() {
		if err := checkPart(part, param+".parts"); err != nil {
			return nil, err
		}
		public := part.Member("visibility").String() == visibilities()[0]
		switch part.Member("type").String() {
		case "text":
			if !public {
				continue
			}
			texts = append(texts, part.Member("text").String())
		case "json":
			if m.value == nil {
				m.value = rawOf(part.Member("value"))
			}
		}
	}
	m.text = strings.Join(texts, "\n")
	return m, nil
}

// checkPart validates one part of a message.
func checkPart(part canon.Node, param string) error {
	members, known := partMembers()[part.Member("type").String()]
	if !known {
		return protocol.Invalid(param, "expected parts of the type text, json, tool_call, tool_result, artifact_ref, file_ref or image_ref")
	}
	if !slices.Contains(visibilities(), part.Member("visibility").String()) {
		return protocol.Invalid(param, "expected the visibility %s of each part", strings.Join(visibilities(), ", "))
	}
	for name, kind := range members {
		if node := part.Member(name); node.IsZero() || kind != canon.KindInvalid && node.Kind() != kind {
			return protocol.Invalid(param, "expected the member %s in a part of this type", name)
		}
	}
	return nil
}

func visibilities() []string { return []string{"public", "internal", "receipt_only"} }

// rawOf returns a copy of the text of a value, or nil if the value is absent.
func rawOf(node canon.Node) json.RawMessage { return slices.Clone(node.Raw()) }

func (h *Harness) createMessage(w http.ResponseWriter, r *protocol.Request) error {
	found, err := h.session(r, r.PathValue("session_id"))
	if err != nil {
		return err
	}
	m, err := readMessage(r.JSON.Root().Member("message"), "message")
	if err != nil {
		return err
	}
	of := journal.Pointer{Object: "message", ID: h.newID("message")}
	return h.write(w, r, http.StatusCreated, of, func() ([]journal.Event, error) {
		if _, err := h.openSession(r, found.ID); err != nil {
			return nil, err
		}
		return []journal.Event{found.event("session.message_appended", m.told(of.ID))}, nil
	})
}
