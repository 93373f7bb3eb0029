package record

import (
	"bytes"
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

// HashProfile is metadata.hash_profile of drafts: digests of JSON values are the
// SHA-256 of their RFC 8785 form.
const HashProfile = "rfc8785-sha256"

// logType is the content type of the event log.
const logType = "application/jsonl"

// textOf counts the bytes of the strings in a value. Those that are kept once may be
// written many times.
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

// clone returns a draft that shares nothing with the recorder.
func clone(d *receipt.Draft) (*receipt.Draft, error) {
	text, err := JSON(d)
	if err != nil {
		return nil, err
	}
	c := new(receipt.Draft)
	return c, json.Unmarshal(text, c)
}

// JSON returns a draft of a [Recorder] in canonical form (RFC 8785), with its schema
// marker, as receipt.SealDocument and `receipt seal` take it. Nothing is filled in:
// a nil list of a draft that was made by hand is null, which those refuse.
func JSON(d *receipt.Draft) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(struct {
		Schema string `json:"schema"`
		receipt.Draft
	}{receipt.SchemaMarker, *d}); err != nil {
		return nil, err
	}
	return canon.Transform(b.Bytes())
}

// missing names what a receipt cannot do without.
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

// A drafting is a draft while it is made of what events said, and what they did not say.
type drafting struct {
	*receipt.Draft
	run  *run
	told *telling
}

// draftOf makes the draft of a run, but for its subject and the log.
func draftOf(r *run) *receipt.Draft {
	o, t := r.options, new(telling)

	// A call is judged by what the questions about it came to.
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

	// Times that are not told are left out, but for the one that a receipt must have.
	if !o.IssuedAt.IsZero() {
		d.IssuedAt = receipt.At(o.IssuedAt)
	}
	if !created.IsZero() {
		d.Lifecycle.CreatedAt = receipt.At(created)
	}

	// Each list adds to t what the source does not tell of it.
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

// withhold fills the lists of which an entry may be withheld, and redactions.
func (d *drafting) withhold() {
	r, t := d.run, d.told
	d.Redactions = []receipt.Redaction{}
	for _, at := range slices.Sorted(slices.Values(r.failure.withheld)) { // not in the order in which somebody wrote members
		d.Redactions = append(d.Redactions, receipt.Redaction{Field: at, Reason: "hidden reasoning"})
	}

	// The label of such a path is in the list already: this says why.
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

// consumed counts what the task used. The dollars are left out when it paid in
// another currency, the time when the clock went back. A replay uses nothing but
// what it says that it did anew.
func (d *drafting) consumed(ms int64) receipt.Amounts {
	r, t := d.run, d.told
	const at = "/autonomy_budget/consumed"
	a := receipt.Amounts{
		USD: r.costs.spent(d.Cost.Total), InputTokens: r.costs.input.number(t, at+"/input_tokens"), OutputTokens: r.costs.output.number(t, at+"/output_tokens"),
	}

	pending := map[string]bool{} // calls that were asked for and not approved
	for _, p := range r.approvals.Order {
		if decision, _, _ := p.decision(r); decision != event.Approved && p.call != "" {
			pending[p.call] = true
		}
	}

	// What waited for an approval, or was refused, did not get to its tool.
	calls := int64(0)
	for _, c := range r.calls.Order {
		if !r.calls.dropped(c) && r.calls.dispatched(c, pending) {
			calls++
			if !r.calls.ran(c) && c.outcome == "" { // it was asked for, and nothing tells more
				t.ceiling(at + "/tool_calls")
			}
		}
	}
	a.ToolCalls = &calls

	// What a replay tells again was used by its source.
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

// elapsed is how many milliseconds are between two times. A Duration ends at 292 years.
func elapsed(from, to time.Time) int64 {
	if took := to.Sub(from); took < math.MaxInt64 {
		return took.Milliseconds()
	}
	return to.UnixMilli() - from.UnixMilli()
}

// metadata has what a receipt has no member for.
func (d *drafting) metadata() receipt.Object {
	r := d.run
	m := receipt.Object{"hash_profile": HashProfile}
	for name, value := range map[string]string{
		"cancel_requested_by": r.canceledBy, "cancel_reason": r.cancelWhy, "source_task_id": r.replay.source, "replay_mode": r.replay.mode,
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

	// Calls that were never dispatched are counted, and not listed.
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
