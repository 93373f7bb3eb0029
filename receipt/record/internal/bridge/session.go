package bridge

import (
	"cmp"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A session is the recorded session and its task's state.
type session struct {
	id        string // "" until a frame names a session
	named     bool   // by the options
	stated    bool   // Event recorded a task.* event, so prompts do not affect the task's state
	prompted  bool   // a prompt started the task
	prompting bool   // there was a prompt
	live      bool   // there was an update that does not belong to an earlier turn
	loading   bool   // a session/load has no response yet
	loaded    bool   // a session was loaded before a prompt
	doubtful  bool   // skipped updates may belong to the task: no response or prompt has followed yet
}

// has reports whether a frame belongs to the recorded session. If the options name no session,
// there must be only one session. Frames for durable approvals name the session in a
// runtime-specific member.
func (s *session) has(fr *frame) bool {
	id := cmp.Or(fr.Text(fr.params, "sessionId"), Own(fr.params, "session_id").String(), Own(fr.update, "session_id").String())
	if s.id == "" {
		s.id = id
	}
	if id != "" && id != s.id && !s.named {
		fr.Fail(event.CodeSession, fr.params, "expected a frame of the session %s, found one of %s; name the session that is meant", event.Quote(s.id), event.Quote(id))
	}
	return id == "" || id == s.id
}

// running reports whether the task is running, according to the frames.
func (s *session) running() bool { return s.prompting || s.live }

// loads reports whether an update is counted while a session is being loaded. Before a prompt, an
// update is part of an earlier turn. After a prompt, repeated and new updates cannot be
// distinguished: an update to a known object adds information, and any other update that states an
// action is ambiguous.
func (s *session) loads(f *Translator, fr *frame, key string) bool {
	u := fr.update
	switch _, kind, _ := strings.Cut(key, " "); kind {
	case "usage_update":
		return true
	case "tool_call", "tool_call_update", "composition_child_call", "composition_child_result":
		if _, known := f.calls.byID[u.Member("toolCallId").String()]; known {
			return true
		}
	case "worker_update":
		if _, known := f.workers[cmp.Or(Own(u, "workerId", "worker_id").String(), Own(u.Member("content"), "worker_id").String())]; known {
			return true
		}
	case "hitl_request", "hitl_resolved":
		if f.questions.asked[fr.requestID()] != nil {
			return true
		}
	case "handoff", "artifact", "transcript_compacted":
	default:
		return s.running()
	}

	// The update states an action of an unknown turn.
	if s.running() {
		fr.Fail(event.CodeAmbiguous, u, "the session was loaded while the task ran, so this update may belong to an earlier turn")
		return true
	}
	s.doubtful = true
	return false
}
