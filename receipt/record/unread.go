package record

import (
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Unread counts the records, frames and content blocks of a log that its reader does not know,
// by type. Every reader has a closed list of types that are known to be harmless. A record of
// any other type may state an action, so each list and count of the draft is then a lower bound.
type unread struct{ counts receipt.Object }

// sourceUnread notes what the reader of a log did not read: source.unread, once for each record
// or for several.
func sourceUnread(r *run, e *event.Event) { r.unread.add(r, e) }

// add adds the counts of an event.
func (u *unread) add(r *run, e *event.Event) {
	for kind, n := range countsIn(r, e, e.Payload.Member("ignored_records")) {
		u.count(kind, n.(int64))
	}
}

// note counts one record that this package itself does not read. Past a number of types the
// others are counted together.
func (u *unread) note(r *run, e *event.Event, kind string) {
	kind = event.Shorten(kind)
	if _, known := u.counts[kind]; !known {
		if len(u.counts) >= event.MaxPaths {
			kind = otherTypes
		}
		r.Part(e)
	}
	u.count(e.Once([]byte(kind)), 1)
}

// otherTypes stands for the types of records that are not counted apart.
const otherTypes = "other"

func (u *unread) count(kind string, n int64) {
	if u.counts == nil {
		u.counts = receipt.Object{}
	}
	before, _ := u.counts[kind].(int64)
	u.counts[kind] = before + n
}

// complete lists what an unread record, or a part of a log that is missing, may have added to.
func (u *unread) complete(r *run, d *receipt.Draft, t *telling) {
	if len(u.counts) > 0 {
		d.Metadata["ignored_records"] = u.counts
	} else if !r.sourced.partial {
		return
	}
	if d.ReplayInput.Determinism == "byte_deterministic" { // it may be an answer
		d.ReplayInput.Determinism = "best_effort"
	}
	for _, list := range []string{
		"/side_effects/tool_calls", "/side_effects/fs_writes", "/side_effects/network_egress", "/side_effects/a2a_handoffs",
		"/approvals", "/final_artifacts", "/cost/provider_breakdown", "/replay_input/materials", "/redactions",
	} {
		t.floor(list)
	}
	if r.replay.is {
		t.floor("/deltas")
	}

	const consumed = "/autonomy_budget/consumed"
	for _, count := range []string{"/tool_calls", "/input_tokens", "/output_tokens"} {
		t.floor(consumed + count)
	}
	if !slices.Contains(t.unreported, "/cost/total") {
		t.floor("/cost/total")
	}
	if t.untold(consumed + "/usd"); d.AutonomyBudget.Consumed.USD != nil {
		t.floor(consumed + "/usd")
	}
	for _, name := range []string{"source", "write_continuity", "memory_writes", "not_dispatched"} {
		switch _, have := d.Metadata[name]; {
		case have:
			t.floor("/metadata/" + name)
		case !r.sourced.is && (name == "memory_writes" || name == "not_dispatched"):
			t.untold("/metadata/" + name)
		}
	}
	if r.sourced.wall != nil || slices.Contains(t.unreported, "/lifecycle/started_at") { // otherwise it follows from the times
		t.floor(consumed + "/wall_time_ms")
	}
	if d.AutonomyBudget.Limit == nil && !r.sourced.is {
		t.untold("/autonomy_budget/limit")
	}
}
