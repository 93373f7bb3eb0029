package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/replay"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// replay runs the module of a task again, with the answers in the task's log and the overrides in
// the request. No external source is queried, so the replay has ended when the response is sent.
// The replay is recorded either as one commit or not at all.
func (h *Harness) replay(w http.ResponseWriter, r *protocol.Request) error {
	if h.tellsSecrets(r.JSON) {
		return protocol.Invalid("", "expected a value that looks like a secret only in the value of an override")
	}
	request, err := replay.ParseRequest(r.JSON.Root().Raw())
	if err != nil {
		return serve.ReplayError(err)
	}
	if wrong := request.Mismatches(); len(wrong) > 0 {
		return serve.ReplayError(wrong[0])
	}
	found, err := h.task(r, r.PathValue("task_id"))
	if err != nil {
		return err
	}
	source := h.settled(r.Context(), found.ID)
	if !source.ended() || source.ReceiptID == nil {
		return serve.ReplayError(record.ErrNotEnded)
	}

	plan, err := h.plan(r.Context(), source, request)
	if err != nil {
		return serve.ReplayError(err)
	}
	text, failure := h.playAgain(r.Context(), source, plan, request.Mode)
	if hides(request) {
		text = "replayed with values that are for the receipt only"
	}
	of := journal.Pointer{Object: "task", ID: h.newID("task")}
	events, err := h.retold(r, source, plan, of.ID, text, failure)
	if err != nil {
		return err
	}
	return h.writeThen(w, r, http.StatusAccepted, of, func() ([]journal.Event, error) { return events, nil }, func() any {
		h.begin(of.ID) // wait until the replay has its receipt
		return h.settled(r.Context(), of.ID)
	})
}

// hides reports whether a module receives values that no event may contain. In that case, events
// must not contain the module's result either.
func hides(request *replay.Request) bool {
	return slices.ContainsFunc(request.Overrides, func(o replay.Override) bool {
		return o.Visibility == replay.ReceiptOnly && o.Kind != record.KindTime
	})
}

// plan reads the log of a task that has ended, and resolves the overrides in a request.
func (h *Harness) plan(ctx context.Context, source *Task, request *replay.Request) (*replay.Plan, error) {
	var lines []byte
	err := h.events(ctx, source.ID, func(text []byte) error {
		lines = append(append(lines, text...), '\n')
		return nil
	})
	if err != nil {
		return nil, err
	}
	log, err := replay.ReadLog(bytes.NewReader(lines), source.ID)
	if err != nil {
		return nil, err
	}
	return replay.NewPlan(ctx, log, request, artifactsOf{h, source}.get)
}

// artifactsOf provides the artifacts that an override may refer to, which are those in the task's
// workspace.
type artifactsOf struct {
	h    *Harness
	task *Task
}

// get returns the content of an artifact. It implements [replay.Artifacts].
func (s artifactsOf) get(_ context.Context, want replay.Wanted) ([]byte, error) {
	a := read(&s.h.state, &s.h.state.artifacts, want.ID)
	if a == nil || a.WorkspaceID != s.task.WorkspaceID || a.content.size() == 0 {
		return nil, fs.ErrNotExist
	}
	return a.text()
}

// A recorded supply answers from a plan and queries no external source.
type recorded struct {
	plan          *replay.Plan
	models, calls int
}

// Model implements [Supply].
func (s *recorded) Model(ctx context.Context, _ Prompt) (Reply, error) {
	s.models++
	a, err := s.plan.Take(ctx, fmt.Sprintf("llm:main:%d", s.models))
	return Reply(a.Value), err
}

// Tool implements [Supply].
func (s *recorded) Tool(ctx context.Context, c Call) (Result, error) {
	s.calls++
	a, err := s.plan.Take(ctx, "host:"+c.Name+":"+callID(s.calls))
	return Result{Output: a.Value}, err
}

// playAgain runs the module with the answers from a plan, up to the point where the source ended.
func (h *Harness) playAgain(ctx context.Context, source *Task, plan *replay.Plan, mode replay.Mode) (text string, failure *replay.Failure) {
	defer func() {
		if p := recover(); p != nil {
			h.options.Log.Error("a module panicked in a replay", "task", source.ID, "panic", logged(fmt.Sprint(p)))
			failure = &replay.Failure{Code: "replay_differs", Message: "the module panicked"}
		}

		// If an override is unused, a receipt with a delta for it would state a substitution that
		// did not happen.
		if unused := plan.Unused(); failure == nil && len(unused) > 0 {
			failure = &replay.Failure{Code: "replay_differs", Message: "the module did not ask for " + untrusted.Cut(unused[0], protocol.MaxID) + ", which the request overrides"}
		}
	}()
	input, err := source.publicInput()
	if err != nil {
		return "", &replay.Failure{Code: "replay_unavailable", Message: "the input of the task cannot be read"}
	}
	text, err = h.options.Module(ctx, &recorded{plan: plan}, input)
	left := untaken(plan)

	// The replay of a task that was canceled, or whose model failed, ends when the log has no
	// further answer.
	missing, isMissing := errors.AsType[*replay.UnavailableError](err)
	switch {
	case isMissing && source.Status != completed && len(left) == 0:
		return source.Status, nil
	case isMissing:
		return "", &replay.Failure{Code: "replay_unavailable", Message: missing.Error(), Missing: missing}
	case err != nil && source.Status == failed:
		return source.Status, nil
	case err != nil || source.Status != completed:
		return "", &replay.Failure{Code: "replay_differs", Message: "the module came to another end than the source"}
	case mode == replay.Exact && len(left) > 0:
		return "", &replay.Failure{Code: "replay_differs", Message: "the module did not ask for " + untrusted.Cut(left[0], protocol.MaxID)}
	}
	return text, nil
}

// untaken returns the keys of answers that a module did not request. It ignores the times of the
// task, because modules never request them.
func untaken(plan *replay.Plan) (keys []string) {
	for _, key := range plan.Untaken() {
		if !strings.HasPrefix(key, "time:") {
			keys = append(keys, key)
		}
	}
	return keys
}

// retold returns the events of a replay as events of a separate task in this harness.
func (h *Harness) retold(r *protocol.Request, source *Task, plan *replay.Plan, task, text string, failure *replay.Failure) (events []journal.Event, err error) {
	sealed, err := ledger.Get(r.Context(), h.ledger, *source.ReceiptID)
	if err != nil {
		return nil, err
	}
	if failure != nil {
		text = failure.Message
	}
	if text, err = h.cleanText(text); err != nil {
		return nil, err
	}
	run := replay.Run{TaskID: task, Remap: true, LogURI: "/v1/tasks/" + source.ID + "/events", ReceiptHash: sealed.Hash(), Failure: failure}
	for line, err := range plan.Events(run) {
		if err != nil {
			return nil, err
		}
		if doc, err := canon.Parse(line); err != nil || len(h.secrets.Find(doc)) > 0 {
			return nil, protocol.Invalid("override", "expected no value that looks like a secret in the events of a replay; make the override receipt_only")
		}
		var e journal.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		if !e.Replayed {
			if err := h.own(&e, source, actorOf(r), text); err != nil {
				return nil, err
			}
		}
		events = append(events, e)
	}
	return events, nil
}

// own adapts an event in the source's lifecycle to the replay by setting the client that requested
// the replay, the source task, and the outcome.
func (h *Harness) own(e *journal.Event, source *Task, actor, text string) error {
	told := map[string]json.RawMessage{}
	if err := payload(e, &told); err != nil {
		return err
	}
	o := object{}
	for name, value := range told {
		o[name] = value
	}
	switch e.Kind {
	case "task.submitted":
		o["created_by"], o["parent_task_id"] = actor, source.ID
	case "task.completed", "task.failed", "task.canceled":
		o["outcome_id"], o["summary"] = h.newID("outcome"), untrusted.Cut(text, 200)
	default:
		return nil
	}
	e.Payload = o.json()
	return nil
}
