package bridge

import (
	"cmp"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A session is the recorded session with the state of its task.
type session struct {
	id        string // "" until a frame names a session
	named     bool   // by the options
	stated    bool   // Event recorded a task.* event, so prompts do not affect the state of the task
	prompted  bool   // a prompt started the task
	prompting bool   // at least one prompt was received
	live      bool   // at least one update does not belong to an earlier turn
	loading   bool   // session/load has no response yet
	loaded    bool   // a session was loaded before the first prompt
	doubtful  bool   // skipped updates may belong to the task, because no response or prompt has followed yet
}

// has reports whether a frame belongs to the recorded session. If the options do not specify a
// session, all session IDs in the frames must be the same. Frames about durable approvals name the
// session in a runtime-specific member.
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

// loads reports whether to translate an update that arrives while a session is being loaded. Before
// the first prompt, an update belongs to an earlier turn. After a prompt, repeated and new updates
// cannot be distinguished. An update to a known object adds information, and any other update that
// records an action is ambiguous.
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

	// It is unknown which turn performed the action.
	if s.running() {
		fr.Fail(event.CodeAmbiguous, u, "the session was loaded while the task ran, so this update may belong to an earlier turn")
		return true
	}
	s.doubtful = true
	return false
}
