package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/record"
)

type object = map[string]any

// issuerID is part of each receipt, and of the trusted keys of recipients.
const issuerID = "harness_example_cloud"

// withReceipts issues a receipt for each request that a handler answers. The answer names the
// receipt.
func withReceipts(existing http.Handler, issuer *ledger.Issuer, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(asked))

		rec, tell := newTask()
		tell("task.submitted", object{"autonomy_tier": "act_auto"})
		tell("task.started", object{})
		tell("tool.requested", object{"tool_call_id": "call_1", "name": r.Method, "input": object{"path": r.URL.Path, "body_sha256": canon.Sum(asked)}})
		a := newAnswer()
		existing.ServeHTTP(a, r)
		tell("tool.completed", object{"tool_call_id": "call_1", "status": a.word(), "output": object{"status": a.status, "body_sha256": canon.Sum(a.body.Bytes())}})
		tell("task.completed", object{})

		draft, err := rec.Draft()
		if err == nil { // even if the client has disconnected, because the request was served
			a.receipt, err = issuer.Issue(context.WithoutCancel(r.Context()), draft)
		}
		if err != nil {
			log.Error("a request without a receipt", "error", err)
		}
		a.send(w)
	})
}

// newTask returns a recorder of a new task and a function that records an event.
func newTask() (rec *record.Recorder, tell func(kind string, payload object)) {
	rec, _ = record.New(record.Options{Issuer: receipt.Issuer{ID: issuerID}}) // cannot fail: the issuer is set
	task, sequence := "task_"+rand.Text(), 0
	return rec, func(kind string, payload object) {
		sequence++
		event, _ := json.Marshal(object{ // cannot fail: all values are plain
			"id": kind, "sequence": sequence, "event": kind, "created_at": time.Now().UTC(), "payload": payload,
			"resource": object{"object": "task", "id": task}, "workspace_id": "garden", "session_id": "http",
		})
		rec.Add(event) // Draft returns the first error
	}
}
