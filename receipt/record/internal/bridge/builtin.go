package bridge

import (
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A hostCall is a call that the runtime makes and the host answers. The response ends the call.
type hostCall struct {
	id, name, kind string
	input          canon.Node
	path           string // path of the file to write
	content        string // digest of the content to write; "" if unknown
	writes         bool   // the call writes unless the response states otherwise
}

// translateBuiltin translates a call to one of the host's tools.
func translateBuiltin(f *Translator, fr *frame) {
	p := fr.params
	call(f, fr, hostCall{id: hostID(f, fr, "builtin:"), name: fr.str(p, "name"), input: Own(p, "args", "arguments", "input", "payload")})
}

// translateHost translates a call to one of the host's capabilities.
func translateHost(f *Translator, fr *frame) {
	p := fr.params
	c := hostCall{id: hostID(f, fr, "host:"), name: fr.Kind, input: p}
	switch fr.Kind {
	case methodHost:
		if c.name, c.input = fr.str(p, "name"), Own(p, "args"); aboutHost(c.name) {
			f.counts.Silent++
			return
		}
		c.kind = capabilityKinds().Meaning(c.name, "")
	case methodWriteFile:
		c.kind = "edit"
	case methodReadFile:
		c.kind = "read"
	case methodTerminal:
		c.kind = "execute"
	}

	if at := c.input.Member("path"); at.Kind() == canon.KindString && len(at.Text()) <= event.MaxText {
		c.path = at.String()
	}
	if text := c.input.Member("content"); text.Kind() == canon.KindString && whole(c.input) {
		c.content = canon.Sum(text.Text()).String()
	}
	c.writes = c.kind == "edit" && c.path != ""
	call(f, fr, c)
}

// capabilityKinds maps the capabilities of the host to kinds of calls. Any other capability has an
// unknown kind.
func capabilityKinds() event.Words {
	return event.NewWords("workspace.read_text", "read", "workspace.list", "read", "workspace.exists", "read", "workspace.stat", "read",
		"workspace.write_text", "edit", "process.exec", "execute")
}

// aboutHost reports whether a capability only queries the host's configuration.
func aboutHost(name string) bool {
	switch name {
	case "session.active_roots", "project.mcp_config", "process.list_shells", "process.get_default_shell", "process.shell_invocation":
		return true
	}
	return false
}

// whole reports whether the written content is the entire file.
func whole(args canon.Node) bool {
	for _, name := range []string{"append", "mode", "encoding", "offset", "range", "line"} {
		if !event.Absent(args.Member(name)) {
			return false
		}
	}
	return true
}

// call records a call to the host, and waits for its response.
func call(f *Translator, fr *frame, c hostCall) {
	if c.name == "" || fr.Err != nil {
		f.counts.Unknown++
		f.unread.note(f, fr, fr.Kind+" without a name", fr.Root)
		return
	}
	f.emit(fr, "tool.requested", members{"tool_call_id": c.id, "name": c.name, "kind": c.kind, "input": c.input, "executor": "host_bridge"})
	f.calls.named(fr, c.id).told = true

	// The output is the result that the host returns.
	fr.expects = true
	f.requests.expect(fr, func(fr *frame) {
		p := members{"tool_call_id": c.id, "kind": c.kind, "executor": "host_bridge"}
		if fault := fr.Root.Member("error"); !event.Absent(fault) {
			p["error_category"], p["error_sha256"] = "host_bridge_error", event.HashOf(fault).String()
			f.emit(fr, "tool.failed", p)
			return
		}

		// null is also an output, but a null node would be omitted.
		result := fr.Root.Member("result")
		p["output"] = result
		if result.IsZero() || result.Kind() == canon.KindNull {
			p["output"] = raw("null")
		}
		p["fs_writes"] = c.wrote(result)
		f.emit(fr, "tool.completed", p)
	})
}

// wrote returns the writes that a response implies, or nil if the writes are unknown.
func (c *hostCall) wrote(result canon.Node) any {
	switch told := result.Member("written"); {
	case told.Kind() == canon.KindBool && !told.Bool():
		return raw("[]")
	case told.Bool() && c.path != "", c.writes:
		return []members{{"path": c.path, "after_sha256": c.content}}
	}
	return nil
}

// hostID returns a call's ID or, if the call has no ID, an ID derived from its request. Successive
// requests may have the same ID, so later calls are numbered.
func hostID(f *Translator, fr *frame, prefix string) string {
	if id := fr.str(fr.params, "toolCallId", "tool_call_id", "callId", "call_id"); id != "" {
		return id
	}
	id := fr.Root.Member("id")
	base := prefix + string(id.AppendCanonical(nil))
	if id.Kind() == canon.KindString {
		base = prefix + id.String()
	}
	if f.calls.numbers[base]++; f.calls.numbers[base] == 1 {
		f.budget.Charge(&fr.Event, fr.params, len(base)+event.TextCost)
		return base
	}
	return base + "#" + strconv.Itoa(f.calls.numbers[base])
}
