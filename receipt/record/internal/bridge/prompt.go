package bridge

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// stopReasons returns how a prompt, and with it its task, ended, for the reasons of ACP that are
// not a failure. Any other, such as refusal, is one, and so is an error.
func stopReasons() event.Words {
	return event.NewWords("end_turn", "task.completed", "cancelled", "task.canceled")
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
	kind := stopReasons().Meaning(reason, "task.failed")
	failure := members{"code": cmp.Or(reason, "unknown")}

	// What the runtime itself says of the end comes before the reason, unless it says nothing
	// against it.
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

// terminals returns the kinds of _meta.harn.terminal, other than natural, that are not a
// failure. A turn that a policy or an exception ended stops with end_turn, too. A turn that is
// suspended may be resumed.
func terminals() event.Words {
	return event.NewWords("user_cancelled", "task.canceled", "suspended", "task.input_required")
}

// translateControl: what the runtime says of a control that somebody sent.
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
