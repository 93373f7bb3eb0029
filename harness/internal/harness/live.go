package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/harness/journal"
)

// A live supply queries the model and the tools, and records the answers in the log. It does not
// repeat a query whose answer is already in the log, which happens if the module ran before a
// crash.
type live struct {
	h             *Harness
	task          *Task
	models, calls int // numbers of model queries and calls that the module has requested so far
}

// statusOK is the status of a successful call.
const statusOK = "ok"

// Model implements [Supply].
func (s *live) Model(ctx context.Context, p Prompt) (Reply, error) {
	s.models++
	if a, told := look(&s.h.state, s.task.ID, s.modelTold); told {
		return a.reply()
	}

	if ctx.Err() != nil {
		return nil, ctx.Err() // no query starts in a task that is about to end
	}
	provider, model := s.h.options.Provider.Name()
	span := object{"kind": "llm", "span_id": fmt.Sprintf("llm:main:%d", s.models), "agent": "main", "provider": provider, "model": model}
	if err := s.h.tell(s.task.ID, s.task.event("span.started", span)); err != nil {
		return nil, err
	}
	completion, err := s.h.options.Provider.Complete(ctx, p)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err() // the log records the start of the call but not its end
	}
	response := json.RawMessage(completion.Reply)
	if err == nil {
		response, err = s.h.clean(response)
	}
	if err != nil {
		failure := s.h.cleanFailure(modelFailure(err))
		span["failure"] = failure
		return nil, errors.Join(failure, s.h.tell(s.task.ID, s.task.event("span.failed", span)))
	}

	span["response"] = response
	if completion.InputTokens != nil {
		span["input_tokens"] = *completion.InputTokens
	}
	if completion.OutputTokens != nil {
		span["output_tokens"] = *completion.OutputTokens
	}
	return Reply(response), s.h.tell(s.task.ID, s.task.event("span.completed", span))
}

func (s *live) modelTold(w *work) (answer, bool) {
	if s.models > len(w.models) {
		return answer{}, false
	}
	return w.models[s.models-1], true
}

// reply returns the recorded answer from a model.
func (a *answer) reply() (Reply, error) {
	if a.failed != nil {
		return nil, a.failed
	}
	return Reply(a.output), nil
}

// modelFailure explains why a model did not answer. The provider's own message is not passed on.
func modelFailure(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return &Failure{"upstream_unavailable", "the model did not answer"}
}

// Tool implements [Supply].
func (s *live) Tool(ctx context.Context, c Call) (Result, error) {
	s.calls++
	id := callID(s.calls)
	if a, told := look(&s.h.state, s.task.ID, func(w *work) (answer, bool) { a, ok := w.tools[id]; return a, ok }); told {
		return Result{a.output, a.failed != nil}, nil
	}

	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	tool := s.h.tool(c.Name)
	begun, _ := look(&s.h.state, s.task.ID, func(w *work) (bool, bool) { return w.requested[id], true })
	if !begun {
		if err := s.h.tell(s.task.ID, s.request(tool, id, c)...); err != nil {
			return Result{}, err
		}
	}
	switch {
	case tool == nil:
		return s.returned(id, c, Done{}, errors.New("there is no such tool"))
	case tool.Name == askTool:
		return s.ask(ctx, id, c)
	case tool.Approve:
		if _, decided := s.decision(id); begun && decided && !tool.Again {
			return s.interrupted(id, c)
		}
		return s.approved(ctx, tool, id, c)
	case begun && !tool.Again:
		return s.interrupted(id, c)
	}
	return s.do(ctx, tool, id, c)
}

// callID returns the ID of a tool call, which depends on the number of the call in the task. A
// replay uses this ID to find the call.
func callID(number int) string { return fmt.Sprintf("call_%d", number) }

// approvalID returns the ID of the approval for a call.
func approvalID(call string) string { return "approval_of_" + call }

// request returns the events that record a tool call and, if a person must answer, the request to
// that person.
func (s *live) request(tool *Tool, id string, c Call) []journal.Event {
	call := object{"tool_call_id": id, "name": c.Name, "input": c.Input}
	events := []journal.Event{s.task.event("tool.requested", call)}
	switch {
	case tool == nil:
	case tool.Name == askTool:
		events = append(events, s.task.event("task.input_required", object{"tool_call_id": id}))
	case tool.Approve:
		question := object{"approval_id": approvalID(id), "tool_call_id": id, "name": c.Name, "action": c.Name, "input": c.Input}
		events = append(events, s.task.event("tool.approval_required", question), s.task.event("task.auth_required", object{"approval_id": approvalID(id)}))
	}
	return events
}

// do runs a tool and records the result. The effects are recorded even if the task is about to end.
// If a tool stopped because its task is about to end, the effects are unknown.
func (s *live) do(ctx context.Context, tool *Tool, id string, c Call) (Result, error) {
	done, err := tool.Do(ctx, s.task, c.Input)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) && done.Writes == nil && done.Egress == nil {
		return Result{}, ctx.Err()
	}
	return s.returned(id, c, done, err)
}

// returned records the result of a call. An error is returned to the model, which then continues.
func (s *live) returned(id string, c Call, done Done, err error) (Result, error) {
	status := statusOK
	output, unusable := json.Marshal(done.Output)
	if err = errors.Join(err, unusable); err == nil {
		output, err = s.h.clean(output)
	}
	if err != nil {
		status, output = "error", s.h.toolError(err)
	}

	told := object{"tool_call_id": id, "name": c.Name, "status": status, "output": json.RawMessage(output)}
	for name, list := range map[string]any{"fs_writes": done.Writes, "network_egress": done.Egress} {
		text, err := json.Marshal(list)
		if err == nil {
			text, err = s.h.clean(text)
		}
		if err != nil {
			return Result{}, err
		}
		if string(text) != "null" { // effects that are unknown are not recorded
			told[name] = json.RawMessage(text)
		}
	}
	return Result{output, status != statusOK}, s.h.tell(s.task.ID, s.task.event("tool.completed", told))
}

// toolError returns the result that the model receives if a tool failed.
func (h *Harness) toolError(err error) json.RawMessage {
	text, unclean := h.cleanText(err.Error())
	if unclean != nil {
		text = "the tool went wrong"
	}
	return object{"error": text}.json()
}

// interrupted records that the call started before a crash, so its effects are unknown.
func (s *live) interrupted(id string, c Call) (Result, error) {
	return s.returned(id, c, Done{}, errors.New("the harness was interrupted, so it is unknown whether it was done"))
}

// ask waits for a person's answer.
func (s *live) ask(ctx context.Context, id string, c Call) (Result, error) {
	var text string
	err := s.h.await(ctx, func() (said bool) {
		text, said = look(&s.h.state, s.task.ID, func(w *work) (string, bool) { text, ok := w.inputs[id]; return text, ok })
		return said
	})
	if err != nil {
		return Result{}, err
	}
	return s.returned(id, c, here(object{"answer": text}), nil)
}

// decision returns a person's decision about a call, and whether there is one.
func (s *live) decision(id string) (approved, decided bool) {
	return look(&s.h.state, s.task.ID, func(w *work) (bool, bool) { ok, decided := w.decisions[approvalID(id)]; return ok, decided })
}

// approved runs a tool if a person approves the call.
func (s *live) approved(ctx context.Context, tool *Tool, id string, c Call) (Result, error) {
	if err := s.h.await(ctx, func() bool { _, decided := s.decision(id); return decided }); err != nil {
		return Result{}, err
	}
	if ok, _ := s.decision(id); ok {
		return s.do(ctx, tool, id, c)
	}
	output := object{"error": "the person did not agree"}.json()
	told := object{"tool_call_id": id, "name": c.Name, "status": "canceled", "output": output}
	return Result{output, true}, s.h.tell(s.task.ID, s.task.event("agent.tool_result", told))
}
