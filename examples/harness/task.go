package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
)

type object = map[string]any

// A task tells its recorder what happens, when it happens.
type task struct {
	id       string
	rec      *record.Recorder
	sequence int
}

func (t *task) tell(kind string, payload object) {
	t.sequence++
	event, _ := json.Marshal(object{ // of plain values: it cannot fail
		"id": fmt.Sprint(t.sequence), "sequence": t.sequence, "event": kind, "created_at": time.Now().UTC(), "payload": payload,
		"resource": object{"object": "task", "id": t.id}, "workspace_id": "garden", "session_id": "session_toy",
	})
	t.rec.Add(event) // a refusal is final: Draft returns it
}

// call records one call of a tool, whatever comes of it.
func (t *task) call(id, tool string, input any, do func() (object, error)) error {
	t.tell("tool.requested", object{"tool_call_id": id, "name": tool, "input": input})
	kind := "tool.completed"
	result, err := do()
	if err != nil {
		kind, result = "tool.failed", object{}
	}
	result["tool_call_id"] = id
	t.tell(kind, result)
	return err
}

// do does one task, and issues its receipt however the task ends.
func (h *harness) do(ctx context.Context, folder, site string) (*receipt.Sealed, error) {
	rec, err := record.New(record.Options{Issuer: h.issuer})
	if err != nil {
		return nil, err
	}
	t := &task{id: "task_" + strings.ToLower(rand.Text()), rec: rec}
	t.tell("task.submitted", object{"autonomy_tier": "act_with_approval"})
	t.tell("task.started", object{})
	if err := t.work(ctx, filepath.Join(folder, "garden.txt"), site); err != nil {
		t.tell("task.failed", object{"failure": object{"code": "tool_error", "message": err.Error()}})
	} else {
		t.tell("task.completed", object{})
	}
	draft, err := rec.Draft()
	if err != nil {
		return nil, err // *record.Error: which event, where, why
	}
	return h.issue(ctx, draft)
}

// work reads a file, changes it when a person agrees, and looks at a site.
func (t *task) work(ctx context.Context, file, site string) error {
	var text []byte
	err := t.call("call_1", "file.read", "garden.txt", func() (_ object, err error) {
		if text, err = os.ReadFile(file); os.IsNotExist(err) {
			err = nil // the first task begins the file
		}
		return object{"output": string(text)}, err
	})
	if err != nil {
		return err
	}
	err = t.call("call_2", "file.append", object{"path": "garden.txt", "line": "water the beans"}, func() (object, error) {
		t.tell("tool.approval_required", object{"tool_call_id": "call_2", "approval_id": "approval_1", "action": "file.append"})
		t.tell("tool.approved", object{"approval_id": "approval_1", "actor": "user_robin"}) // who would be asked
		text = append(text, "water the beans\n"...)
		return object{"fs_writes": []object{{"path": "garden.txt", "after_sha256": canon.Sum(text)}}}, os.WriteFile(file, text, 0o600)
	})
	if err != nil {
		return err
	}
	return t.call("call_3", "http.get", site, func() (object, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, site+"/healthz", nil)
		if err != nil {
			return nil, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		return object{"output": response.StatusCode, "network_egress": []object{{"url": site, "bytes_sent": 0}}}, response.Body.Close()
	})
}
