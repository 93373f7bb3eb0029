package bridge

import (
	"cmp"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// translateBuiltin: a tool of the host, called by the runtime. Its response ends it.
func translateBuiltin(f *Translator, fr *frame) {
	p := fr.params
	name := fr.str(p, "name")
	if name == "" || fr.Err != nil {
		f.counts.Silent++
		return
	}

	id := cmp.Or(fr.str(p, "toolCallId", "tool_call_id", "callId", "call_id"), builtinID(f, fr))
	input := Own(p, "args", "arguments", "input", "payload")
	f.emit(fr, "tool.requested", members{"tool_call_id": id, "name": name, "input": input, "executor": "host_bridge"})

	// The response of the host is the output.
	fr.expects = true
	f.requests.expect(fr, func(fr *frame) {
		p := members{"tool_call_id": id, "executor": "host_bridge"}
		if fault := fr.Root.Member("error"); !event.Absent(fault) {
			p["error_category"], p["error_sha256"] = "host_bridge_error", event.HashOf(fault).String()
			f.emit(fr, "tool.failed", p)
			return
		}

		// null is an output, too; a node of it would be left out.
		p["output"] = fr.Root.Member("result")
		if p["output"] == (canon.Node{}) || fr.Root.Member("result").Kind() == canon.KindNull {
			p["output"] = raw("null")
		}
		f.emit(fr, "tool.completed", p)
	})
}

// builtinID names a call that has no name of its own by that of its request. Requests
// may have the same one, one after the other: later calls are numbered.
func builtinID(f *Translator, fr *frame) string {
	id := fr.Root.Member("id")
	base := "builtin:" + string(id.AppendCanonical(nil))
	if id.Kind() == canon.KindString {
		base = "builtin:" + id.String()
	}
	if f.builtins[base]++; f.builtins[base] == 1 {
		f.budget.Charge(&fr.Event, fr.params, len(base)+event.TextCost)
		return base
	}
	return base + "#" + strconv.Itoa(f.builtins[base])
}
