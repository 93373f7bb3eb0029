package record

import (
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A replay is what the events say when the task is the replay of another.
type replay struct {
	is           bool
	source, mode string
	sourceHash   canon.Digest
	unavailable  string // why it could not be replayed
}

func replayStarted(r *run, e *event) {
	r.replay.is = true
	first(&r.replay.source, e.text(e.payload, "source_task_id"))
	first(&r.replay.source, e.text(e.root.Member("replay"), "source_task_id"))
	first(&r.replay.mode, e.text(e.payload, "mode"))
	first(&r.replay.mode, e.text(e.root.Member("replay"), "mode"))
	first(&r.replay.sourceHash, e.digest(e.payload, "source_receipt_hash"))
}

// eventReplayed makes a delta of an event that a substitution created.
func eventReplayed(r *run, e *event) {
	p, meta := e.payload, e.root.Member("replay")
	key := e.text(p, "override_key")
	first(&key, e.text(meta, "override_key"))
	if key == "" {
		return
	}
	d, fresh := r.deltas.entry(key)
	if fresh {
		r.room(e)
	}
	*d = receipt.Delta{
		DeltaID: e.text(p, "delta_id"), Operation: e.text(p, "operation"), Path: e.text(p, "path"), OverrideKey: key,
		EventID: e.text(p, "event_id"), ArtifactID: e.text(p, "artifact_id"), Reason: e.words(p, "reason"),
		BeforeSHA256: receipt.NullableDigest{Digest: e.digest(p, "before_sha256")},
		AfterSHA256:  receipt.NullableDigest{Digest: e.digest(p, "after_sha256")},
	}
	first(&d.DeltaID, e.text(meta, "receipt_delta_id"))
	first(&d.DeltaID, "delta_"+strings.Map(alphanumeric, key))
	first(&d.EventID, e.text(meta, "original_event_id"))
	first(&d.Operation, "replace")
	first(&d.Path, deltaPath(key))
	if !slices.Contains([]string{"add", "replace", "remove"}, d.Operation) {
		e.fail(CodePayload, p.Member("operation"), "expected add, replace or remove")
	}
	if strings.HasPrefix(key, "secret:") { // a digest of a secret lets it be guessed
		d.BeforeSHA256, d.AfterSHA256 = receipt.NullableDigest{}, receipt.NullableDigest{}
	}
}

func alphanumeric(c rune) rune {
	if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
		return c
	}
	return '_'
}

// deltaPath is where the draft has what an override stands for. Materials are
// named by their id.
func deltaPath(key string) string {
	if key == "time:started_at" || key == "time:created_at" || key == "time:completed_at" {
		return "/lifecycle/" + strings.TrimPrefix(key, "time:")
	}
	return string(canon.AppendToken([]byte("/replay_input/materials"), key))
}

func replayFailed(r *run, e *event) {
	missing := e.payload.Member("first_unavailable")
	why := e.words(e.payload, "message")
	if object, id := e.text(missing, "object"), e.text(missing, "id"); object != "" || id != "" {
		first(&why, "first unavailable: "+object+" "+id)
	}
	first(&why, "the replay failed")
	first(&r.replay.unavailable, why)
}

// deltaList returns the deltas by their override keys: an order that does not
// depend on when substitutions were met.
func (r *run) deltaList() []receipt.Delta {
	list := []receipt.Delta{}
	for _, d := range r.deltas.order {
		list = append(list, *d)
	}
	slices.SortStableFunc(list, func(a, b receipt.Delta) int { return strings.Compare(a.OverrideKey, b.OverrideKey) })
	return list
}

func branchCreated(r *run, e *event) {
	first(&r.ids.BranchID, e.text(e.payload, "branch_id"))
	if e.resource.object == "branch" {
		first(&r.ids.BranchID, e.resource.id)
	}
}

// triggered notes the connector that brought the task.
func triggered(r *run, e *event) {
	connector, delivery := e.text(e.payload, "connector_id"), e.text(e.payload, "delivery_id")
	if r.trigger != nil || connector == "" {
		return
	}
	r.trigger = receipt.Object{"connector_id": connector}
	if delivery != "" {
		r.trigger["delivery_id"] = delivery
	}
}
