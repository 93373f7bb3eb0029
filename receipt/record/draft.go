package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// HashProfile is metadata.hash_profile of drafts: digests of JSON values are the
// SHA-256 of their RFC 8785 form.
const HashProfile = "rfc8785-sha256"

// logType is the content type of the event log.
const logType = "application/jsonl"

// Draft returns the draft of the receipt. Errors are [ErrNotEnded], the *[event.Error]
// that ended the recording, a *[MissingError], an *[OptionError], and a *[receipt.InvalidError] for
// what cannot be sealed. It can be called again and changes nothing.
func (r *Recorder) Draft() (*receipt.Draft, error) {
	if err := r.log.Err(); err != nil {
		return nil, err
	}
	switch {
	case !r.Ended() && r.options.TaskID != "" && r.log.Counts().OtherTasks > 0 && r.log.Empty():
		return nil, fmt.Errorf("%w; none of the events is of the task %s", ErrNotEnded, event.Quote(r.options.TaskID))
	case !r.Ended():
		return nil, ErrNotEnded
	}

	// What is told again needs a replay that tells it.
	if told := r.run.replay.told; told != nil && !r.run.replay.is {
		return nil, told
	}
	d := r.run.draft()
	var err error
	if d.Subject, err = r.subject(d); err != nil {
		return nil, err
	}

	if n := textOf(reflect.ValueOf(d)); n > receipt.MaxBytes { // before it is written out
		return nil, event.OverLimit(r.log.Index(), "receipt.MaxBytes", int64(n))
	}

	// A replay that does not tell the log of its source cannot be byte for byte.
	log, told := r.logMaterial()
	d.ReplayInput.Materials = append([]receipt.Material{log}, d.ReplayInput.Materials...)
	if !told && d.ReplayInput.Determinism == "byte_deterministic" {
		d.ReplayInput.Determinism = "best_effort"
	}
	if err := missing(d); err != nil {
		return nil, err
	}

	// Only a task that has ended gets a receipt.
	if d.IssuedAt.Before(d.Lifecycle.CompletedAt.Time) {
		return nil, &OptionError{"IssuedAt", fmt.Sprintf("is %s, before the end of the task, %s", d.IssuedAt, d.Lifecycle.CompletedAt)}
	}

	sealer := r.options.Sealer
	if sealer == nil {
		if sealer, err = receipt.NewSealer(); err != nil {
			return nil, err
		}
	}

	if _, err := sealer.Seal(d, chain.Head{}); err != nil { // what is yielded can be sealed
		return nil, err
	}
	return clone(d)
}

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

// logMaterial is the digest of the events that the draft was made of, each in
// canonical form and ended with a line feed. A replay has the log of its source in
// this place.
func (r *Recorder) logMaterial() (m receipt.Material, told bool) {
	if r.run.replay.is {
		return r.run.replay.sourceLog()
	}
	return receipt.Material{
		Kind: "event_log", ID: "event_log:" + r.run.task, URI: r.options.LogURI, ContentType: logType,
		SHA256: r.log.Digest(), Metadata: receipt.Object{"events": r.log.Counts().Events},
	}, true
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

func (r *run) draft() *receipt.Draft {
	o, t := r.options, new(telling)

	// A call is judged by what the questions about it came to.
	for id, g := range r.approvals.gates(r) {
		if c := r.calls.byID[id]; c != nil {
			c.gate = g
		}
	}

	created, started, ended := r.clock()
	if started.IsZero() { // canceled or failed before it started
		started = ended
		t.untold("/lifecycle/started_at")
	}

	d := &receipt.Draft{
		ReceiptID: cmp.Or(o.ReceiptID, r.receiptID()),
		Issuer:    o.Issuer,
		IssuedAt:  receipt.At(ended),
		Identifiers: receipt.Identifiers{
			WorkspaceRef: cmp.Or(o.WorkspaceRef, r.ids.WorkspaceRef), SessionID: cmp.Or(o.SessionID, r.ids.SessionID), TaskID: r.task,
			TenantID: cmp.Or(o.TenantID, r.ids.TenantID), PersonaRef: cmp.Or(o.PersonaRef, r.ids.PersonaRef), BranchID: r.ids.BranchID, TraceID: r.ids.TraceID,
		},
		Lifecycle: receipt.Lifecycle{StartedAt: receipt.At(started), CompletedAt: receipt.At(ended), FinalState: r.final, Failure: r.failure},
		Trust:     receipt.TrustTiers{StartTier: r.startTier, EndTier: r.tier, PolicyRef: cmp.Or(o.PolicyRef, r.policy)},
		Deltas:    r.deltaList(),
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
	d.SideEffects = receipt.SideEffects{NetworkEgress: r.networkEgress(t), ToolCalls: r.toolCalls(t), A2AHandoffs: r.handoffList(t)}
	d.ReplayInput = r.replayInput()
	d.AutonomyBudget = receipt.AutonomyBudget{Limit: r.limit, Consumed: r.consumed(t, d.Cost.Total, ended.Sub(started))}
	r.withhold(d, t)

	for at := range r.twoNames {
		t.contradicts(at, namesDiffer)
	}
	d.Metadata = r.metadata()
	t.into(d.Metadata)
	return d
}

// withhold fills the lists of which an entry may be withheld, and redactions.
func (r *run) withhold(d *receipt.Draft, t *telling) {
	d.Redactions = []receipt.Redaction{}
	for _, at := range slices.Sorted(slices.Values(r.failureWithheld)) { // not in the order in which somebody wrote members
		d.Redactions = append(d.Redactions, receipt.Redaction{Field: at, Reason: "hidden reasoning"})
	}

	// The label of such a path is in the list already: this says why.
	writes, paths := r.fileWrites(t)
	d.SideEffects.FSWrites = writes
	for _, at := range paths {
		d.Redactions = append(d.Redactions, receipt.Redaction{Field: at, Reason: "path outside the workspace"})
	}

	artifacts, uris := r.finalArtifacts(t)
	d.FinalArtifacts = artifacts
	d.Redactions = append(d.Redactions, uris...)
	if r.reasoningWithheld != "" {
		d.Redactions = append(d.Redactions, receipt.Redaction{Field: "/metadata/reasoning_summary", Reason: r.reasoningWithheld})
	}
}

// consumed counts what the task used. The dollars are left out when it paid in
// another currency, the time when the clock went back. A replay uses nothing but
// what it says that it did anew.
func (r *run) consumed(t *telling, total float64, took time.Duration) receipt.Amounts {
	const at = "/autonomy_budget/consumed"
	a := receipt.Amounts{
		USD: r.costs.spent(total), InputTokens: r.costs.input.number(t, at+"/input_tokens"), OutputTokens: r.costs.output.number(t, at+"/output_tokens"),
	}

	pending := map[string]bool{} // calls that were asked for and not approved
	for _, p := range r.approvals.order {
		if decision, _, _ := p.decision(r); decision != event.Approved && p.call != "" {
			pending[p.call] = true
		}
	}

	// What waited for an approval, or was refused, did not get to its tool.
	calls := int64(0)
	for _, c := range r.calls.order {
		if !r.dropped(c) && r.dispatched(c, pending) {
			calls++
			if !r.ran(c) && c.outcome == "" { // it was asked for, and nothing tells more
				t.ceiling(at + "/tool_calls")
			}
		}
	}
	a.ToolCalls = &calls

	// What a replay tells again was used by its source.
	ms := took.Milliseconds()
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

func (r *run) metadata() receipt.Object {
	m := receipt.Object{"hash_profile": HashProfile}
	for name, value := range map[string]string{
		"cancel_requested_by": r.canceledBy, "cancel_reason": r.cancelWhy, "source_task_id": r.replay.source, "replay_mode": r.replay.mode,
	} {
		if value != "" {
			m[name] = value
		}
	}

	if !r.replay.sourceHash.IsZero() {
		m["source_receipt_hash"] = r.replay.sourceHash.String()
	}
	if r.memoryWrites > 0 {
		m["memory_writes"] = r.memoryWrites
	}

	// Calls that were never dispatched are counted, and not listed.
	dropped := 0
	for _, c := range r.calls.order {
		if r.dropped(c) {
			dropped++
		}
	}
	if dropped > 0 {
		m["not_dispatched"] = dropped
	}

	if r.trigger != nil {
		m["trigger"] = r.trigger
	}
	return m
}
