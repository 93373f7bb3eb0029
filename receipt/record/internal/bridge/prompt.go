package bridge

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// stopReasons maps the ACP stop reasons that are not failures to events. Any other reason, such as
// refusal, is a failure, and so is an error.
func stopReasons() event.Words {
	return event.NewWords("end_turn", "task.completed", "cancelled", "task.canceled")
}

// translatePrompt starts the task, unless task events record the start.
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

	// A second prompt does not start the task again.
	if !f.session.prompted {
		f.emit(fr, "task.submitted", members{})
	}
	f.emit(fr, "user.message", message)
	f.emit(fr, "task.started", members{})
	f.session.prompted = true
	f.requests.expect(fr, func(fr *frame) { stopped(f, fr) })
}

// translateLoad handles a request to load a session. Before the runtime responds, it repeats the
// entire conversation, including tool calls. The repeated updates are not part of the task.
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
	if f.session.stated || f.to.Ended() { // task events record the end
		f.counts.Silent++
		return
	}
	if fault := fr.Root.Member("error"); !event.Absent(fault) || event.Absent(fr.Root.Member("result")) {
		f.emit(fr, "task.failed", members{"failure": members{"code": "rpc_error", "message": event.Shorten(fr.Text(fault, "message"))}})
		return
	}

	// An unknown reason counts as a failure.
	reason := fr.Text(fr.Root.Member("result"), "stopReason")
	kind := stopReasons().Meaning(reason, "task.failed")
	failure := members{"code": cmp.Or(reason, "unknown")}

	// The terminal member takes precedence over the stop reason, unless the kind of the terminal
	// member is "natural".
	if terminal := Own(fr.Root.Member("result"), "terminal"); !terminal.IsZero() {
		how, why := terminal.String(), ""
		if terminal.Kind() == canon.KindObject {
			how, why = terminal.Member("kind").String(), terminal.Member("reason").String()
		}
		if how != "natural" {
			kind = terminals().Meaning(how, "task.failed")
			failure = members{"code": cmp.Or(event.Shorten(how), "unknown"), "message": event.Shorten(why)}
		}
	}

	if kind != "task.failed" {
		f.emit(fr, kind, members{})
		return
	}
	f.emit(fr, kind, members{"failure": failure})
}

// terminals maps the kinds of _meta.harn.terminal to events, except "natural" and the kinds that
// are failures. The stop reason is end_turn even if a policy or an exception ended the turn. A
// suspended turn may be resumed.
func terminals() event.Words {
	return event.NewWords("user_cancelled", "task.canceled", "suspended", "task.input_required")
}

// translateControl translates the report of the runtime about a control message.
func translateControl(f *Translator, fr *frame) {
	u := fr.update
	if fr.str(u, "method") != methodCancel || fr.str(u, "status") != "accepted" {
		f.counts.Silent++
		return
	}
	actor := Own(u, "actor")
	if actor.Kind() == canon.KindObject {
		actor = actor.Member("id")
	}
	if actor.Kind() != canon.KindString {
		actor = canon.Node{}
	}
	f.emit(fr, "user.cancel_requested", members{"actor": actor, "reason": event.Shorten(fr.str(u, "reason"))})
}

func translateCancel(f *Translator, fr *frame) {
	f.emit(fr, "user.cancel_requested", members{"actor": fr.str(fr.params, "actor"), "reason": event.Shorten(fr.str(fr.params, "reason"))})
}
