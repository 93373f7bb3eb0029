package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/replay"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// swapped is a request that replaces the response from the site.
const swapped = `{"mode":"with_overrides","override":{"host:http.get:call_2":{"kind":"tool_result","value":503,"visibility":"public","reason":"what if the site were down"}}}`

// replayBoth replays a task twice, once exactly and once with one answer replaced. Each replay has
// a receipt.
func (h *harness) replayBoth(ctx context.Context, task string) error {
	for _, request := range []string{"", swapped} {
		asked, err := replay.ParseRequest([]byte(request))
		if err != nil {
			return err // *replay.RequestError: which member, why
		}
		sealed, _, err := h.replay(ctx, task, asked)
		if err != nil {
			return err
		}
		fmt.Printf("replay  %s\n", sealed.ID())
	}
	return nil
}

// Owner returns the owner of a task. The server does not let any other client replay the task.
func (h *harness) Owner(_ context.Context, task string) (serve.Owner, error) {
	if _, done := h.logs.Load(task); !done {
		return serve.Owner{}, ledger.ErrNotFound
	}
	return serve.Owner{Stream: chain.Stream{Issuer: issuerID, Workspace: workspace}, Session: session}, nil
}

// Replay replays a task for a client of the server. The server returns errors from Replay to the
// client.
func (h *harness) Replay(ctx context.Context, q serve.ReplayQuery) (string, error) {
	_, task, err := h.replay(ctx, q.Task, q.Request)
	return task, err
}

// replay writes the events of a task again, with the substitutions that a request specifies, and
// issues a receipt for the replay. It writes no files and sends no requests, because the answers
// were recorded.
func (h *harness) replay(ctx context.Context, source string, asked *replay.Request) (sealed *receipt.Sealed, task string, err error) {
	plan, err := h.planOf(ctx, source, asked)
	if err != nil {
		return nil, "", err
	}
	rec, err := record.New(record.Options{Issuer: receipt.Issuer{ID: issuerID}})
	if err != nil {
		return nil, "", err
	}
	task = "task_replay_" + rand.Text()
	for line, err := range plan.Events(replay.Run{TaskID: task}) {
		if err != nil {
			return nil, "", err
		}
		rec.Add(line) // Draft returns the first error
	}
	draft, err := rec.Draft()
	if err != nil {
		return nil, "", err
	}
	sealed, err = h.issue(ctx, draft)
	return sealed, task, err
}

// planOf reads the log of a task, and finds the answers that a request replaces.
func (h *harness) planOf(ctx context.Context, task string, asked *replay.Request) (*replay.Plan, error) {
	log, done := h.logs.Load(task)
	if !done {
		return nil, ledger.ErrNotFound
	}
	source, err := replay.ReadLog(bytes.NewReader(log.([]byte)), task)
	if err != nil {
		return nil, err
	}
	return replay.NewPlan(ctx, source, asked, nil)
}
