package record_test

import (
	"encoding/json"
	"fmt"
	"maps"
)

// frameEpisodes returns the episodes for a log that consists of frames.
func frameEpisodes() []func(*author) *episode {
	return []func(*author) *episode{
		(*author).bridgeCall, (*author).bridgeCall, (*author).bridgeFailed, (*author).bridgeOpen, (*author).bridgeAborted,
		(*author).bridgeRejected, (*author).bridgeAppliedAndFailed, (*author).bridgeEdit, (*author).bridgeFetch, (*author).hostTool,
		(*author).permitted, (*author).permitted, (*author).permittedRewritten, (*author).neverPermitted,
		(*author).durable, (*author).durableRefused, (*author).durableForeign, (*author).foreignSession,
		(*author).loaded, (*author).loadedOther, (*author).usage, (*author).spoken, (*author).thought, (*author).worker,
		(*author).bridgeArtifact, (*author).bridgeVendor, (*author).bridgeModel,
		(*author).foreignPrompt, (*author).resolved, (*author).noticed, (*author).deniedFetch, (*author).moved, (*author).atOnce, (*author).refusedThenResolved,
	}
}

func (a *author) frames(name string, rows []row, facts func(*ledger, finish)) *episode {
	return a.place(&episode{name: name, rows: rows, facts: facts})
}

// updated returns a session update from the agent.
func updated(kind string, more members) row { return updatedOf("s", kind, more) }

func updatedOf(session, kind string, more members) row {
	update := members{"sessionUpdate": kind}
	maps.Copy(update, more)
	return row{from: "agent", frame: members{"jsonrpc": "2.0", "method": "session/update", "params": members{"sessionId": session, "update": update}}}
}

// harn adds runtime-specific members in the place where one of the dialects has them.
func (a *author) harn(of, own members) members {
	if a.chance(50) {
		maps.Copy(of, own)
	} else {
		of["_meta"] = members{"harn": own}
	}
	return of
}

func (a *author) request(from, method string, params members) (asked row, id int) {
	a.requests++
	if id = a.requests; from == "client" { // the client used ID 1 for the prompt
		id += 1000
	}
	return row{from: from, frame: members{"jsonrpc": "2.0", "id": id, "method": method, "params": params}}, id
}

func response(from string, id int, body string, value any) row {
	return row{from: from, frame: members{"jsonrpc": "2.0", "id": id, body: value}}
}

// announced returns the update that opens a call.
func announced(id, tool, kind string, input any) row {
	return updated("tool_call", members{"toolCallId": id, "title": tool, "kind": kind, "status": "pending", "rawInput": input})
}

func (a *author) begun(id string) row {
	return updated("tool_call_update", members{"toolCallId": id, "status": "in_progress"})
}

func (a *author) bridgeCall() *episode {
	id, tool, in, out := a.name("call"), a.name("tool"), a.value(), a.value()
	rows := []row{announced(id, tool, "other", in)}
	if a.chance(70) {
		rows = append(rows, a.begun(id))
	}
	rows = append(rows, updated("tool_call_update", a.harn(members{"toolCallId": id, "status": "completed", "rawOutput": out}, members{"durationMs": 5, "executor": "harn_builtin"})))
	if a.chance(20) { // repeated
		rows = append(rows, rows[len(rows)-1])
	}
	return a.frames("a call", rows, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true})
	})
}

func (a *author) bridgeFailed() *episode {
	id, tool, in := a.name("call"), a.name("tool"), a.value()
	category, status := "tool_error", "failed"
	if a.chance(30) {
		category, status = "cancelled", "canceled"
	}
	return a.frames("a call that fails", []row{
		announced(id, tool, "execute", in), a.begun(id),
		updated("tool_call_update", a.harn(members{"toolCallId": id, "status": "failed"}, members{"errorCategory": category})),
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{status}, input: in, ran: status == "failed"})
	})
}

func (a *author) bridgeOpen() *episode {
	id, tool, in := a.name("call"), a.name("tool"), a.value()
	rows := []row{announced(id, tool, "execute", in)}
	if a.chance(50) {
		rows = append(rows, a.begun(id))
	}
	return a.frames("a call without an end", rows, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"canceled"}, input: in, open: true})
	})
}

func (a *author) bridgeAborted() *episode {
	id, tool := a.name("call"), a.name("tool")
	return a.frames("a candidate that was dropped", []row{
		updated("tool_call", a.harn(members{"toolCallId": id, "title": tool, "status": "pending"}, members{"parsing": true})),
		updated("tool_call_update", a.harn(members{"toolCallId": id, "status": "failed"}, members{"parsing": false, "errorCategory": "parse_aborted"})),
	}, func(l *ledger, _ finish) { l.aborted++ })
}

func (a *author) bridgeRejected() *episode {
	id, tool, in, out := a.name("call"), a.name("tool"), a.value(), a.value()
	path := a.name("src/r")
	return a.frames("a call that ran, and is said to be rejected", []row{
		announced(id, tool, "edit", in), a.begun(id),
		updated("tool_call_update", a.harn(members{"toolCallId": id, "status": "completed", "rawOutput": out}, members{"mutationStatus": "applied", "changedPaths": []any{path}})),
		updated("tool_call_update", a.harn(members{"toolCallId": id, "status": "failed"}, members{"errorCategory": oneOf(a, "rejected_loop", "parse_aborted")})),
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded", "failed"}, input: in, output: out, ran: true})
		l.writes = append(l.writes, written{path, "modify"})
	})
}

func (a *author) bridgeAppliedAndFailed() *episode {
	id, tool, in, path := a.name("call"), a.name("tool"), a.value(), a.name("src/a")
	return a.frames("a call that wrote, and failed", []row{
		announced(id, tool, oneOf(a, "edit", "execute"), in), a.begun(id),
		updated("tool_call_update", a.harn(members{"toolCallId": id, "status": "failed"}, members{"errorCategory": "tool_error", "mutationStatus": "applied", "changedPaths": []any{path}})),
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"failed"}, input: in, ran: true})
		l.writes = append(l.writes, written{path, "modify"})
	})
}

func (a *author) bridgeEdit() *episode {
	id, tool, in, out, path := a.name("call"), a.name("tool"), a.value(), a.value(), a.name("src/e")
	kind := oneOf(a, "edit", "delete", "execute")
	own := members{"changedPaths": []any{path}, "mutationStatus": oneOf(a, "applied", "applied", "not_applied", "unchanged")}
	return a.frames("an edit", []row{
		announced(id, tool, kind, in),
		updated("tool_call_update", a.harn(members{"toolCallId": id, "status": "completed", "rawOutput": out}, own)),
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true})
		switch {
		case own["mutationStatus"] != "applied":
		case kind == "delete":
			l.writes = append(l.writes, written{path, "delete"})
		default:
			l.writes = append(l.writes, written{path, "modify"})
		}
	})
}

func (a *author) bridgeFetch() *episode {
	id, tool, out, host := a.name("call"), a.name("tool"), a.value(), a.name("h")+".example"
	in := members{"url": "https://user:pw@" + host + ":444/a?key=1"}
	return a.frames("a fetch", []row{
		announced(id, tool, "fetch", in), updated("tool_call_update", members{"toolCallId": id, "status": "completed", "rawOutput": out}),
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true})
		l.hosts = append(l.hosts, host)
	})
}

// hostTool is a call to a tool that the host provides. No frame contains the ID of the call.
func (a *author) hostTool() *episode {
	tool, in, out := a.name("builtin"), a.value(), a.value()
	asked, id := a.request("agent", "builtin_call", members{"name": tool, "args": in})
	c := calledTool{tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true}
	rows := []row{asked, response("client", id, "result", out)}
	switch a.IntN(4) {
	case 0:
		rows[1] = response("client", id, "error", members{"code": -32000, "message": "no"})
		c.status, c.output = []string{"failed"}, nil
	case 1:
		rows, c.status, c.output, c.ran, c.open = rows[:1], []string{"canceled"}, nil, false, true
	}
	return a.frames("a tool of the host", rows, func(l *ledger, _ finish) { l.calls = append(l.calls, c) })
}

// permission returns a permission request in one of the dialects, with its options.
func (a *author) permission(call, tool string, input any, optional bool) (asked row, id int) {
	params := members{"sessionId": "s", "toolCall": members{"toolCallId": call, "title": tool, "rawInput": input}}
	if optional {
		params["options"] = []any{members{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, members{"optionId": "no", "name": "No", "kind": "reject_once"}}
	}
	return a.request("agent", "session/request_permission", params)
}

func (a *author) permitted() *episode {
	id, tool, in, out := a.name("call"), a.name("tool"), a.value(), a.value()
	optional := a.chance(60)
	asked, number := a.permission(id, tool, in, optional)
	selected := func(option string) any {
		return members{"outcome": members{"outcome": "selected", "optionId": option}}
	}
	body, decision := "result", "denied"
	var answer any
	switch n := a.IntN(8); {
	case n < 3 && optional:
		answer, decision = selected("yes"), "approved"
	case n < 3:
		answer, decision = oneOf[any](a, members{"granted": true}, members{"outcome": "allow"}, members{"outcome": members{"outcome": "selected"}}), "approved"
	case n == 3:
		answer, decision = members{"outcome": members{"outcome": "cancelled"}}, "canceled"
	case n == 4:
		body, answer = "error", members{"code": -32601, "message": "method not found"}
	case optional:
		answer = oneOf[any](a, selected("no"), selected("maybe"), members{"granted": true}, members{"outcome": members{"outcome": "selected"}})
	default:
		answer = oneOf[any](a, members{"granted": false, "reason": "no"}, members{}, members{"granted": true, "outcome": "allow"})
	}
	c := calledTool{id: id, tool: tool, status: []string{"canceled"}, input: in}
	last := updated("tool_call_update", a.harn(members{"toolCallId": id, "status": "failed"}, members{"errorCategory": "permission_denied"}))
	if decision == "approved" {
		c.status, c.output, c.ran = []string{"succeeded"}, out, true
		last = updated("tool_call_update", members{"toolCallId": id, "status": "completed", "rawOutput": out})
	}
	return a.frames("a permission: "+decision, []row{announced(id, tool, "other", in), asked, response("client", number, body, answer), last}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, c)
		l.approvals = append(l.approvals, answered{id, decision, ""})
	})
}

func (a *author) permittedRewritten() *episode {
	id, tool, in, other, out := a.name("call"), a.name("tool"), a.value(), a.value(), a.value()
	asked, number := a.permission(id, tool, in, false)
	ran, last := other, members{"toolCallId": id, "status": "completed", "rawOutput": out}
	switch a.IntN(3) {
	case 0:
		last["rawInput"] = other
	case 1:
		last["rawInput"], ran = in, in
	}
	return a.frames("a permission for other arguments", []row{
		announced(id, tool, "other", in), asked, response("client", number, "result", members{"granted": true, "args": other, "reviewer": "robin"}), updated("tool_call_update", last),
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: ran, output: out, ran: true, differs: digestOf(ran) != digestOf(other)})
		l.approvals = append(l.approvals, answered{id, "approved", "robin"})
	})
}

func (a *author) neverPermitted() *episode {
	id, tool, in := a.name("call"), a.name("tool"), a.value()
	asked, _ := a.permission(id, tool, in, a.chance(50))
	return a.frames("a permission without an answer", []row{announced(id, tool, "other", in), asked}, func(l *ledger, end finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"canceled"}, input: in, open: true})
		l.approvals = append(l.approvals, answered{id, unanswered(end), ""})
	})
}

// durably returns the request for a durable approval.
func (a *author) durably(question string) row {
	return row{from: "agent", frame: members{"jsonrpc": "2.0", "method": "harn.hitl.requested", "params": members{
		"sessionId": "s", "request_id": question, "approval_request": members{"id": question, "action": "act", "approvers_required": 1},
	}}}
}

func (a *author) durable() *episode {
	question, who := a.name("question"), a.name("user")
	yes := a.chance(60)
	answer, id := a.request("client", "harn.hitl.respond", members{"sessionId": "s", "request_id": question, oneOf(a, "approved", "accepted"): yes, "reviewer": who})
	return a.frames("a durable approval", []row{a.durably(question), answer, response("agent", id, "result", members{})}, func(l *ledger, _ finish) {
		decision := "denied"
		if yes {
			decision = "approved"
		}
		l.approvals = append(l.approvals, answered{question, decision, who})
	})
}

// durableRefused is an answer that the runtime refused.
func (a *author) durableRefused() *episode {
	question, who := a.name("question"), a.name("user")
	answer, id := a.request("client", "harn.hitl.respond", members{"sessionId": "s", "request_id": question, "approved": true, "reviewer": who})
	return a.frames("an answer that the runtime refused", []row{a.durably(question), answer, response("agent", id, "error", members{"code": -32000, "message": "you may not"})}, func(l *ledger, end finish) {
		l.approvals = append(l.approvals, answered{question, unanswered(end), ""})
	})
}

func (a *author) durableForeign() *episode {
	question := a.name("question")
	answer, id := a.request("client", "harn.hitl.respond", members{"sessionId": "another_session", "request_id": question, "approved": true, "reviewer": "stranger"})
	e := a.frames("an answer of another session", []row{a.durably(question), answer, response("agent", id, "result", members{})}, func(l *ledger, end finish) {
		l.approvals = append(l.approvals, answered{question, unanswered(end), ""})
	})
	e.refuse = may
	return e
}

// foreignSession is another session that calls tools, asks questions, and has costs.
func (a *author) foreignSession() *episode {
	id, path := a.name("call"), a.name("src/x")
	asked, number := a.request("agent", "session/request_permission", members{"sessionId": "another_session", "toolCall": members{"toolCallId": id, "title": "t"}})
	return a.frames("another session", []row{
		updatedOf("another_session", "tool_call", members{"toolCallId": id, "title": "t", "kind": "edit", "status": "pending"}),
		asked, response("client", number, "result", members{"granted": true}),
		updatedOf("another_session", "tool_call_update", members{"toolCallId": id, "status": "completed", "mutationStatus": "applied", "changedPaths": []any{path}}),
		updatedOf("another_session", "usage_update", members{"used": 1, "size": 2, "cost": members{"amount": 9, "currency": "USD"}}),
	}, nil)
}

// loaded is a client that loads the session while the session is running.
func (a *author) loaded() *episode {
	id, tool, in, out := a.name("call"), a.name("tool"), a.value(), a.value()
	load, number := a.request("client", "session/load", members{"sessionId": "s", "cwd": "/", "mcpServers": []any{}})
	rows := []row{announced(id, tool, "other", in), a.begun(id), load, updated("tool_call_update", members{"toolCallId": id, "status": "completed", "rawOutput": out})}
	if a.chance(60) {
		rows = append(rows, response("agent", number, "result", nil))
	}
	e := a.frames("the session is loaded while it runs", rows, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true})
	})
	e.refuse = may
	return e
}

func (a *author) loadedOther() *episode {
	load, number := a.request("client", "session/load", members{"sessionId": "another_session"})
	rows := []row{load, updatedOf("another_session", "tool_call", members{"toolCallId": a.name("call"), "title": "t", "status": "completed"})}
	if a.chance(50) {
		rows = append(rows, response("agent", number, "result", nil))
	}
	return a.frames("another session is loaded", rows, nil)
}

// usage is a series of reports about the session's cost. Only the last report applies.
func (a *author) usage() *episode {
	if a.priced {
		return a.spoken()
	}
	a.priced = true
	var rows []row
	cost := int64(0)
	for range 1 + a.IntN(4) {
		cost = int64(a.IntN(100)) // only the last report applies
		rows = append(rows, updated("usage_update", members{"used": a.IntN(1000), "size": 200_000, "cost": members{"amount": json.Number(fmt.Sprintf("%d.%03d", cost/1000, cost%1000)), "currency": "USD"}}))
	}
	return a.frames("what the session cost", rows, func(l *ledger, _ finish) {
		l.spent.thousandths, l.spent.told = l.spent.thousandths+cost, true
		l.models = append(l.models, usedModel{})
	})
}

func (a *author) spoken() *episode {
	text := a.name("word ")
	var rows []row
	for _, part := range []string{"I say ", text, "."} {
		rows = append(rows, updated("agent_message_chunk", members{"content": members{"type": "text", "text": part}}))
	}
	return a.frames("a message", rows, func(l *ledger, _ finish) { l.messages = append(l.messages, text) })
}

func (a *author) thought() *episode {
	return a.frames("a thought", []row{updated("agent_thought_chunk", members{"content": members{"type": "text", "text": a.name("thought ")}})}, nil)
}

func (a *author) worker() *episode {
	id, task := a.name("worker"), a.name("run")
	update := func(status string) row {
		return updated("worker_update", members{"workerId": id, "workerName": "gardener", "event": "WorkerProgressed", "status": status, "terminal": false, "metadata": members{"child_run_id": task}})
	}
	rows, status := []row{update("running")}, "accepted"
	if a.chance(60) {
		word := oneOf(a, "completed", "failed", "cancelled", "stopped")
		rows = append(rows, update(word))
		if status = "failed"; word == "completed" {
			status = "completed"
		}
	}
	return a.frames("a worker", rows, func(l *ledger, _ finish) { l.handoffs[task] = status })
}

func (a *author) bridgeArtifact() *episode {
	id, digest := a.name("artifact"), digestOf(a.value()).String()
	return a.frames("an artifact", []row{updated("artifact", members{"artifactId": id, "kind": "file", "uri": "file:///" + id, "sha256": digest})}, func(l *ledger, _ finish) { l.results[id] = digest })
}

func (a *author) bridgeVendor() *episode {
	return a.frames("an update that nobody knows", []row{
		updated("vendor_thing", members{"toolCallId": a.name("call"), "status": "completed", "cost": members{"amount": 9, "currency": "USD"}}),
		updated("fs_watch", members{"subscriptionId": "1", "events": []any{members{"kind": "modify", "paths": []any{a.name("src/w")}}}}),
	}, ignores("session/update vendor_thing"))
}

// bridgeModel is a line among the frames that records a model call.
func (a *author) bridgeModel() *episode {
	if a.priced {
		return a.thought()
	}
	a.priced = true
	m := usedModel{a.name("provider"), a.name("model")}
	value, cost := a.cost()
	return a.frames("a call of a model", []row{{event: "span.completed", payload: members{"kind": "llm", "provider": m.provider, "model": m.model, "cost": value, "response": a.value()}}}, func(l *ledger, _ finish) {
		l.models = append(l.models, m)
		l.spent.thousandths, l.spent.told = l.spent.thousandths+cost, true
	})
}

// foreignPrompt is a prompt in another session, including its end.
func (a *author) foreignPrompt() *episode {
	prompt, id := a.request("client", "session/prompt", members{"sessionId": "another_session", "prompt": []any{}})
	return a.frames("a prompt of another session", []row{prompt, response("agent", id, "result", members{"stopReason": oneOf(a, "end_turn", "cancelled", "refusal")})}, nil)
}

// resolved is a durable approval that is reported in session updates.
func (a *author) resolved() *episode {
	question, who := a.name("question"), a.name("user")
	yes := a.chance(50)
	return a.frames("a durable approval in updates", []row{
		updated("hitl_request", a.harn(members{}, members{"request_id": question, "approval_request": members{"id": question, "action": "act"}})),
		updated("hitl_resolved", a.harn(members{}, members{"request_id": question, "approved": yes, "reviewer": who})),
	}, func(l *ledger, _ finish) {
		decision := "denied"
		if yes {
			decision = "approved"
		}
		l.approvals = append(l.approvals, answered{question, decision, who})
	})
}

// noticed is an answer in a notification, which has no response.
func (a *author) noticed() *episode {
	question, who := a.name("question"), a.name("user")
	answer := row{from: "client", frame: members{"jsonrpc": "2.0", "method": "harn.hitl.respond", "params": members{"sessionId": "s", "request_id": question, "approved": true, "reviewer": who}}}
	return a.frames("an answer without an id", []row{a.durably(question), answer}, func(l *ledger, _ finish) {
		l.approvals = append(l.approvals, answered{question, "approved", who})
	})
}

// deniedFetch is a denied network call, so no data is sent.
func (a *author) deniedFetch() *episode {
	id, tool := a.name("call"), a.name("tool")
	in := members{"url": "https://" + a.name("h") + ".example/"}
	asked, number := a.permission(id, tool, in, false)
	return a.frames("a fetch that is denied", []row{
		announced(id, tool, "fetch", in), asked, response("client", number, "result", members{"granted": false}),
		updated("tool_call_update", a.harn(members{"toolCallId": id, "status": "failed"}, members{"errorCategory": "permission_denied"})),
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"canceled"}, input: in})
		l.approvals = append(l.approvals, answered{id, "denied", ""})
	})
}

func (a *author) moved() *episode {
	id, tool, in, from, to := a.name("call"), a.name("tool"), a.value(), a.name("src/from"), a.name("src/to")
	return a.frames("a move", []row{
		announced(id, tool, "move", in),
		updated("tool_call_update", a.harn(members{"toolCallId": id, "status": "completed"}, members{"mutationStatus": "applied", "changedPaths": []any{from, to}})),
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, ran: true})
		l.writes = append(l.writes, written{from, "delete"}, written{to, "create"})
	})
}

// atOnce is a call whose start and end are reported in the same update.
func (a *author) atOnce() *episode {
	id, tool, in, out := a.name("call"), a.name("tool"), a.value(), a.value()
	return a.frames("a call in one update", []row{
		updated("tool_call", members{"toolCallId": id, "title": tool, "kind": "read", "status": "completed", "rawInput": in, "rawOutput": out}),
	}, func(l *ledger, _ finish) {
		l.calls = append(l.calls, calledTool{id: id, tool: tool, status: []string{"succeeded"}, input: in, output: out, ran: true})
	})
}

// refusedThenResolved is a question for which the runtime refused one person's answer and accepted
// another person's.
func (a *author) refusedThenResolved() *episode {
	question, one, two := a.name("question"), a.name("user"), a.name("user")
	first, id := a.request("client", "harn.hitl.respond", members{"sessionId": "s", "request_id": question, "approved": true, "reviewer": one})
	second, other := a.request("client", "harn.hitl.respond", members{"sessionId": "s", "request_id": question, "approved": true, "reviewer": two})
	return a.frames("an answer that is refused, and one that is taken", []row{
		a.durably(question), first, response("agent", id, "error", members{"code": 1, "message": "no"}), second, response("agent", other, "result", members{}),
	}, func(l *ledger, _ finish) { l.approvals = append(l.approvals, answered{question, "approved", two}) })
}

// frames returns the world as the frames of a bridge: a prompt, the episodes, and the stop reason.
// A session with earlier turns may be loaded before the prompt.
func (w *world) frames(a *author) []byte {
	var rows []row
	if a.chance(20) {
		load := row{from: "client", frame: members{"jsonrpc": "2.0", "id": 100_001, "method": "session/load", "params": members{"sessionId": "s"}}}
		rows = append(rows, load, announced("earlier", "t", "edit", "x"),
			updated("tool_call_update", members{"toolCallId": "earlier", "status": "completed", "mutationStatus": "applied", "changedPaths": []any{"src/earlier"}}), response("agent", 100_001, "result", nil))
	}
	prompt := row{from: "client", frame: members{"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": members{"sessionId": "s", "prompt": []any{members{"type": "text", "text": "go"}}}}}
	reason := map[finish]string{completed: "end_turn", failed: "refusal", canceled: "cancelled"}[w.end]
	rows = append(rows, prompt)
	rows = append(append(rows, w.mixed()...), response("agent", 1, "result", members{"stopReason": reason}))
	var log []byte
	for i, r := range rows {
		line := members{"at": fmt.Sprintf("2026-01-01T00:%02d:%02dZ", i/60, i%60)}
		if r.frame != nil {
			line["from"], line["frame"] = r.from, r.frame
		} else {
			line["event"], line["payload"] = r.event, r.payload
		}
		text, err := json.Marshal(line)
		if err != nil {
			panic(err)
		}
		log = append(append(log, text...), '\n')
	}
	return log
}
