package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// HashProfile is metadata.hash_profile of drafts: digests of JSON values are the
// SHA-256 of their RFC 8785 form.
const HashProfile = "rfc8785-sha256"

// logType is the content type of the event log.
const logType = "application/jsonl"

// Draft returns the draft of the receipt. Errors are [ErrNotEnded], the *[Error]
// that ended the recording, a *[MissingError], an *[OptionError], and a *[receipt.InvalidError] for
// what cannot be sealed. It can be called again and changes nothing.
func (r *Recorder) Draft() (*receipt.Draft, error) {
	if r.err != nil {
		return nil, r.err
	}
	switch {
	case !r.Ended() && r.options.TaskID != "" && r.counts.OtherTasks > 0 && len(r.seen) == 0:
		return nil, fmt.Errorf("%w; none of the events is of the task %s", ErrNotEnded, quote(r.options.TaskID))
	case !r.Ended():
		return nil, ErrNotEnded
	}
	d := r.run.draft()
	if n := textOf(reflect.ValueOf(d)); n > receipt.MaxBytes { // before it is written out
		limit := exceeded("receipt.MaxBytes", int64(n))
		return nil, &Error{Index: r.index, Code: CodeLimit, Detail: limit.Error(), err: limit}
	}
	d.ReplayInput.Materials = append([]receipt.Material{r.logMaterial()}, d.ReplayInput.Materials...)
	if err := missing(d); err != nil {
		return nil, err
	}
	if d.IssuedAt.Before(d.Lifecycle.CompletedAt.Time) {
		return nil, &OptionError{"IssuedAt", fmt.Sprintf("is %s, before the end of the task, %s", d.IssuedAt, d.Lifecycle.CompletedAt)}
	}
	sealer := r.options.Sealer
	if sealer == nil {
		var err error
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
// canonical form and ended with a line feed.
func (r *Recorder) logMaterial() receipt.Material {
	m := receipt.Material{
		Kind: "event_log", ID: "event_log:" + r.run.task, URI: r.options.LogURI, ContentType: logType,
		SHA256: canon.Digest(r.log.Sum(nil)), Metadata: receipt.Object{"events": r.counts.Events},
	}
	return m
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
	o := r.options
	d := &receipt.Draft{
		ReceiptID: cmp.Or(o.ReceiptID, "receipt_"+strings.TrimPrefix(r.task, "task_")),
		Subject:   receipt.ResourceRef{Object: "task", ID: r.task},
		Issuer:    o.Issuer,
		IssuedAt:  receipt.At(r.ended),
		Identifiers: receipt.Identifiers{
			WorkspaceRef: cmp.Or(o.WorkspaceRef, r.ids.WorkspaceRef), SessionID: cmp.Or(o.SessionID, r.ids.SessionID), TaskID: r.task,
			TenantID: cmp.Or(o.TenantID, r.ids.TenantID), PersonaRef: cmp.Or(o.PersonaRef, r.ids.PersonaRef), BranchID: r.ids.BranchID, TraceID: r.ids.TraceID,
		},
		Lifecycle: receipt.Lifecycle{StartedAt: receipt.At(r.started), CompletedAt: receipt.At(r.ended), FinalState: r.final, Failure: r.failure},
		Trust:     receipt.TrustTiers{StartTier: r.startTier, EndTier: r.tier, PolicyRef: cmp.Or(o.PolicyRef, r.policy)},
		Approvals: []receipt.Approval{},
		Deltas:    r.deltaList(),
	}
	if !o.IssuedAt.IsZero() {
		d.IssuedAt = receipt.At(o.IssuedAt)
	}
	if !r.created.IsZero() {
		d.Lifecycle.CreatedAt = receipt.At(r.created)
	}
	if r.replay.is {
		d.Subject.Object = "replay_segment"
	}
	for _, a := range r.approvals.order {
		d.Approvals = append(d.Approvals, a.entry(r))
	}
	d.Cost, d.ModelRoute = r.cost(), r.modelRoute()
	d.SideEffects = receipt.SideEffects{NetworkEgress: r.networkEgress(), ToolCalls: r.toolCalls(), A2AHandoffs: r.handoffList()}
	d.ReplayInput = r.replayInput()
	d.AutonomyBudget = receipt.AutonomyBudget{Limit: r.limit, Consumed: r.consumed()}
	d.Metadata = r.metadata()
	r.withhold(d)
	return d
}

// withhold fills the lists of which an entry may be withheld, and redactions.
func (r *run) withhold(d *receipt.Draft) {
	d.Redactions = []receipt.Redaction{}
	for _, at := range slices.Sorted(slices.Values(r.failureWithheld)) { // not in the order in which somebody wrote members
		d.Redactions = append(d.Redactions, receipt.Redaction{Field: at, Reason: "hidden reasoning"})
	}
	writes, paths := r.fileWrites()
	d.SideEffects.FSWrites = writes
	for _, at := range paths {
		d.Redactions = append(d.Redactions, receipt.Redaction{Field: at, Reason: "path outside the workspace"})
	}
	artifacts, uris := r.finalArtifacts()
	d.FinalArtifacts = artifacts
	d.Redactions = append(d.Redactions, uris...)
	if r.reasoningWithheld != "" {
		d.Redactions = append(d.Redactions, receipt.Redaction{Field: "/metadata/reasoning_summary", Reason: r.reasoningWithheld})
	}
}

func (r *run) toolCalls() []receipt.ToolCall {
	list := []receipt.ToolCall{}
	for _, c := range r.calls.order {
		if !c.dropped {
			list = append(list, c.entry())
		}
	}
	return list
}

func (r *run) handoffList() []receipt.Handoff {
	list := []receipt.Handoff{}
	for _, h := range r.handoffs.order {
		list = append(list, *h)
	}
	return list
}

func (r *run) cost() receipt.Cost {
	c := receipt.Cost{Currency: cmp.Or(r.currency, dollars), Total: r.total.float(), ProviderBreakdown: []receipt.ProviderCost{}}
	for _, p := range r.costs.order {
		c.ProviderBreakdown = append(c.ProviderBreakdown, receipt.ProviderCost{
			Provider: p.provider, Model: p.model, Amount: p.amount.float(), InputTokens: p.input, OutputTokens: p.output,
		})
	}
	return c
}

func (r *run) modelRoute() receipt.ModelRoute {
	route := receipt.ModelRoute{
		ChosenModel: receipt.Model{Provider: "none", Model: "none"}, AlternativesConsidered: []receipt.Model{}, RoutePolicyReason: "no model call was made",
	}
	if r.model != nil {
		route.ChosenModel, route.RoutePolicyReason = *r.model, "the first model that was called"
	}
	route.AlternativesConsidered = append(route.AlternativesConsidered, r.alternatives...)
	last(&route.RoutePolicyReason, r.routeReason)
	return route
}

// consumed counts what the task used. The dollars are left out when it paid in
// another currency, the time when the clock went back.
func (r *run) consumed() receipt.Amounts {
	var a receipt.Amounts
	if r.priced && r.currency == dollars {
		usd := r.total.float()
		a.USD = &usd
	}
	if r.counted {
		in, out := r.input, r.output
		a.InputTokens, a.OutputTokens = &in, &out
	}
	pending := map[string]bool{} // calls that were asked for and not approved
	for _, p := range r.approvals.order {
		if decision, _, _ := p.decision(r); decision != approved && p.call != "" {
			pending[p.call] = true
		}
	}
	calls := int64(0)
	for _, c := range r.calls.order {
		if !c.dropped && c.dispatched(pending) {
			calls++
		}
	}
	a.ToolCalls = &calls
	if ms := r.ended.Sub(r.started).Milliseconds(); ms >= 0 {
		a.WallTimeMS = &ms
	}
	return a
}

// replayInput lists the materials. A replay is byte for byte only when everything
// that came from a model, a tool or the host is there by its digest.
func (r *run) replayInput() receipt.ReplayInput {
	in := receipt.ReplayInput{Determinism: "byte_deterministic", Materials: []receipt.Material{}}
	for _, m := range r.materials {
		if m.call != nil {
			if m.call.dropped || m.call.outcome == "" { // nothing was returned
				continue
			}
			m.Material = receipt.Material{Kind: "mcp_tool_return", ID: "mcp:" + m.call.server + ":" + m.call.id, URI: m.call.outputURI, SHA256: m.call.output}
		}
		if m.SHA256.IsZero() {
			in.Determinism = "best_effort"
		}
		if m.SHA256.IsZero() || m.URI == "" {
			m.Metadata = receipt.Object{}
		}
		in.Materials = append(in.Materials, m.Material)
	}
	for _, c := range r.calls.order {
		if !c.dropped && !c.denied && (c.material == 0 || c.outcome == "") {
			in.Determinism = "best_effort"
		}
	}
	if r.replay.unavailable != "" {
		in.Determinism, in.UnavailableReason = "unavailable", r.replay.unavailable
	}
	return in
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
	if r.notDispatched > 0 {
		m["not_dispatched"] = r.notDispatched
	}
	if r.trigger != nil {
		m["trigger"] = r.trigger
	}
	return m
}
