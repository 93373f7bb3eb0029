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

// An Artifact is the result of a task, or a resource that a client registers.
type Artifact struct {
	envelope
	Kind        string  `json:"kind"`
	MimeType    string  `json:"mime_type"`
	URI         *string `json:"uri"`
	Visibility  string  `json:"visibility"`
	SHA256      *string `json:"sha256"` // 64 hexadecimal digits, without the prefix that receipts have
	WorkspaceID string  `json:"workspace_id"`
	SessionID   *string `json:"session_id"`
	TaskID      *string `json:"task_id"`
	ReceiptID   *string `json:"receipt_id"`

	content text // a JSON string; empty if the content is stored elsewhere
}

func (a *Artifact) place() place { return place{a.WorkspaceID, orNone(a.SessionID), orNone(a.TaskID)} }

func (a *Artifact) shownTo(r *protocol.Request) bool { return r.Client.Sees(a.Visibility) }

// An artifactEvent is the payload of an artifact event.
type artifactEvent struct {
	ArtifactID string `json:"artifact_id"`
	Content    text   `json:"content"`
}

func (s *state) artifactCreated(c *journal.Commit, e *journal.Event) error {
	var told artifactEvent
	a := Artifact{WorkspaceID: e.Workspace}
	if err := payload(e, &told); err != nil {
		return err
	}
	if err := payload(e, &a); err != nil {
		return err
	}
	if e.Session != "" {
		a.SessionID = &e.Session
	}
	if e.Task != "" {
		a.TaskID = &e.Task
		if err := s.change(c, e, func(t *Task) { t.artifacts = append(slices.Clip(t.artifacts), told.ArtifactID) }); err != nil {
			return err
		}
	}
	a.content = told.Content
	s.keep(&a.content, c, "payload", "content")
	s.keep(&a.Metadata, c, "payload", "metadata")
	a.begin("artifact", told.ArtifactID, c)
	s.artifacts.put(a.ID, a, a.WorkspaceID, e.Session, e.Task)
	return nil
}

// textArtifact returns the event for a text artifact of the task. The content of the artifact is
// stored in the log.
func (t *Task) textArtifact(id, text string) journal.Event {
	return t.event("artifact.created", object{
		"artifact_id": id, "kind": "other", "mime_type": "text/plain; charset=utf-8", "visibility": "public", "uri": contentPath(id),
		"sha256": strings.TrimPrefix(canon.Sum([]byte(text)).String(), "sha256:"), "content": text,
	})
}

// contentPath returns the path under which the content of an artifact is served.
func contentPath(id string) string { return "/v1/artifacts/" + id + "/content" }

func artifactKinds() []string {
	return []string{"file", "patch", "image", "log", "diff", "receipt", "snapshot", "dataset", "other"}
}

// createArtifact registers an artifact whose content is stored elsewhere.
func (h *Harness) createArtifact(w http.ResponseWriter, r *protocol.Request) error {
	of := journal.Pointer{Object: "artifact", ID: h.newID("artifact")}
	e, err := h.readArtifact(r, of)
	if err != nil {
		return err
	}
	return h.write(w, r, http.StatusCreated, of, func() ([]journal.Event, error) {
		if e.Task != "" && read(&h.state, &h.state.tasks, e.Task).ended() {
			return nil, protocol.Conflict("the task has ended, so its receipt is final")
		}
		return []journal.Event{*e}, nil
	})
}

// readArtifact parses a RegisterArtifactRequest.
func (h *Harness) readArtifact(r *protocol.Request, of journal.Pointer) (*journal.Event, error) {
	told, texts := object{"artifact_id": of.ID}, map[string]string{}
	for _, name := range []string{"kind", "mime_type", "visibility", "uri", "sha256", "workspace_id", "session_id", "task_id"} {
		text, err := textMember(r, name)
		if err == nil {
			err = short(r, name)
		}
		if err != nil {
			return nil, err
		}
		if texts[name] = text; text != "" && !strings.HasSuffix(name, "_id") {
			told[name] = text
		}
	}
	switch {
	case !slices.Contains(artifactKinds(), texts["kind"]):
		return nil, protocol.Invalid("kind", "expected one of %s", strings.Join(artifactKinds(), ", "))
	case texts["mime_type"] == "":
		return nil, protocol.Invalid("mime_type", "expected a string that is not empty")
	case !slices.Contains(visibilities(), texts["visibility"]):
		return nil, protocol.Invalid("visibility", "expected one of %s", strings.Join(visibilities(), ", "))
	case texts["sha256"] != "" && !isDigest(texts["sha256"]):
		return nil, protocol.Invalid("sha256", "expected 64 hexadecimal digits")
	}
	metadata, err := objectMember(r, "metadata")
	if err != nil {
		return nil, err
	}
	told["metadata"] = metadata
	e := &journal.Event{Kind: "artifact.created", Resource: of, Payload: told.json()}
	return e, h.owner(r, e, texts["workspace_id"], texts["session_id"], texts["task_id"])
}

// owner determines the workspace, the session, and the task of an artifact. The named resources
// must belong together and must be visible to the client.
func (h *Harness) owner(r *protocol.Request, e *journal.Event, workspace, session, task string) error {
	if task != "" {
		t, err := h.task(r, task)
		if err != nil {
			return err
		}
		if session != "" && session != t.SessionID {
			return protocol.Invalid("session_id", "expected the session of the task")
		}
		e.Task, session = t.ID, t.SessionID
	}
	if session != "" {
		s, err := h.session(r, session)
		if err != nil {
			return err
		}
		if workspace != "" && workspace != s.WorkspaceID {
			return protocol.Invalid("workspace_id", "expected the workspace of the session")
		}
		e.Session, workspace = s.ID, s.WorkspaceID
	}
	if workspace == "" {
		return protocol.Invalid("workspace_id", "expected a workspace, a session or a task")
	}
	found, err := h.workspace(r, workspace)
	if err == nil {
		e.Workspace = found.ID
	}
	return err
}

func isDigest(text string) bool {
	_, err := canon.ParseDigest("sha256:" + strings.ToLower(text))
	return err == nil
}

// getContent responds with the content of an artifact whose content is in the log.
func (h *Harness) getContent(w http.ResponseWriter, r *protocol.Request) error {
	a, err := find(h, r, &h.state.artifacts, r.PathValue("artifact_id"))
	if err != nil {
		return err
	}
	if a.content.size() == 0 {
		return protocol.NotFound() // the content is stored at the URI of the artifact
	}
	content, err := a.text()
	if err != nil {
		return err
	}
	return protocol.Write(w, http.StatusOK, "application/octet-stream", content)
}

// text returns the content of an artifact whose content is in the log.
func (a *Artifact) text() ([]byte, error) {
	value, err := a.content.value()
	if err != nil {
		return nil, err
	}
	var content string
	err = json.Unmarshal(value, &content)
	return []byte(content), err
}
