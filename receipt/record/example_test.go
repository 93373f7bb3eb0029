package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// A harness records events, seals the draft, and signs the receipt.
func Example() {
	rec, err := record.New(record.Options{Issuer: receipt.Issuer{ID: "my_harness"}})
	if err != nil {
		panic(err)
	}
	for i, e := range []string{
		`"event":"task.submitted","payload":{"autonomy_tier":"act_with_approval"}`,
		`"event":"task.started","payload":{}`,
		`"event":"tool.requested","payload":{"tool_call_id":"call_1","name":"garden.water","input":{"bed":3}}`,
		`"event":"tool.approval_required","payload":{"approval_id":"approval_1","tool_call_id":"call_1","action":"garden.water"}`,
		`"event":"tool.approved","payload":{"approval_id":"approval_1","actor":"user_robin"}`,
		`"event":"tool.completed","payload":{"tool_call_id":"call_1","output":{"liters":12}}`,
		`"event":"task.completed","payload":{}`,
	} {
		event := fmt.Sprintf(`{"id":"%d","resource":{"object":"task","id":"task_7"},"created_at":"2026-04-25T19:16:%02dZ","sequence":%d,
			"session_id":"session_1","workspace_id":"garden",%s}`, i+1, i, i+1, e)
		if err := rec.Add([]byte(event)); err != nil {
			panic(err) // *record.Error states the event, the location, and the reason
		}
	}
	draft, err := rec.Draft()
	if err != nil {
		panic(err)
	}
	sealed, err := receipt.Seal(draft, chain.Head{}) // redact it first
	if err != nil {
		panic(err)
	}
	a, c := draft.Approvals[0], draft.SideEffects.ToolCalls[0]
	fmt.Println(sealed.ID(), draft.Lifecycle.FinalState)
	fmt.Println(a.Action, a.Decision, "by", a.Actor)
	fmt.Println(c.Tool, c.Status, c.InputHash)
	// Output:
	// receipt_7 SUCCEEDED
	// garden.water approved by user_robin
	// garden.water succeeded sha256:e009b4d74be5f04ab7d103e56ca1fecab7cf39a691433e5351ab1d942dee7927
}

// A log may contain frames from a bridge, and events that are not in any frame.
func ExampleRead() {
	const log = `{"at":"2026-04-25T19:16:10Z","from":"client","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"session_1","prompt":[{"type":"text","text":"Water bed 3."}]}}}
{"at":"2026-04-25T19:16:11Z","from":"agent","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session_1","update":{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"garden.water","status":"in_progress","rawInput":{"bed":3}}}}}
{"at":"2026-04-25T19:16:12Z","from":"agent","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session_1","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","rawOutput":{"liters":12}}}}}
{"at":"2026-04-25T19:16:12Z","event":"span.completed","payload":{"kind":"llm","provider":"example","model":"gardener-1","cost":0.004}}
{"at":"2026-04-25T19:16:13Z","from":"agent","frame":{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}}
`
	l, err := record.Read(strings.NewReader(log), record.Options{
		Issuer: receipt.Issuer{ID: "my_harness"}, TaskID: "task_7", WorkspaceRef: "garden", Tier: "act_auto",
	}, record.FormUnknown)
	if err != nil {
		panic(err) // *record.LineError states the line and the reason
	}

	d := l.Draft
	fmt.Printf("%s: %d, and %d events\n", l.Form, l.Counts.Frames.All, l.Counts.Events)
	fmt.Println(d.Lifecycle.FinalState, d.Cost.Total, d.Cost.Currency)
	fmt.Println(d.SideEffects.ToolCalls[0].Tool, d.SideEffects.ToolCalls[0].Status)
	fmt.Println(d.Metadata["unreported"])
	// Output:
	// frames: 4, and 7 events
	// SUCCEEDED 0.004 USD
	// garden.water succeeded
	// [/side_effects/fs_writes /side_effects/network_egress]
}

// A turn in a chat waits for a signal, which arrives in another process.
func ExampleResumeTurn() {
	at := func(second int) time.Time { return time.Date(2026, 4, 25, 19, 16, second, 0, time.UTC) }
	var log []byte
	o := record.Options{
		Issuer: receipt.Issuer{ID: "my_harness"}, TaskID: "inv_7", SessionID: "conv_1", WorkspaceRef: "garden", Tier: "act_with_approval",
		Keep: func(line []byte) error { log = append(log, line...); return nil }, // into a file
	}
	t, err := record.NewTurn(o)
	if err != nil {
		panic(err)
	}
	t.Send(at(1), []byte(`{"role":"user","content":"Send the email."}`))
	t.Begin(at(2))
	t.Message(at(3), []byte(`{"role":"assistant","content":"Approve sending it?"}`))
	t.Suspend(at(4), "approval-002", []byte(`{"action":"send_email"}`))
	_, err = t.Draft()
	fmt.Println(errors.Is(err, record.ErrNotEnded))

	if t, err = record.ResumeTurn(o, bytes.NewReader(log)); err != nil {
		panic(err)
	}
	t.Signal(at(30), record.Signal{ID: "approval-002", Actor: "user_robin", Payload: []byte(`{"approved":true}`)})
	t.Begin(at(31))
	t.Message(at(32), []byte(`{"role":"assistant","content":"Email sent."}`))
	t.Complete(at(33))
	draft, err := t.Draft() // returns the first error from any part of the turn
	if err != nil {
		panic(err)
	}
	a := draft.Approvals[0]
	fmt.Println(draft.Lifecycle.FinalState, draft.Lifecycle.StartedAt, draft.Lifecycle.CompletedAt)
	fmt.Println(a.ApprovalID, a.Action, a.Decision, "by", a.Actor)
	fmt.Println(len(draft.FinalArtifacts), "messages")
	// Output:
	// true
	// SUCCEEDED 2026-04-25T19:16:02Z 2026-04-25T19:16:33Z
	// approval-002 send_email approved by user_robin
	// 2 messages
}
