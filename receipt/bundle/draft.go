package bundle

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// DraftOptions supply values that a bundle does not contain. Only Issuer.ID is required.
type DraftOptions struct {
	Issuer       receipt.Issuer // default Kind: harness
	ReceiptID    string         // default: receipt_ followed by the bundle's id
	IssuedAt     time.Time      // default: the time at which the bundle was created
	WorkspaceRef string         // "": unreported
	SessionID    string         // default: the session of the first transcript section, or unreported
	TenantID     string
	PersonaRef   string
	Tier         string // "": unreported
	Markers      Markers
}

// maxListed is the maximum number of calls, approvals, and redactions that a draft lists. If a list
// is longer, metadata.unreported contains its JSON Pointer.
const maxListed = 10_000

// Draft creates a receipt draft for an exported bundle. The bundle is the subject of the draft and
// also its only artifact, which is identified by the digest of the bundle's bytes. The draft
// contains the bundle's statements about the run, with placeholders for strings that look like
// secrets. Values that a receipt requires but the bundle does not state are listed in
// metadata.unreported. The draft's redactions are the removals that are listed in the bundle; the
// field of each redaction is a JSON Pointer into the bundle.
//
// The determinism of a run is best_effort or unavailable. The embedded run record is a material,
// identified by the SHA-256 of its canonical form (RFC 8785). A question without a recorded answer
// is not listed as an approval.
//
// The error is an *[Error], an *[OptionError], or a *receipt.InvalidError.
func Draft(b *Bundle, o DraftOptions) (*receipt.Draft, error) {
	r, err := prepared()
	if err != nil {
		return nil, err
	}
	if o.Issuer.ID == "" {
		return nil, &OptionError{"Issuer.ID", "is empty: the issuer of the receipt is missing"}
	}

	// The structure is checked first, so that the following code can rely on it.
	found := newMarks(r.marker)
	info, err := check(r, b, o.Markers, found)
	if err != nil {
		return nil, err
	}

	d := drafting{bundle: b.root(), marks: found, info: info}
	draft, err := d.draft(o, canon.Sum(b.doc.Source()))
	if err != nil {
		return nil, err
	}

	// Sealing checks the draft against the schema of receipts; the sealed receipt is discarded.
	_, err = receipt.Seal(draft, chain.Head{})
	return draft, err
}

// A drafting is a draft under construction.
type drafting struct {
	bundle     value
	marks      *marks
	info       *Info
	unreported []string // JSON Pointers of values that the bundle omits or contains only in part
	atLeast    []string // pointers in unreported to sums and lists that contain only the stated values
	took       *int64   // duration of the run in milliseconds; nil if unreported
}

func (d *drafting) untold(at string) { d.unreported = append(d.unreported, at) }

// floor records that the sum or list at a JSON Pointer may be incomplete.
func (d *drafting) floor(at string) {
	d.untold(at)
	d.atLeast = append(d.atLeast, at)
}

// said returns the string value of a member, with placeholders for secrets.
func (d *drafting) said(v value, name string) string { return d.marks.clean(v.member(name)) }

// or returns told if it is not empty. If told is empty, the method returns the parameter otherwise,
// and lists the value as unreported.
func (d *drafting) or(told, otherwise, at string) string {
	if told == "" {
		d.untold(at)
		return otherwise
	}
	return told
}

func (d *drafting) draft(o DraftOptions, digest canon.Digest) (*receipt.Draft, error) {
	source := d.bundle.member("source")
	created, ok := timeOf(d.bundle.member("created_at"))
	if o.IssuedAt.IsZero() {
		if o.IssuedAt = created; !ok {
			return nil, &OptionError{"IssuedAt", "is zero, and created_at of the bundle is not an RFC 3339 time"}
		}
	}

	// Only a run that has ended gets a receipt.
	lifecycle, err := d.lifecycle(source, o.IssuedAt)
	if err != nil {
		return nil, err
	}

	// An option takes precedence over the bundle, and a default applies if neither has a value.
	o.Issuer.Kind = cmp.Or(o.Issuer.Kind, "harness")
	section := d.bundle.member("transcript").member("sections").child(0).member("metadata")
	draft := &receipt.Draft{
		ReceiptID: cmp.Or(o.ReceiptID, "receipt_"+d.info.BundleID),
		Subject:   receipt.ResourceRef{Object: "artifact", ID: d.info.BundleID},
		Issuer:    o.Issuer,
		IssuedAt:  receipt.At(o.IssuedAt),
		Identifiers: receipt.Identifiers{
			WorkspaceRef: d.or(o.WorkspaceRef, unknown, "/identifiers/workspace_ref"),
			SessionID:    d.or(cmp.Or(o.SessionID, d.said(section, "session_id")), unknown, "/identifiers/session_id"),
			TaskID:       d.or(d.info.RunRecordID, unknown, "/identifiers/task_id"),
			TenantID:     o.TenantID, PersonaRef: o.PersonaRef,
		},
		Lifecycle: lifecycle,
		Trust: receipt.TrustTiers{
			StartTier: d.or(o.Tier, "shadow", "/trust/start_tier"), EndTier: d.or(o.Tier, "shadow", "/trust/end_tier"),
		},
		ReplayInput:    d.replayInput(),
		SideEffects:    receipt.SideEffects{FSWrites: []receipt.FileWrite{}, NetworkEgress: []receipt.NetworkEgress{}, ToolCalls: d.toolCalls(), A2AHandoffs: []receipt.Handoff{}},
		Approvals:      d.approvals(),
		FinalArtifacts: []receipt.Artifact{{ArtifactID: d.info.BundleID, Kind: "session_bundle", SHA256: digest}},
		Deltas:         []receipt.Delta{},
		Redactions:     d.redactions(),
	}

	// Bundles do not contain lists of file writes, network requests, or handoffs.
	for _, at := range []string{"fs_writes", "network_egress", "a2a_handoffs"} {
		d.untold("/side_effects/" + at)
	}

	// Lower bounds are set last, because they depend on the values above.
	of := account{d}
	of.usage(draft)
	read := of.evidence()
	of.bound(draft, read)
	draft.Metadata = d.metadata(read)
	return draft, nil
}

// lifecycle returns the lifecycle of the run, which must have ended.
func (d *drafting) lifecycle(source value, issued time.Time) (l receipt.Lifecycle, err error) {
	switch string(source.member("status").content()) {
	case "completed", "succeeded", "success":
		l.FinalState = receipt.StateSucceeded
	case "failed", "error":
		l.FinalState = receipt.StateFailed
		d.untold("/lifecycle/failure")
	case "canceled", "cancelled":
		l.FinalState = receipt.StateCanceled
	default:
		return l, &Error{NotEnded, "$.source.status", "expected completed, succeeded, failed, error or canceled"}
	}

	// A receipt requires a start time and a completion time. If the bundle does not contain one of
	// them, the time of issue is used instead.
	started, begun := timeOf(source.member("started_at"))
	if !begun {
		started = issued
		d.untold("/lifecycle/started_at")
	}
	finished, ended := timeOf(source.member("finished_at"))
	if !ended {
		finished = issued
		d.untold("/lifecycle/completed_at")
	}

	l.StartedAt, l.CompletedAt = receipt.At(started), receipt.At(finished)
	if took := finished.Sub(started).Milliseconds(); begun && ended && took >= 0 {
		d.took = &took
	}
	return l, nil
}

func timeOf(v value) (time.Time, bool) {
	at, err := receipt.ParseTime(v.content())
	return at, err == nil
}

// toolCalls returns the tool calls that the bundle lists. A rejected call is recorded as failed.
func (d *drafting) toolCalls() []receipt.ToolCall {
	told := []receipt.ToolCall{}
	gone := d.gone()
	const at = "/side_effects/tool_calls"
	for i, c := range d.bundle.member("tools").member("calls").each {
		if i == maxListed {
			d.untold(at)
			break
		}

		here := at + pointerOf([]step{{"", i}})
		call := receipt.ToolCall{
			Tool:   d.or(d.said(c, "tool_name"), unknown, here+"/tool"),
			CallID: d.or(d.said(c, "tool_use_id"), unknown, here+"/call_id"),
			Status: "succeeded",
		}

		switch rejected := c.member("is_rejected"); {
		case rejected.none():
			d.untold(here + "/status")
		case string(rejected.raw()) == "true":
			call.Status = "failed"
		}

		// An args_hash that is not a SHA-256 digest is kept unchanged in the metadata. No digest is
		// computed from a result that was changed.
		if digest := d.said(c, "args_hash"); digest != "" {
			if hash, err := canon.ParseDigest(digest); err == nil {
				call.InputHash = hash
			} else {
				call.Metadata = receipt.Object{"args_hash": digest}
			}
		}

		path := appendStep(appendStep([]byte(calls), step{"", i}), step{"result", -1})
		if result := c.member("result"); result.kind() == canon.KindString && !gone[string(path)] && !hasPlaceholder(result.content()) {
			call.OutputHash = canon.Sum(result.content())
		}

		told = append(told, call)
	}
	return told
}

const calls = "$.tools.calls"

// gone returns the paths of the listed removals within tool calls.
func (d *drafting) gone() map[string]bool {
	paths := map[string]bool{}
	for _, e := range d.bundle.member("redaction").member("entries").each {
		if path := e.member("path").content(); bytes.HasPrefix(path, []byte(calls)) {
			paths[string(path)] = true
		}
	}
	return paths
}

// approvals returns the permissions whose recorded decisions can be expressed in a receipt. Other
// permissions are omitted.
func (d *drafting) approvals() []receipt.Approval {
	approvals := []receipt.Approval{}
	open := false
	for _, p := range d.bundle.member("permissions").each {
		payload := p.member("payload")
		decision := string(payload.member("decision").content())
		decided, ok := timeOf(payload.member("decided_at"))
		actor := d.said(payload, "actor")

		// A receipt requires the decision, the time of the decision, and the actor who made it.
		if !slices.Contains([]string{"approved", "denied", "canceled", "timeout"}, decision) || !ok || actor == "" || len(approvals) == maxListed {
			open = true
			continue
		}
		approvals = append(approvals, receipt.Approval{
			ApprovalID: d.said(p, "request_id"), Actor: actor, Decision: decision, DecidedAt: receipt.At(decided),
			Action: cmp.Or(d.said(payload, "action"), d.said(p, "kind"), unknown),
		})
	}

	if open || len(approvals) == 0 {
		d.untold("/approvals")
	}
	return approvals
}

// replayInput lists the embedded run record as a material.
func (d *drafting) replayInput() receipt.ReplayInput {
	replay := d.bundle.member("replay")
	record := replay.member("run_record")
	in := receipt.ReplayInput{Determinism: "best_effort", Materials: []receipt.Material{}}
	switch {
	case record.kind() == canon.KindObject:
		in.Materials = append(in.Materials, receipt.Material{
			Kind: "event_log", ID: d.info.RunRecordID, SHA256: canon.Sum(record.node.AppendCanonical(nil)), ContentType: "application/json",
			Metadata: receipt.Object{"hash_profile": "rfc8785-sha256", "in": "/final_artifacts/0", "pointer": "/replay/run_record"},
		})
	case replay.member("replay_fixture").kind() != canon.KindObject:
		in.Determinism, in.UnavailableReason = "unavailable", "the bundle has neither a run record nor a replay fixture"
	}
	return in
}

// redactions returns the removals that are listed in the bundle.
func (d *drafting) redactions() []receipt.Redaction {
	redactions := []receipt.Redaction{}
	for _, e := range d.bundle.member("redaction").member("entries").each {
		steps, ok := parsePath(string(e.member("path").content()))
		if !ok || len(steps) == 0 || len(redactions) == maxListed {
			d.untold("/redactions")
			break
		}

		// Names that look like secrets are replaced in JSON Pointers, too.
		for i := range steps {
			if mark := d.marks.name([]byte(steps[i].name)); steps[i].index < 0 && mark.secret {
				steps[i].name = string(mark.found.Text)
			}
		}

		redactions = append(redactions, receipt.Redaction{Field: pointerOf(steps), Reason: cmp.Or(d.said(e, "class"), unknown)})
	}
	return redactions
}

// metadata identifies the bundle and lists the unreported values.
func (d *drafting) metadata(read evidence) receipt.Object {
	models := []string{}
	for i, m := range d.bundle.member("runtime").member("provider_models").each {
		if i < maxListed {
			models = append(models, d.marks.clean(m))
		}
	}

	of := receipt.Object{
		"mode": string(d.info.Mode), "policy": d.said(d.bundle.member("redaction"), "policy"), "created_at": d.said(d.bundle, "created_at"),
		"producer": d.said(d.bundle.member("producer"), "name"), "provider_models": models, "redactions_in": "/final_artifacts/0",
	}
	if len(read.gaps) > 0 {
		of["evidence_gaps"] = read.gaps
	}

	// Empty lists are omitted.
	all := receipt.Object{"session_bundle": of}
	for name, list := range map[string][]string{"unreported": d.unreported, "at_least": d.atLeast} {
		if len(list) > 0 {
			all[name] = slices.Compact(slices.Sorted(slices.Values(list)))
		}
	}
	if len(read.unread) > 0 {
		all["ignored_records"] = read.unread
	}
	return all
}
