package record

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// hashProfile is the value of metadata.hash_profile in drafts. It means that digests of JSON values
// are the SHA-256 of their RFC 8785 form.
const hashProfile = "rfc8785-sha256"

// logType is the content type of the event log.
const logType = "application/jsonl"

// textOf returns the total length of the strings in a value. A string that is stored once may be
// written several times.
func textOf(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		n = v.Len()
	case reflect.Pointer, reflect.Interface:
		n = textOf(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			n += textOf(v.Index(i))
		}
	case reflect.Map:
		for at := v.MapRange(); at.Next(); {
			n += textOf(at.Key()) + textOf(at.Value())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += textOf(v.Field(i))
		}
	}
	return n
}

// clone returns a draft that shares no memory with the recorder.
func clone(d *receipt.Draft) (*receipt.Draft, error) {
	// Marshaling also copies nested maps and slices.
	text, err := JSON(d)
	if err != nil {
		return nil, err
	}
	c := new(receipt.Draft)
	return c, json.Unmarshal(text, c)
}

// JSON returns the canonical form (RFC 8785) of a draft, including the schema marker, as
// receipt.SealDocument and `receipt seal` require.
func JSON(d *receipt.Draft) ([]byte, error) {
	text, err := d.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return canon.Transform(text)
}

// missing returns an error that lists the required fields that are empty.
func missing(d *receipt.Draft) error {
	var names []string
	for _, m := range [...]struct{ name, value string }{
		{"WorkspaceRef", d.Identifiers.WorkspaceRef}, {"SessionID", d.Identifiers.SessionID}, {"Tier", d.Trust.StartTier},
	} {
		if m.value == "" {
			names = append(names, m.name)
		}
	}
	if names == nil {
		return nil
	}
	return &MissingError{names}
}

// A drafting is a draft in progress, with its run and the notes about unreported values.
type drafting struct {
	*receipt.Draft
	run  *run
	told *telling
}

// draftOf returns the draft of a run, without its subject or its log.
func draftOf(r *run) *receipt.Draft {
	o, t := r.options, new(telling)

	// The questions about each call are attached to the call.
	for id, g := range gatesOf(r) {
		if c := r.calls.ByID[id]; c != nil {
			c.gate = g
		}
	}

	created, started, ended := r.times()
	if started.IsZero() { // canceled or failed before it started
		started = ended
		t.untold("/lifecycle/started_at")
	}

	d := &receipt.Draft{
		ReceiptID: cmp.Or(o.ReceiptID, receiptIDOf(r)),
		Issuer:    o.Issuer,
		IssuedAt:  receipt.At(ended),
		Identifiers: receipt.Identifiers{
			WorkspaceRef: cmp.Or(o.WorkspaceRef, r.ids.WorkspaceRef), SessionID: cmp.Or(o.SessionID, r.ids.SessionID), TaskID: r.task,
			TenantID: cmp.Or(o.TenantID, r.ids.TenantID), PersonaRef: cmp.Or(o.PersonaRef, r.ids.PersonaRef), BranchID: r.ids.BranchID, TraceID: r.ids.TraceID,
		},
		Lifecycle: receipt.Lifecycle{StartedAt: receipt.At(started), CompletedAt: receipt.At(ended), FinalState: r.final, Failure: r.failure.object},
		Trust:     receipt.TrustTiers{StartTier: r.startTier, EndTier: r.tier, PolicyRef: cmp.Or(o.PolicyRef, r.ids.policy)},
		Deltas:    r.replay.deltaList(),
	}

	// Unrecorded times are omitted, except the time of issue, which is required.
	if !o.IssuedAt.IsZero() {
		d.IssuedAt = receipt.At(o.IssuedAt)
	}
	if !created.IsZero() {
		d.Lifecycle.CreatedAt = receipt.At(created)
	}

	// Each of these functions adds the locations of unreported values to t.
	d.Approvals = r.approvals.entries(r, t)
	d.Cost, d.ModelRoute = r.costs.cost(r, t), r.models.route(r, t)
	d.SideEffects = receipt.SideEffects{NetworkEgress: r.effects.networkEgress(r, t), ToolCalls: r.calls.entries(t), A2AHandoffs: r.handoffs.entries(t)}
	d.ReplayInput = r.materials.replayInput(r)
	making := &drafting{d, r, t}
	d.AutonomyBudget = receipt.AutonomyBudget{Limit: r.limit, Consumed: making.consumed(elapsed(started, ended))}
	making.withhold()

	for at := range r.ids.twice {
		t.contradicts(at, namesDiffer)
	}
	d.Metadata = making.metadata()
	r.sourced.complete(d, o, r.effects.workspace, t)
	r.unread.complete(r, d, t)
	t.into(d.Metadata)
	return d
}

// withhold fills in the redactions and the lists that may contain withheld values.
func (d *drafting) withhold() {
	r, t := d.run, d.told
	d.Redactions = []receipt.Redaction{}
	for _, at := range slices.Sorted(slices.Values(r.failure.withheld)) { // the order must not depend on the order of members in the log
		d.Redactions = append(d.Redactions, receipt.Redaction{Field: at, Reason: "hidden reasoning"})
	}

	// The list of writes contains a label instead of a withheld path. The redaction states the
	// reason.
	writes, paths := r.effects.fileWrites(r, t)
	d.SideEffects.FSWrites = writes
	for _, p := range paths {
		entry := receipt.Redaction{Field: p.at, Reason: "path outside the workspace"}
		if r.options.Withhold != nil {
			entry.ProofHash = r.options.Withhold(p.at, canon.AppendString(nil, p.value))
		}
		d.Redactions = append(d.Redactions, entry)
	}

	artifacts, uris := r.artifacts.entries(t)
	d.FinalArtifacts = artifacts
	d.Redactions = append(d.Redactions, uris...)
	if r.models.withheld != "" {
		d.Redactions = append(d.Redactions, receipt.Redaction{Field: "/metadata/reasoning_summary", Reason: r.models.withheld})
	}
}

// consumed returns the resources that the task used. It omits dollars if the task paid in another
// currency, and the time if the clock went backward. A replay uses resources only for its own
// actions.
func (d *drafting) consumed(ms int64) receipt.Amounts {
	r, t := d.run, d.told
	const at = "/autonomy_budget/consumed"
	a := receipt.Amounts{
		USD: r.costs.spent(d.Cost.Total), InputTokens: r.costs.input.number(t, at+"/input_tokens"), OutputTokens: r.costs.output.number(t, at+"/output_tokens"),
	}

	pending := map[string]bool{} // calls that were requested but not approved
	for _, p := range r.approvals.Order {
		if decision, _, _ := p.decision(r); decision != event.Approved && p.call != "" {
			pending[p.call] = true
		}
	}

	// A call that waited for an approval, or was refused, did not reach its tool.
	calls := int64(0)
	for _, c := range r.calls.Order {
		if !r.calls.dropped(c) && r.calls.dispatched(c, pending) {
			calls++
			if !r.calls.ran(c) && c.outcome == "" { // the call was requested, but nothing else is recorded
				t.ceiling(at + "/tool_calls")
			}
		}
	}
	a.ToolCalls = &calls

	// The resources for repeated events were used by the source, not by the replay.
	if r.replay.is {
		ms = 0
		first(&a.USD, r.costs.zero())
		first(&a.InputTokens, new(int64))
		first(&a.OutputTokens, new(int64))
	}

	if ms >= 0 {
		a.WallTimeMS = &ms
	}
	return a
}

// elapsed returns the number of milliseconds between two times. A Duration is limited to 292 years,
// so a longer time is computed from the milliseconds.
func elapsed(from, to time.Time) int64 {
	if took := to.Sub(from); took < math.MaxInt64 {
		return took.Milliseconds()
	}
	return to.UnixMilli() - from.UnixMilli()
}

// metadata returns the values for which a receipt has no separate member.
func (d *drafting) metadata() receipt.Object {
	r := d.run
	m := receipt.Object{"hash_profile": hashProfile}
	for name, value := range map[string]string{
		"title": r.options.Title, "cancel_requested_by": r.canceledBy, "cancel_reason": r.cancelWhy, "source_task_id": r.replay.source, "replay_mode": r.replay.mode,
		"checkpoint_id": r.replay.checkpoint, "checkpoint_event_id": r.replay.checkpointEvent,
	} {
		if value != "" {
			m[name] = value
		}
	}

	if !r.replay.sourceHash.IsZero() {
		m["source_receipt_hash"] = r.replay.sourceHash.String()
	}
	if len(r.replay.unused) > 0 {
		m["overrides_unused"] = r.replay.unused
	}
	if r.artifacts.memory > 0 {
		m["memory_writes"] = r.artifacts.memory
	}

	// Calls that were never dispatched are counted but not listed.
	dropped := 0
	for _, c := range r.calls.Order {
		if r.calls.dropped(c) {
			dropped++
		}
	}
	if dropped > 0 {
		m["not_dispatched"] = dropped
	}

	if r.ids.trigger != nil {
		m["trigger"] = r.ids.trigger
	}
	return m
}
