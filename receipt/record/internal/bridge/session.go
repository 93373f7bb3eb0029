package bridge

import (
	"cmp"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A session is the one that is recorded, and how far its task has come.
type session struct {
	id        string // "" until a frame names one
	named     bool   // by the options
	stated    bool   // a task.* event came from Event: prompts say nothing of the task's life
	prompted  bool   // the life of the task is that of a prompt
	prompting bool   // a prompt came
	live      bool   // an update came that is of no earlier turn
	loading   bool   // a session/load has no response yet
	loaded    bool   // one came before a prompt
	doubtful  bool   // what was passed over while it loads may be the task's: neither a response nor a prompt came yet
}

// has reports whether a frame is of the session that is recorded. When the
// options name none there is one. Frames of durable approvals name theirs in the
// runtime's own way.
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

// running reports whether the task is at work, as far as frames tell.
func (s *session) running() bool { return s.prompting || s.live }

// loads reports whether an update counts while a session is loaded. Before a prompt
// it tells earlier turns. Behind one nothing tells what is told again and what goes
// on: an update of something known adds what is new of it, and any other that tells
// of a deed cannot be placed.
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

	// It tells of a deed, and nothing tells of which turn.
	if s.running() {
		fr.Fail(event.CodeAmbiguous, u, "the session is loaded while the task runs: nothing tells whether this is of an earlier turn")
		return true
	}
	s.doubtful = true
	return false
}
