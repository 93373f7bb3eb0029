package bridge

import "github.com/receiptkit/receiptkit/receipt/record/event"

// A stopReason says how a prompt, and with it its task, ended.
type stopReason struct{ Reason, Event string }

// stopReasons returns those of ACP that are not a failure. Any other, such as
// refusal, is one, and so is an error.
func stopReasons() []stopReason {
	return []stopReason{
		{"end_turn", "task.completed"},
		{"cancelled", "task.canceled"},
	}
}

// translatePrompt: a prompt is the task when nothing else says when that began.
func translatePrompt(f *Translator, fr *frame) {
	fr.expects, f.session.loading, f.session.doubtful, f.session.prompting = true, false, false, true
	message := members{"content_sha256": contentOf(fr.params.Member("prompt"))}
	if event.Absent(fr.params.Member("prompt")) {
		message = members{}
	}
	if f.session.stated {
		f.emit(fr, "user.message", message)
		f.requests.expect(fr, nil)
		return
	}

	// A further prompt does not begin the task again.
	if !f.session.prompted {
		f.emit(fr, "task.submitted", members{})
	}
	f.emit(fr, "user.message", message)
	f.emit(fr, "task.started", members{})
	f.session.prompted = true
	f.requests.expect(fr, func(fr *frame) { stopped(f, fr) })
}

// translateLoad: the runtime tells the whole conversation again before it responds,
// calls of tools included. They are not this task's.
func translateLoad(f *Translator, fr *frame) {
	f.counts.Silent++
	f.session.loaded = f.session.loaded || !f.session.running()
	if event.Absent(fr.Root.Member("id")) {
		return
	}
	fr.expects, f.session.loading = true, true
	f.requests.expect(fr, func(*frame) {
		f.counts.Silent++
		f.session.loading, f.session.doubtful = false, false
	})
}

func stopped(f *Translator, fr *frame) {
	if f.session.stated || f.to.Ended() { // the task's own events say so
		f.counts.Silent++
		return
	}
	if fault := fr.Root.Member("error"); !event.Absent(fault) || event.Absent(fr.Root.Member("result")) {
		f.emit(fr, "task.failed", members{"failure": members{"code": "rpc_error", "message": event.Shorten(fr.Text(fault, "message"))}})
		return
	}

	// A reason that is not known is a failure.
	reason := fr.Text(fr.Root.Member("result"), "stopReason")
	kind := "task.failed"
	for _, s := range stopReasons() {
		if s.Reason == reason {
			kind = s.Event
		}
	}

	if kind != "task.failed" {
		f.emit(fr, kind, members{})
		return
	}
	if reason == "" {
		reason = "unknown"
	}
	f.emit(fr, kind, members{"failure": members{"code": reason}})
}

func translateCancel(f *Translator, fr *frame) {
	f.emit(fr, "user.cancel_requested", members{"actor": fr.str(fr.params, "actor"), "reason": event.Shorten(fr.str(fr.params, "reason"))})
}
