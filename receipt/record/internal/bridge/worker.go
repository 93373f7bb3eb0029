package bridge

import (
	"cmp"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A worker is an agent to which work was handed over, with the first task ID that was recorded for
// this agent.
type worker struct{ name, task, status string }

// workerEvents maps the names of worker events to statuses, for updates without a status. It
// contains the spellings of both dialects.
func workerEvents() event.Words {
	return event.NewWords(
		"WorkerSpawned", "running", "worker_spawned", "running",
		"WorkerProgressed", "progressed", "worker_progressed", "progressed",
		"WorkerWaitingForInput", "awaiting_input", "worker_waiting_for_input", "awaiting_input",
		"WorkerCompleted", "completed", "worker_completed", "completed",
		"WorkerFailed", "failed", "worker_failed", "failed",
		"WorkerStopped", "stopped", "worker_stopped", "stopped",
		"WorkerCancelled", "cancelled", "worker_cancelled", "cancelled",
		"WorkerSuspended", "suspended", "worker_suspended", "suspended",
		"WorkerResumed", "running", "worker_resumed", "running",
	)
}

// translateWorker translates both forms of a worker update: with its own members, or with the
// members that older bridges nest under content.
func translateWorker(f *Translator, fr *frame) {
	u := fr.update
	read := func(names ...string) string {
		return cmp.Or(fr.str(u, names...), fr.str(u.Member("content"), names...))
	}
	id := read("workerId", "worker_id")
	if id == "" {
		fr.Fail(event.CodePayload, u, "the member workerId is missing or empty")
		return
	}

	meta := Own(u, "metadata")
	if meta.IsZero() {
		meta = u.Member("content").Member("metadata")
	}

	// The first name and the first task recorded for a worker are kept.
	w := f.workers[id]
	if w == nil {
		w = &worker{name: cmp.Or(read("workerName", "worker_name"), id), task: cmp.Or(fr.Text(meta, "child_run_id"), id)}
		f.workers[id] = w
	}

	// If there is no status, it is inferred from the name of the event.
	status := read("status")
	if status == "" {
		status = workerEvents().Meaning(read("event"), "")
	}

	// An update about a joined worker does not specify how the task of the worker ended.
	if status == "" && w.status != "" {
		f.counts.Silent++
		return
	}

	// Members that a receipt cannot represent are counted but not recorded.
	for name := range meta.Members() {
		if s := name.String(); s != "child_run_id" && s != "receipt_id" {
			f.counts.Dropped++
		}
	}
	if !event.Absent(Own(u, "audit")) {
		f.counts.Dropped++
	}

	// A receipt contains only the last state, so the same progress is recorded only once.
	state := event.HandoffStatuses().Meaning(status, "accepted")
	receiptID := cmp.Or(read("receiptId", "receipt_id"), fr.Text(meta, "receipt_id"))
	if state == w.status && receiptID == "" {
		f.counts.Silent++
		return
	}

	w.status = state
	f.emit(fr, "agent.handoff", members{"target_agent": w.name, "task_id": w.task, "status": status, "receipt_id": receiptID})
}

func translateHandoff(f *Translator, fr *frame) {
	h := Own(fr.update, "handoff")
	// Depending on the dialect, the other agent is named in one of four members, as a string or as
	// an object.
	target := ""
	for _, name := range []string{"target_agent", "target", "to", "agent"} {
		n := h.Member(name)
		if n.Kind() == canon.KindObject {
			target = cmp.Or(target, cmp.Or(fr.Text(n, "id"), fr.Text(n, "name")))
			continue
		}
		target = cmp.Or(target, fr.Text(h, name))
	}

	f.emit(fr, "agent.handoff", members{
		"target_agent": target,
		"task_id":      cmp.Or(fr.Text(h, "task_id"), fr.Text(h, "child_run_id"), fr.str(fr.update, "handoffId")),
		"status":       fr.Text(h, "status"), "receipt_id": fr.Text(h, "receipt_id"),
	})
}

func translateArtifact(f *Translator, fr *frame) {
	u := fr.update
	if n := Own(u, "artifact"); n.Kind() == canon.KindObject {
		u = n
	}
	made(f, fr, fr.str(u, "artifactId", "artifact_id", "id"), u)
}

// made records a new version of an artifact.
func made(f *Translator, fr *frame, id string, of canon.Node) {
	kind := "artifact.created"
	if f.to.Artifact(id) {
		kind = "artifact.updated"
	}
	f.emit(fr, kind, members{"artifact_id": id, "kind": strings.ToLower(fr.str(of, "kind")), "uri": fr.str(of, "uri"), "sha256": fr.str(of, "sha256")})
}

func translateCompacted(f *Translator, fr *frame) {
	f.emit(fr, "session.compacted", members{"snapshot_asset_id": fr.str(fr.update, "snapshotAssetId", "snapshot_asset_id")})
}
