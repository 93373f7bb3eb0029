package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/record"
)

type object = map[string]any

// A harness contains the values that its tasks share.
type harness struct {
	issuer *ledger.Issuer
	folder string // directory in which tasks work
	site   string // site to which tasks send requests

	logs sync.Map // events of completed tasks, indexed by task ID
}

// issuerID, workspace, and session are the same for all tasks in this example.
const issuerID, workspace, session = "harness_example_cloud", "garden", "session_toy"

// do performs one task. It issues a receipt even if the task fails.
func (h *harness) do(ctx context.Context) (*receipt.Sealed, error) {
	var log []byte
	keep := func(line []byte) error { log = append(log, line...); return nil }
	rec, err := record.New(record.Options{Issuer: receipt.Issuer{ID: issuerID}, Keep: keep})
	if err != nil {
		return nil, err
	}
	id, sequence := "task_"+rand.Text(), 0
	tell := func(kind string, payload object) { // records an event when it happens
		sequence++
		event, _ := json.Marshal(object{ // cannot fail: all values are plain
			"id": fmt.Sprint(sequence), "sequence": sequence, "event": kind, "created_at": time.Now().UTC(), "payload": payload,
			"resource": object{"object": "task", "id": id}, "workspace_id": workspace, "session_id": session,
		})
		rec.Add(event) // Draft returns the first error
	}
	tell("task.submitted", object{"autonomy_tier": "act_with_approval"})
	tell("task.started", object{})
	if err := h.work(tell); err != nil {
		tell("task.failed", object{"failure": object{"code": "tool_error", "message": err.Error()}})
	} else {
		tell("task.completed", object{})
	}
	draft, err := rec.Draft()
	if err != nil {
		return nil, err // *event.Error: which event, where, why
	}
	h.logs.Store(id, log)
	return h.issue(ctx, draft)
}

// issue issues the receipt for a draft. It does so even if the program is being stopped, because
// the task has already happened.
func (h *harness) issue(ctx context.Context, draft *receipt.Draft) (*receipt.Sealed, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return h.issuer.IssueUntilKnown(ctx, draft) // link, look for secrets, seal, sign, commit
}

// work writes a file after a person approves, and then sends a request to a site.
func (h *harness) work(tell func(string, object)) error {
	failed := func(id string, err error) error { tell("tool.failed", object{"tool_call_id": id}); return err }
	name, text := "garden-"+rand.Text()+".txt", []byte("water the beans\n")
	tell("tool.requested", object{"tool_call_id": "call_1", "name": "file.write", "input": string(text)})
	tell("tool.approval_required", object{"tool_call_id": "call_1", "approval_id": "approval_1", "action": "file.write"})
	tell("tool.approved", object{"approval_id": "approval_1", "actor": "user_robin"}) // a real harness asks this person
	if err := os.WriteFile(filepath.Join(h.folder, name), text, 0o600); err != nil {
		return failed("call_1", err)
	}
	tell("tool.completed", object{"tool_call_id": "call_1", "fs_writes": []object{{"path": name, "operation": "create", "after_sha256": canon.Sum(text)}}})
	tell("tool.requested", object{"tool_call_id": "call_2", "name": "http.get", "input": h.site})
	response, err := http.Get(h.site + "/healthz")
	if err != nil {
		return failed("call_2", err)
	}
	tell("tool.completed", object{"tool_call_id": "call_2", "output": response.StatusCode, "network_egress": []object{{"url": h.site, "bytes_sent": 0}}})
	return response.Body.Close()
}
