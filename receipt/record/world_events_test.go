package record_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// eventEpisodes returns the episodes for a log that consists of events.
func eventEpisodes() []func(*author) *episode {
	return []func(*author) *episode{
		(*author).plainCall, (*author).plainCall, (*author).failedCall, (*author).openCall, (*author).droppedCall,
		(*author).completedThenRejected, (*author).executedThenRejected, (*author).failedAfterWriting,
		(*author).approvedCall, (*author).rewrittenCall, (*author).ranOtherwise, (*author).deniedCall, (*author).pendingApproval,
		(*author).confirmedByFlag, (*author).foreignAnswer, (*author).quorum, (*author).tooLate, (*author).contradictoryAnswer,
		(*author).observedEgress, (*author).observedWrite, (*author).oddHost, (*author).oddPath,
		(*author).modelCall, (*author).modelCall, (*author).modelWithoutCost, (*author).unfinishedModel, (*author).toolSpanCost,
		(*author).toldBackwards, (*author).seenAndRejected, (*author).rejectedThenCompleted, (*author).ranAllTheSame, (*author).rewrittenByDigest, (*author).reviewedByMany,
		(*author).questionWithoutCall, (*author).silentSelfReport, (*author).failedSpans, (*author).renamed, (*author).remoteServer, (*author).appliedArtifact, (*author).currencies,
		(*author).artifact, (*author).handedOff, (*author).otherTask, (*author).vendorEvent, (*author).message,
	}
}

func (a *author) events(name string, lines []row, facts func(*ledger, finish)) *episode {
	return a.place(&episode{name: name, rows: lines, facts: facts})
}

// requested returns the line that opens a call.
func requested(a *author, call, tool string, input any) row {
	return row{event: oneOf(a, "tool.requested", "tool.requested", "agent.tool_use"), payload: members{"tool_call_id": call, "name": tool, "input": input}}
}

func (a *author) plainCall() *episode {
	id, tool, in, out := a.name("call"), a.name("tool"), a.value(), a.value()
	done := members{"tool_call_id": id, "output": out}
	if status := oneOf(a, "", "success", "ok", "completed", "succeeded"); status != "" {
		done["status"] = status
	}
	c := calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true}
	var w []written
	if a.chance(40) {
		w = append(w, written{a.name("src/f"), oneOf(a, "create", "modify", "delete")})
		done["fs_writes"] = []any{members{"path": w[0].path, "operation": w[0].operation}}
	}
	var hosts []string
	if a.chance(30) {
		hosts = append(hosts, a.name("h")+".example")
		done["network_egress"] = []any{members{"host": hosts[0]}}
	}
	lines := []row{requested(a, id, tool, in), {event: oneOf(a, "tool.completed", "tool.completed", "agent.tool_result"), payload: done}}
	if a.chance(30) { // both the transcript and the runtime record this result
		lines = append(lines, row{event: oneOf(a, "tool.completed", "agent.tool_result"), payload: done})
	}
	return a.events("a call", lines, func(l *ledger, _ finish) {
		l.calls = append(l.calls, c)
		l.writes = append(l.writes, w...)
		l.hosts = append(l.hosts, hosts...)
	})
}

func (a *author) failedCall() *episode {
	id, tool, in := a.name("call"), a.name("tool"), a.value()
	last := oneOf(a,
		row{event: "tool.failed", payload: members{"tool_call_id": id, "error_category": oneOf(a, "tool_error", "timeout", "network", "mcp_server_error")}},
		row{event: "tool.completed", payload: members{"tool_call_id": id, "status": oneOf(a, "error", "failed", "Success", "done")}}, // an unknown status word does not mean success
		row{event: "agent.tool_result", payload: members{"tool_call_id": id, "is_error": true}})
	return a.events("a call that fails", []row{requested(a, id, tool, in), last}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"failed"}, input: in, ran: true})
	})
}

func (a *author) openCall() *episode {
	id, tool, in := a.name("call"), a.name("tool"), a.value()
	return a.events("a call without an end", []row{requested(a, id, tool, in)}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"canceled"}, input: in, open: true})
	})
}

func (a *author) droppedCall() *episode {
	id, tool := a.name("call"), a.name("tool")
	return a.events("a candidate that was dropped", []row{
		requested(a, id, tool, a.value()),
		{event: "tool.failed", payload: members{"tool_call_id": id, "error_category": oneOf(a, "parse_aborted", "rejected_loop")}},
	}, func(l *ledger, _ finish) { l.dropped++ })
}

func (a *author) completedThenRejected() *episode {
	id, tool, in, out := a.name("call"), a.name("tool"), a.value(), a.value()
	w, host := written{a.name("src/g"), "modify"}, a.name("h")+".example"
	return a.events("a call that ran, and is said to be rejected", []row{
		requested(a, id, tool, in),
		{event: "tool.completed", payload: members{"tool_call_id": id, "output": out, "fs_writes": []any{members{"path": w.path, "operation": w.operation}}, "network_egress": []any{members{"url": "https://" + host + "/x"}}}},
		{event: "tool.failed", payload: members{"tool_call_id": id, "error_category": oneOf(a, "rejected_loop", "parse_aborted")}},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded", "failed"}, input: in, output: out, ran: true})
		l.writes, l.hosts = append(l.writes, w), append(l.hosts, host)
	})
}

func (a *author) executedThenRejected() *episode {
	id, tool, in := a.name("call"), a.name("tool"), a.value()
	host := a.name("h") + ".example"
	return a.events("a call that was executed, and is rejected", []row{
		requested(a, id, tool, in),
		{event: "tool.failed", payload: members{"tool_call_id": id, "executed": true, "error_category": oneOf(a, "rejected_loop", "parse_aborted"), "network_egress": []any{members{"host": host}}}},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"failed"}, input: in, ran: true})
		l.hosts = append(l.hosts, host)
	})
}

func (a *author) failedAfterWriting() *episode {
	id, tool, in := a.name("call"), a.name("tool"), a.value()
	w := written{a.name("src/h"), "modify"}
	return a.events("a call that wrote, and failed", []row{
		requested(a, id, tool, in),
		{event: "tool.failed", payload: members{"tool_call_id": id, "error_category": "tool_error", "fs_writes": []any{members{"path": w.path}}}},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"failed"}, input: in, ran: true})
		l.writes = append(l.writes, w)
	})
}

// asked returns the question whether a call may run.
func asked(approval, call, tool string, input any) row {
	return row{event: "tool.approval_required", payload: members{"approval_id": approval, "tool_call_id": call, "name": tool, "input": input}}
}

// granted returns a person's approval.
func granted(a *author, approval, call, who string) row {
	return oneOf(a,
		row{event: "tool.approved", payload: members{"approval_id": approval, "tool_call_id": call, "actor": who}},
		row{event: "user.tool_confirmation", payload: members{"approval_id": approval, "tool_call_id": call, "actor": who, "decision": "approved"}},
		row{event: "tool.approved", payload: members{"approval_id": approval, "tool_call_id": call, "actor": members{"id": who}, "decision": "approved"}})
}

func (a *author) approvedCall() *episode {
	id, approval, tool, who, in, out := a.name("call"), a.name("approval"), a.name("tool"), a.name("user"), a.value(), a.value()
	lines := []row{requested(a, id, tool, in), asked(approval, id, tool, in), granted(a, approval, id, who), {event: "tool.completed", payload: members{"tool_call_id": id, "output": out}}}
	if a.chance(30) {
		lines[3].payload["input"] = in
	}
	return a.events("a call that was approved", lines, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true})
		l.approvals = append(l.approvals, answered{approval, "approved", who})
	})
}

// rewrittenCall is a call whose arguments were changed by the approver. It ran with the arguments
// that the runtime records or, if there are none, with the approved arguments.
func (a *author) rewrittenCall() *episode {
	id, approval, tool, who := a.name("call"), a.name("approval"), a.name("tool"), a.name("user")
	first, second, out := a.value(), a.value(), a.value()
	ran, done := second, members{"tool_call_id": id, "output": out}
	switch a.IntN(3) {
	case 0:
		done["input"] = second
	case 1:
		done["input"], ran = first, first
	}
	return a.events("a call with arguments that the approver changed", []row{
		requested(a, id, tool, first), asked(approval, id, tool, first),
		{event: "tool.approved", payload: members{"approval_id": approval, "tool_call_id": id, "actor": who, "args": second}},
		{event: "tool.completed", payload: done},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: ran, output: out, ran: true, differs: digestOf(ran) != digestOf(second)})
		l.approvals = append(l.approvals, answered{approval, "approved", who})
	})
}

func (a *author) ranOtherwise() *episode {
	id, approval, tool, who := a.name("call"), a.name("approval"), a.name("tool"), a.name("user")
	first, other, out := a.value(), a.value(), a.value()
	return a.events("a call that ran with other arguments than were approved", []row{
		requested(a, id, tool, first), asked(approval, id, tool, first), granted(a, approval, id, who),
		{event: "tool.completed", payload: members{"tool_call_id": id, "input": other, "output": out}},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: other, output: out, ran: true, differs: true})
		l.approvals = append(l.approvals, answered{approval, "approved", who})
	})
}

func (a *author) deniedCall() *episode {
	id, approval, tool, who, in := a.name("call"), a.name("approval"), a.name("tool"), a.name("user"), a.value()
	lines := []row{
		requested(a, id, tool, in), asked(approval, id, tool, in),
		{event: "tool.denied", payload: members{"approval_id": approval, "tool_call_id": id, "actor": who}},
	}
	if a.chance(50) {
		lines = append(lines, row{event: "tool.failed", payload: members{"tool_call_id": id, "error_category": "permission_denied"}})
	}
	if a.chance(30) { // a later approval does not change a refusal
		lines = append(lines, row{event: "tool.approved", payload: members{"approval_id": approval, "tool_call_id": id, "actor": a.name("user")}})
	}
	return a.events("a call that was denied", lines, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"canceled"}, input: in})
		l.approvals = append(l.approvals, answered{approval, "denied", who})
	})
}

func (a *author) pendingApproval() *episode {
	id, approval, tool, in := a.name("call"), a.name("approval"), a.name("tool"), a.value()
	return a.events("a question that nobody answered", []row{requested(a, id, tool, in), asked(approval, id, tool, in)}, func(l *ledger, end finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"canceled"}, input: in, open: true})
		l.approvals = append(l.approvals, answered{approval, unanswered(end), ""})
	})
}

// unanswered returns the final decision on a question that was not answered.
func unanswered(end finish) string {
	if end == canceled {
		return "canceled"
	}
	return "timeout"
}

func (a *author) confirmedByFlag() *episode {
	approval, who := a.name("approval"), a.name("user")
	answer, decision := members{"approval_id": approval, "actor": who}, "approved"
	switch a.IntN(3) {
	case 0:
		answer["approved"] = true
	case 1:
		answer["accepted"] = true
	default:
		answer["approved"], decision = false, "denied"
	}
	return a.events("a confirmation without a decision", []row{
		{event: "tool.approval_required", payload: members{"approval_id": approval, "action": "act"}},
		{event: "user.tool_confirmation", payload: answer},
	}, func(l *ledger, _ finish) { l.approvals = append(l.approvals, answered{approval, decision, who}) })
}

// foreignAnswer is an answer from a person in another session to a question with the same name.
func (a *author) foreignAnswer() *episode {
	approval := a.name("approval")
	answer := oneOf(a,
		row{event: "user.tool_confirmation", payload: members{"approval_id": approval, "actor": "stranger", "decision": "approved"}},
		row{event: "hitl.approval_approved", payload: members{"request_id": approval, "actor": "stranger", "approved": true}},
		row{event: "tool.approved", payload: members{"approval_id": approval, "actor": "stranger"}})
	answer.envelope = members{"session_id": "another_session"}
	e := a.events("an answer of another session", []row{
		{event: "tool.approval_required", payload: members{"approval_id": approval, "action": "act"}}, answer,
	}, func(l *ledger, end finish) {
		l.approvals = append(l.approvals, answered{approval, unanswered(end), ""})
	})
	e.refuse = may
	return e
}

func (a *author) quorum() *episode {
	approval, one, two := a.name("approval"), a.name("user"), a.name("user")
	yes := func(who string) row {
		return row{event: "user.tool_confirmation", payload: members{"approval_id": approval, "actor": who, "decision": "approved"}}
	}
	lines := []row{{event: "tool.approval_required", payload: members{"approval_id": approval, "action": "act", "approvers_required": 2}}, yes(one)}
	both := a.chance(50)
	if both {
		lines = append(lines, yes(two))
	} else if a.chance(50) {
		lines = append(lines, yes(one))
	}
	return a.events("a question to two", lines, func(l *ledger, end finish) {
		if both {
			l.approvals = append(l.approvals, answered{approval, "approved", one})
			return
		}
		l.approvals = append(l.approvals, answered{approval, unanswered(end), ""})
	})
}

func (a *author) tooLate() *episode {
	approval, who := a.name("approval"), a.name("user")
	return a.events("an answer behind the deadline", []row{
		{event: "tool.approval_required", payload: members{"approval_id": approval, "action": "act", "deadline": "2026-01-01T00:00:00Z"}},
		{event: "tool.approved", payload: members{"approval_id": approval, "actor": who}},
	}, func(l *ledger, _ finish) { l.approvals = append(l.approvals, answered{approval, "timeout", who}) })
}

func (a *author) contradictoryAnswer() *episode {
	approval, who := a.name("approval"), a.name("user")
	answer := oneOf(a,
		members{"decision": "approved", "approved": false}, members{"decision": "sure"}, members{"decision": "approved", "accepted": "no"}, members{"decision": 1})
	answer["approval_id"], answer["actor"] = approval, who
	e := a.events("an answer that contradicts itself", []row{
		{event: "tool.approval_required", payload: members{"approval_id": approval, "action": "act"}},
		{event: oneOf(a, "user.tool_confirmation", "tool.approved"), payload: answer},
	}, func(l *ledger, _ finish) { l.approvals = append(l.approvals, answered{approval, "denied", who}) })
	e.refuse = may
	return e
}

// observedEgress is a call for which the tool reports one host and the span reports another.
func (a *author) observedEgress() *episode {
	id, tool, in, out := a.name("call"), a.name("tool"), a.value(), a.value()
	good, other := a.name("good")+".example", a.name("other")+".example"
	lines := []row{
		requested(a, id, tool, in),
		{event: "span.completed", payload: members{"kind": "http", "tool_call_id": id, "url": "https://u:p@" + other + ":8443/a?b"}},
		{event: "tool.completed", payload: members{"tool_call_id": id, "output": out, "network_egress": []any{members{"host": good}}}},
	}
	if a.chance(50) {
		lines[1], lines[2] = lines[2], lines[1]
	}
	return a.events("a host that the tool does not tell of", lines, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true})
		l.hosts = append(l.hosts, good, other)
	})
}

// observedWrite is a call with two writes. The tool reports only one of them. The other write is
// recorded by a span or in the transcript.
func (a *author) observedWrite() *episode {
	id, tool, in, out := a.name("call"), a.name("tool"), a.value(), a.value()
	told, other := a.name("src/told"), a.name("src/other")
	both := []any{members{"path": told, "operation": "modify"}, members{"path": other, "operation": "modify"}}
	second := oneOf(a,
		row{event: "span.completed", payload: members{"kind": "fs", "tool_call_id": id, "path": other, "operation": "modify"}},
		row{event: "agent.tool_result", payload: members{"tool_call_id": id, "output": out, "fs_writes": both}})
	return a.events("a file that the tool does not tell of", []row{
		requested(a, id, tool, in), second,
		{event: "tool.completed", payload: members{"tool_call_id": id, "output": out, "fs_writes": both[:1]}},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true})
		l.writes = append(l.writes, written{told, "modify"}, written{other, "modify"})
	})
}

// oddHost is a call with a URL that careless parsers misinterpret.
func (a *author) oddHost() *episode {
	host := a.name("h") + ".example"
	if a.chance(20) { // parsers disagree about the host in this URL
		url := `http://` + host + `\@evil.example/`
		return a.events("a URL of two hosts", []row{{event: "span.completed", payload: members{"kind": "http", "name": "get", "url": url}}}, func(l *ledger, _ finish) { l.unclear++ })
	}
	url := oneOf(a, `http://`+host+`/@evil.example`, `http://`+host+`?@evil.example`, `http://`+host+`#@evil.example`,
		`http://evil.example@`+host+`/`, `HTTP://`+strings.ToUpper(host)+`:80/x`)
	return a.events("a host in an odd URL", []row{{event: "span.completed", payload: members{"kind": "http", "name": "get", "url": url}}}, func(l *ledger, _ finish) {
		l.hosts = append(l.hosts, host)
	})
}

const beyond = "(outside the workspace)"

var outsideLabel = regexp.MustCompile(`^\(outside [1-9][0-9]*: (git hook|git directory|agent directory|temporary|below home|system|elsewhere)\)$`)

func (a *author) oddPath() *episode {
	n := a.name("x")
	path, want := n, n
	switch a.IntN(12) {
	case 6:
		path, want = `..\`+n, beyond
	case 7:
		path, want = `\\server\share\`+n, beyond
	case 8:
		path, want = "file:///etc/"+n, beyond
	case 9:
		path, want = "src//a/./"+n, "src/a/"+n
	case 10:
		path, want = "a/b/../../../"+n, beyond
	case 0:
		path, want = "/etc/"+n, beyond
	case 1:
		path, want = "src/../../"+n, beyond
	case 2:
		path, want = `src\..\..\`+n, beyond
	case 3:
		path, want = `C:\`+n, beyond
	case 4:
		path, want = "src/./../"+n, n
	case 5:
		path, want = "~/"+n, beyond
	}
	return a.events("a file in an odd place", []row{{event: "span.completed", payload: members{"kind": "fs", "path": path, "operation": "create"}}}, func(l *ledger, _ finish) {
		l.writes = append(l.writes, written{want, "create"})
	})
}

// cost returns an amount in thousandths, in one of several spellings.
func (a *author) cost() (value any, thousandths int64) {
	thousandths = int64(a.IntN(5000))
	text := fmt.Sprintf("%d.%03d", thousandths/1000, thousandths%1000)
	return oneOf[any](a, json.Number(text), text, members{"amount": json.Number(text), "currency": "USD"}), thousandths
}

func (a *author) modelCall() *episode {
	m := usedModel{a.name("provider"), a.name("model")}
	value, cost := a.cost()
	in, out := int64(a.IntN(1000)), int64(a.IntN(1000))
	done := members{"kind": oneOf(a, "llm", "llm", "LLM"), "provider": m.provider, "model": m.model, "cost": value, "input_tokens": in, "output_tokens": out, "response": a.value()}
	lines := []row{{event: "span.started", payload: members{"kind": done["kind"], "span_id": a.name("span"), "provider": m.provider, "model": m.model}}, {event: oneOf(a, "span.completed", "span.failed"), payload: done}}
	lines[1].payload["span_id"] = lines[0].payload["span_id"]
	if a.chance(50) {
		lines = lines[1:]
	}
	return a.events("a call of a model", lines, func(l *ledger, _ finish) {
		l.models = append(l.models, m)
		l.spent.thousandths += cost
		l.spent.told, l.spent.tokens = true, true
		l.spent.input += in
		l.spent.output += out
	})
}

func (a *author) modelWithoutCost() *episode {
	m := usedModel{a.name("provider"), a.name("model")}
	return a.events("a call of a model without its cost", []row{{event: "span.completed", payload: members{"kind": "llm", "provider": m.provider, "model": m.model, "response": a.value()}}}, func(l *ledger, _ finish) {
		l.models = append(l.models, m)
		l.spent.untold = true
	})
}

func (a *author) unfinishedModel() *episode {
	m := usedModel{a.name("provider"), a.name("model")}
	p := members{"kind": oneOf(a, "llm", "LLM"), "span_id": a.name("span"), "provider": m.provider, "model": m.model}
	if a.chance(30) {
		delete(p, "provider")
		delete(p, "model")
		m = usedModel{}
	}
	return a.events("a call of a model that never ended", []row{{event: "span.started", payload: p}}, func(l *ledger, _ finish) {
		l.models = append(l.models, m)
		l.spent.untold = true
		l.said = append(l.said, "nobody knows what")
	})
}

func (a *author) toolSpanCost() *episode {
	value, cost := a.cost()
	p := members{"kind": oneOf(a, "tool", "fs", "http", "search"), "provider": a.name("provider"), "cost": value}
	host, path := a.name("h")+".example", a.name("src/i")
	switch p["kind"] {
	case "http":
		p["url"] = "https://" + host
	case "fs":
		p["path"], p["operation"] = path, "modify"
	}
	return a.events("a span of another kind that cost something", []row{{event: "span.completed", payload: p}}, func(l *ledger, f finish) {
		l.spent.thousandths += cost
		l.spent.told = true
		switch p["kind"] {
		case "search":
			ignores("span kind search")(l, f)
		case "http":
			l.hosts = append(l.hosts, host)
		case "fs":
			l.writes = append(l.writes, written{path, "modify"})
		}
	})
}

func (a *author) artifact() *episode {
	id := a.name("artifact")
	var lines []row
	digest := ""
	for range 1 + a.IntN(3) {
		digest = digestOf(a.value()).String()
		lines = append(lines, row{event: oneOf(a, "artifact.created", "artifact.updated"), payload: members{"artifact_id": id, "kind": "file", "uri": "file:///" + id, "sha256": strings.TrimPrefix(digest, "sha256:")}})
	}
	lines[0].event = "artifact.created"
	return a.events("an artifact", lines, func(l *ledger, _ finish) { l.results[id] = digest })
}

func (a *author) handedOff() *episode {
	task, agent := a.name("task"), a.name("agent")
	var lines []row
	status := ""
	for range 1 + a.IntN(3) {
		status = oneOf(a, "accepted", "rejected", "failed", "completed")
		lines = append(lines, row{event: "agent.handoff", payload: members{"task_id": task, "target_agent": agent, "status": status}})
	}
	return a.events("work that was handed off", lines, func(l *ledger, _ finish) { l.handoffs[task] = status })
}

// toldBackwards is a call whose result appears in the transcript before the runtime records the
// call.
func (a *author) toldBackwards() *episode {
	id, tool, in, out := a.name("call"), a.name("tool"), a.value(), a.value()
	return a.events("a call that is told backwards", []row{
		{event: "agent.tool_result", payload: members{"tool_call_id": id, "output": out}},
		{event: "tool.requested", payload: members{"tool_call_id": id, "name": tool, "input": in}},
		{event: "tool.completed", payload: members{"tool_call_id": id, "output": out}},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true})
	})
}

// rejectedThenCompleted is a call that ran after it was reported as dropped.
func (a *author) rejectedThenCompleted() *episode {
	id, tool, in, out, host := a.name("call"), a.name("tool"), a.value(), a.value(), a.name("h")+".example"
	return a.events("a call that is said to be rejected, and ran", []row{
		requested(a, id, tool, in),
		{event: "tool.failed", payload: members{"tool_call_id": id, "error_category": oneOf(a, "rejected_loop", "parse_aborted")}},
		{event: "tool.completed", payload: members{"tool_call_id": id, "output": out, "network_egress": []any{members{"host": host}}}},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded", "failed"}, input: in, output: out, ran: true})
		l.hosts = append(l.hosts, host)
	})
}

// seenAndRejected is a call whose execution is recorded only in a span.
func (a *author) seenAndRejected() *episode {
	id, tool, in, path := a.name("call"), a.name("tool"), a.value(), a.name("src/v")
	return a.events("a call that was seen to write, and is said to be rejected", []row{
		requested(a, id, tool, in),
		{event: "span.completed", payload: members{"kind": "fs", "tool_call_id": id, "path": path, "operation": "modify"}},
		{event: "tool.failed", payload: members{"tool_call_id": id, "error_category": oneOf(a, "rejected_loop", "parse_aborted")}},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"failed"}, input: in, ran: true})
		l.writes = append(l.writes, written{path, "modify"})
	})
}

// ranAllTheSame is a call that ran although a person refused it.
func (a *author) ranAllTheSame() *episode {
	id, approval, tool, who, in, out, path := a.name("call"), a.name("approval"), a.name("tool"), a.name("user"), a.value(), a.value(), a.name("src/n")
	return a.events("a call that was denied, and ran", []row{
		requested(a, id, tool, in), asked(approval, id, tool, in),
		{event: "tool.denied", payload: members{"approval_id": approval, "tool_call_id": id, "actor": who}},
		{event: "tool.completed", payload: members{"tool_call_id": id, "output": out, "fs_writes": []any{members{"path": path, "operation": "delete"}}}},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true})
		l.approvals, l.writes = append(l.approvals, answered{approval, "denied", who}), append(l.writes, written{path, "delete"})
	})
}

// rewrittenByDigest is a call for which the log contains only digests.
func (a *author) rewrittenByDigest() *episode {
	id, approval, tool, who := a.name("call"), a.name("approval"), a.name("tool"), a.name("user")
	first, second, out := a.value(), a.value(), a.value()
	done, ran := members{"tool_call_id": id, "output_sha256": digestOf(out).String()}, second
	if a.chance(50) {
		done["input_sha256"], ran = digestOf(first).String(), first
	}
	return a.events("a call of which the log has digests", []row{
		{event: "tool.requested", payload: members{"tool_call_id": id, "name": tool, "input_sha256": digestOf(first).String()}},
		{event: "tool.approval_required", payload: members{"approval_id": approval, "tool_call_id": id, "name": tool, "input_sha256": digestOf(first).String()}},
		{event: "tool.approved", payload: members{"approval_id": approval, "tool_call_id": id, "actor": who, "args_sha256": digestOf(second).String()}},
		{event: "tool.completed", payload: done},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: ran, output: out, ran: true, differs: digestOf(ran) != digestOf(second)})
		l.approvals = append(l.approvals, answered{approval, "approved", who})
	})
}

func (a *author) reviewedByMany() *episode {
	approval, one, two, three := a.name("approval"), a.name("user"), a.name("user"), a.name("user")
	names := oneOf[any](a, []any{one, two, three}, []any{one, two}, []any{one, one})
	return a.events("a question to three", []row{
		{event: "hitl.dual_control_requested", payload: members{"request_id": approval, "approval_request": members{"id": approval, "action": "act", "approvers_required": 3}}},
		{event: "hitl.dual_control_approved", payload: members{"request_id": approval, "approved": true, "reviewers": names}},
	}, func(l *ledger, end finish) {
		if len(names.([]any)) == 3 {
			l.approvals = append(l.approvals, answered{approval, "approved", one})
			return
		}
		l.approvals = append(l.approvals, answered{approval, unanswered(end), ""})
	})
}

func (a *author) questionWithoutCall() *episode {
	approval, who := a.name("approval"), a.name("user")
	rows := []row{{event: "hitl.approval_requested", payload: members{"request_id": approval, "approval_request": members{"id": approval, "action": "act"}}}}
	want := answered{approval, "timeout", ""}
	switch a.IntN(3) {
	case 0:
		rows = append(rows, row{event: "hitl.approval_approved", payload: members{"request_id": approval, "approved": true, "actor": who}})
		want = answered{approval, "approved", who}
	case 1:
		rows = append(rows, row{event: "hitl.approval_denied", payload: members{"request_id": approval, "actor": who}})
		want = answered{approval, "denied", who}
	default: // an answer after the deadline is ignored
		rows = append(rows, row{event: "hitl.timeout", payload: members{"request_id": approval}}, row{event: "hitl.approval_approved", payload: members{"request_id": approval, "approved": true, "actor": who}})
	}
	return a.events("a durable question", rows, func(l *ledger, _ finish) { l.approvals = append(l.approvals, want) })
}

// silentSelfReport is a call that reports no writes and no network use, although spans record both.
func (a *author) silentSelfReport() *episode {
	id, tool, in, out, host, path := a.name("call"), a.name("tool"), a.value(), a.value(), a.name("h")+".example", a.name("src/s")
	return a.events("a tool that tells of nothing", []row{
		requested(a, id, tool, in),
		{event: "span.completed", payload: members{"kind": "http", "tool_call_id": id, "host": host}},
		{event: "span.completed", payload: members{"kind": "fs", "tool_call_id": id, "path": path, "operation": "create"}},
		{event: "tool.completed", payload: members{"tool_call_id": id, "output": out, "network_egress": []any{}, "fs_writes": []any{}}},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true})
		l.hosts, l.writes = append(l.hosts, host), append(l.writes, written{path, "create"})
	})
}

// failedSpans consists of a failed call that may have sent data, and a file that was read but not
// written.
func (a *author) failedSpans() *episode {
	host := a.name("h") + ".example"
	return a.events("spans that fail, and reads", []row{
		{event: "span.failed", payload: members{"kind": "http", "url": "https://" + host + "/a"}},
		{event: "span.completed", payload: members{"kind": "fs", "path": a.name("src/r"), "operation": oneOf(a, "read", "list", "stat")}},
	}, func(l *ledger, _ finish) { l.hosts = append(l.hosts, host) })
}

func (a *author) renamed() *episode {
	id, tool, from, to := a.name("call"), a.name("tool"), a.name("src/from"), a.name("src/to")
	return a.events("a file that gets another name", []row{
		requested(a, id, tool, "x"),
		{event: "tool.completed", payload: members{"tool_call_id": id, "output": "y", "fs_writes": []any{members{"path": to, "from": from, "operation": "rename"}}}},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: "x", output: "y", ran: true})
		l.writes = append(l.writes, written{from, "delete"}, written{to, "create"})
	})
}

// remoteServer is a call to an MCP server at a URL, whose host is listed in addition to the hosts
// that the tool reports.
func (a *author) remoteServer() *episode {
	id, tool, in, out, host, other := a.name("call"), a.name("tool"), a.value(), a.value(), a.name("mcp")+".example", a.name("h")+".example"
	done := members{"tool_call_id": id, "output": out, "server": "forge"}
	hosts := []string{host}
	if a.chance(50) {
		done["network_egress"], hosts = []any{members{"host": other}}, append(hosts, other)
	}
	return a.events("a call of a remote server", []row{
		{event: "agent.mcp_tool_use", payload: members{"tool_call_id": id, "name": tool, "input": in, "server": "forge", "url": "https://" + host + ":8080/mcp?key=1"}},
		{event: "tool.completed", payload: done},
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true})
		l.hosts = append(l.hosts, hosts...)
	})
}

func (a *author) appliedArtifact() *episode {
	id, path, digest := a.name("artifact"), a.name("src/p"), digestOf(a.value()).String()
	return a.events("a patch that is applied", []row{
		{event: "artifact.created", payload: members{"artifact_id": id, "kind": "patch", "sha256": digest, "path": path, "operation": "modify", "applied": true}},
	}, func(l *ledger, _ finish) {
		l.results[id] = digest
		l.writes = append(l.writes, written{path, "modify"})
	})
}

// currencies contains amounts in two currencies, which cannot be added.
func (a *author) currencies() *episode {
	if !a.chance(20) {
		return a.message()
	}
	e := a.events("costs in two currencies", []row{
		{event: "span.completed", payload: members{"kind": "llm", "provider": "p", "model": "m", "cost": members{"amount": 1, "currency": "USD"}}},
		{event: "span.completed", payload: members{"kind": "llm", "provider": "p", "model": "m", "cost": members{"amount": 1, "currency": "EUR"}}},
	}, nil)
	e.refuse = always
	return e
}

// otherTask is another task that uses the same names.
func (a *author) otherTask() *episode {
	e := oneOf(a, (*author).plainCall, (*author).approvedCall, (*author).modelCall, (*author).artifact, (*author).observedEgress)(a)
	for i := range e.rows {
		e.rows[i].envelope = members{"task_id": "another_task"}
	}
	e.name, e.facts = e.name+" of another task", nil
	return e
}

func (a *author) vendorEvent() *episode {
	p := members{"tool_call_id": a.name("call"), "cost": 9, "fs_writes": []any{members{"path": "a"}}, "approval_id": a.name("approval"), "decision": "approved"}
	return a.events("a kind that nobody knows", []row{{event: "vendor.example.thing", payload: p}}, ignores("vendor.example.thing"))
}

func (a *author) message() *episode {
	return a.events("a message", []row{{event: oneOf(a, "user.message", "agent.message"), payload: members{"text": a.name("word")}}}, nil)
}

// events returns the world as a log of events, mixed with events of other tasks. Some events are
// delivered twice.
func (w *world) events(a *author) []byte {
	lines := w.mixed()
	lines = slices.Insert(lines, 0, row{event: "task.submitted", payload: members{"autonomy_tier": "act_auto"}}, row{event: "task.started", payload: members{}})
	lines = append(lines, row{event: string(w.end), payload: members{}})
	sequences := map[string]int{}
	var log, told []byte
	for i, l := range lines {
		task := "t"
		if other, ok := l.envelope["task_id"]; ok {
			task = other.(string)
		}
		sequences[task]++
		event := members{
			"id": "event_" + strconv.Itoa(i), "object": "event", "event": l.event, "resource": members{"object": "task", "id": task}, "task_id": task,
			"session_id": "s", "workspace_id": "w", "sequence": sequences[task], "created_at": fmt.Sprintf("2026-01-01T00:%02d:%02dZ", (i+1)/60%60, (i+1)%60), "payload": l.payload,
		}
		for name, value := range l.envelope {
			event[name] = value
		}
		text, err := json.Marshal(event)
		if err != nil {
			panic(err)
		}
		log = append(append(log, text...), '\n')
		told = append(append(told[:0], text...), '\n')
		if a.chance(5) {
			log = append(log, told...)
		}
	}
	return log
}
