package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// errEnded indicates that a task has ended, so nothing more can be recorded for it.
var errEnded = errors.New("harness: the task has ended")

// begin starts the harness's module on a task.
func (h *Harness) begin(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.running[id] != nil || h.halted[id] > 0 {
		return
	}
	ctx, cancel := context.WithCancel(h.life)
	own := &run{cancel, make(chan struct{})}
	h.running[id] = own
	h.tasks.Go(func() {
		defer cancel()
		h.perform(ctx, id)
		h.mu.Lock()
		delete(h.running, id)
		h.mu.Unlock()
		close(own.ended)
		if ctx.Err() != nil && !read(&h.state, &h.state.tasks, id).ended() {
			h.begin(id) // the task was halted but then not canceled
		}
	})
}

// perform runs a task until it ends and issues the receipt. If the harness is closed before that,
// the next process continues the task.
func (h *Harness) perform(ctx context.Context, id string) {
	t := read(&h.state, &h.state.tasks, id)
	if !t.ended() {
		text, err := h.work(ctx, t)
		if ctx.Err() != nil {
			return // the next run continues the task, or the caller of halt ends it
		}
		err = h.finish(t, text, err)
		if failure, unfit := errors.AsType[*Failure](err); unfit {
			err = h.finish(t, "", failure)
		}
		if err != nil && !errors.Is(err, errEnded) {
			h.options.Log.Error("a task cannot be ended", "task", id, "error", logged(err.Error()))
			return
		}
	}
	h.conclude(id)
}

// conclude issues the receipt for a task that has ended.
func (h *Harness) conclude(id string) {
	h.persist("no receipt is known to be issued yet", id, func() error { return h.settle(context.WithoutCancel(h.life), id) })
}

// persist calls do until it succeeds or the harness is closed. If the harness is closed, the next
// process completes the work.
func (h *Harness) persist(undone, id string, do func() error) {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, time.Minute) {
		err := do()
		if err == nil {
			return
		}
		h.options.Log.Error(undone, "task", id, "error", logged(err.Error()))
		select {
		case <-time.After(pause):
		case <-h.life.Done():
			return
		}
	}
}

// work runs the module.
func (h *Harness) work(ctx context.Context, t *Task) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			h.options.Log.Error("a module panicked", "task", t.ID, "panic", logged(fmt.Sprint(p)))
			err = errors.New("harness: the module panicked")
		}
	}()
	input, err := t.publicInput()
	if err != nil {
		return "", err
	}
	return h.options.Module(ctx, &live{h: h, task: t}, input)
}

// finish records the end of a task.
func (h *Harness) finish(t *Task, text string, err error) error {
	text, unclean := h.cleanText(text)
	if err = errors.Join(err, unclean); err != nil {
		failure := h.cleanFailure(failureOf(err))
		end := ending{OutcomeID: h.newID("outcome"), Summary: failure.Message, Failure: object{"code": failure.Code, "message": failure.Message}.json()}
		return h.tell(t.ID, t.event("task.failed", end.told(nil)))
	}

	message := object{"id": h.newID("message"), "role": "agent", "parts": []object{{"type": "text", "text": text, "visibility": "public"}}}
	end := ending{OutcomeID: h.newID("outcome"), Summary: untrusted.Cut(text, 200)}
	return h.tell(t.ID,
		t.textArtifact(h.newID("artifact"), text),
		t.event("agent.message", object{"message": message}),
		t.event("task.completed", end.told(nil)),
	)
}

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // encoding a string cannot fail
	return raw
}

// tell records events of a task, unless the task has ended. If the disk is full, it waits until
// there is space, because the events have already happened.
func (h *Harness) tell(id string, events ...journal.Event) (err error) {
	h.persist("there is no room to record the event", id, func() error {
		if err = h.tellOnce(id, events); errors.Is(err, journal.ErrNotWritten) {
			return err
		}
		return nil
	})
	return err
}

func (h *Harness) tellOnce(id string, events []journal.Event) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	if read(&h.state, &h.state.tasks, id).ended() {
		return errEnded
	}
	err := h.recordable(events)
	if err == nil {
		err = h.journal.Append(&journal.Commit{At: h.now(), Events: events})
		if !errors.Is(err, journal.ErrTooLong) {
			return err
		}
	}
	return &Failure{"not_recordable", "no receipt can be created from the output of a model or a tool: it is too long, or has too many values"}
}

// await waits until a condition on the log is true.
func (h *Harness) await(ctx context.Context, ready func() bool) error {
	for {
		appended := h.journal.Appended()
		if ready() {
			return nil
		}
		select {
		case <-appended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// patience is how long a request waits for the receipt of a task that has ended.
const patience = 10 * time.Second

// settled returns a task. If the task has ended, it first waits for the receipt.
func (h *Harness) settled(ctx context.Context, id string) (t *Task) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = h.await(ctx, func() bool {
		t = read(&h.state, &h.state.tasks, id)
		return !t.ended() || t.ReceiptID != nil
	})
	return t
}
