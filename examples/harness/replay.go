package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// swapped is a request that replaces what the site answered.
const swapped = `{"mode":"with_overrides","override":{"host:http.get:call_2":{"kind":"tool_result","value":503,"visibility":"public","reason":"what if the site were down"}}}`

// replayBoth replays a task exactly, and with one answer swapped. Each has a receipt.
func (h *harness) replayBoth(ctx context.Context, log []byte) error {
	for _, request := range []string{"", swapped} {
		sealed, err := h.replay(ctx, log, request)
		if err != nil {
			return err
		}
		fmt.Printf("replay  %s\n", sealed.ID())
	}
	return nil
}

// replay tells the events of a task again, with what a request swaps, and issues a
// receipt of that. Nothing is written and nothing is asked: the answers are recorded.
func (h *harness) replay(ctx context.Context, log []byte, request string) (*receipt.Sealed, error) {
	plan, err := planOf(ctx, log, request)
	if err != nil {
		return nil, err
	}
	rec, err := record.New(record.Options{Issuer: receipt.Issuer{ID: "harness_example_cloud"}})
	if err != nil {
		return nil, err
	}
	for line, err := range plan.Events(replay.Run{TaskID: "task_replay_" + rand.Text()}) {
		if err != nil {
			return nil, err
		}
		rec.Add(line) // a refusal is final: Draft returns it
	}
	draft, err := rec.Draft()
	if err != nil {
		return nil, err
	}
	return h.issue(ctx, draft)
}

func planOf(ctx context.Context, log []byte, request string) (*replay.Plan, error) {
	asked, err := replay.ParseRequest([]byte(request))
	if err != nil {
		return nil, err // *replay.RequestError: which member, why
	}
	source, err := replay.ReadLog(bytes.NewReader(log), "")
	if err != nil {
		return nil, err
	}
	return replay.NewPlan(ctx, source, asked, nil)
}
