package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// expected is the draft of the replay as the events of the plan give it.
func expected(p *Plan) (*receipt.Draft, error) {
	o := record.Options{Issuer: receipt.Issuer{ID: "replay"}, WorkspaceRef: "replay", Tier: "shadow"}
	for {
		rec, err := record.New(o)
		if err != nil {
			return nil, err
		}
		for line, err := range p.Events(Run{TaskID: p.log.TaskID + ":replay"}) {
			if err == nil {
				err = rec.Add(line)
			}
			if err != nil {
				return nil, err
			}
		}

		// A log may name no session: then no event of it belongs to one.
		d, err := rec.Draft()
		var missing *record.MissingError
		if !errors.As(err, &missing) || o.SessionID != "" {
			return d, err
		}
		o.SessionID = "replay"
	}
}

// A checker compares the receipt of a replay with what the plan gives.
type checker struct {
	plan    *Plan
	got     receipt.Draft
	weigh   func(receipt.Check)
	excused map[string]bool // keys, and ids of materials, of which something false is told
	failed  bool            // the replay came to no end, so that nothing is missing in its receipt
}

const valueWithheld = "the value was withheld, and cannot be compared"

// fail tells what is false. Of a value that was withheld before the receipt was sealed
// nobody can say that.
func (c *checker) fail(code receipt.Code, at, stated, computed, detail string) {
	if c.withheld(at) {
		c.unavailable(at, valueWithheld)
		return
	}
	c.weigh(receipt.Check{Step: receipt.StepHash, Status: receipt.StatusFailed, Code: code, Pointer: at, Stated: bound(stated), Computed: bound(computed), Detail: detail})
}

// withheld reports whether the receipt says that a value, or what it is in, is no longer
// there.
func (c *checker) withheld(at string) bool {
	return slices.ContainsFunc(c.got.Redactions, func(r receipt.Redaction) bool {
		return at == r.Field || r.Field != "" && strings.HasPrefix(at, r.Field+"/")
	})
}

// bound bounds foreign text in a finding.
func bound(s string) string {
	const most = 256
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

func (c *checker) unavailable(at, detail string) {
	c.weigh(receipt.Check{Step: receipt.StepHash, Code: vocab.CodeReplayUnavailable, Pointer: at, Detail: detail})
}

// logIn returns the log among materials, and its place; -1 when there is none.
func logIn(list []receipt.Material) (receipt.Material, int) {
	i := slices.IndexFunc(list, func(m receipt.Material) bool { return m.Kind == "event_log" })
	if i < 0 {
		return receipt.Material{}, i
	}
	return list[i], i
}

func indexed(at string, i int) string { return at + "/" + strconv.Itoa(i) }

const (
	atMaterials = "/replay_input/materials"
	atDeltas    = "/deltas"
)

// source compares what is replayed. Where that is something else, nothing more can be.
func (c *checker) source() bool {
	log := c.plan.log
	m, at := logIn(c.got.ReplayInput.Materials)
	events, told := m.Metadata["events"]
	named, _ := c.got.Metadata["source_task_id"].(string)
	mode, _ := c.got.Metadata["replay_mode"].(string)
	switch {
	case c.got.Subject.Object != "replay_segment":
		c.fail(vocab.CodeReplaySourceMismatch, "/subject/object", c.got.Subject.Object, "replay_segment", "the receipt is not about a replay")
	case named != "" && named != log.TaskID:
		c.fail(vocab.CodeReplaySourceMismatch, "/metadata/source_task_id", named, log.TaskID, "the receipt is of a replay of another task")
	case at >= 0 && !m.SHA256.IsZero() && m.SHA256 != log.Digest:
		c.fail(vocab.CodeReplaySourceMismatch, indexed(atMaterials, at)+"/sha256", m.SHA256.String(), log.Digest.String(), "the receipt is of a replay of another log")
	case told && fmt.Sprint(events) != strconv.Itoa(log.Events):
		c.fail(vocab.CodeReplaySourceMismatch, indexed(atMaterials, at)+"/metadata/events", fmt.Sprint(events), strconv.Itoa(log.Events), "the log has another number of events than the receipt tells of it")
	case mode != "" && mode != string(c.plan.request.Mode):
		c.fail(vocab.CodeReplaySourceMismatch, "/metadata/replay_mode", mode, string(c.plan.request.Mode), "the receipt is of a replay in another mode")
	case c.got.ReplayInput.Determinism == "unavailable":
		c.unavailable("/replay_input/unavailable_reason", "the replay failed for want of something, as its receipt says")
		c.failed = true
		return true
	case at < 0:
		c.unavailable(atMaterials, "the receipt does not name the log of its source")
		return true
	case m.SHA256.IsZero():
		c.unavailable(indexed(atMaterials, at), "the receipt does not tell the digest of its source's log")
		return true
	default:
		return true
	}
	return false
}

// mismatches tells the overrides that state another digest than their value has.
func (c *checker) mismatches() {
	for _, m := range c.plan.wrong {
		at := atDeltas
		if i := slices.IndexFunc(c.got.Deltas, func(d receipt.Delta) bool { return d.OverrideKey == m.Key }); i >= 0 {
			at = indexed(atDeltas, i) + "/after_sha256"
		}
		c.excuse(m.Key)
		c.fail(vocab.CodeOverrideHashMismatch, at, m.Stated.String(), m.Computed.String(), "the override "+quote(m.Key)+" states another digest than its value has")
	}
}

// excuse notes a key of which something false is told, so that what follows is not.
func (c *checker) excuse(key string) {
	c.excused[key] = true
	if of := c.plan.label[key]; of != "" {
		c.excused[of] = true
	}
}

// deltas compares each with the one of its key. Of those that are left over, one that is
// missing and one that is not expected are one delta with another key.
func (c *checker) deltas(want []receipt.Delta) {
	var unexpected []int
	missing := slices.Clone(want)
	for i, d := range c.got.Deltas {
		j := slices.IndexFunc(missing, func(w receipt.Delta) bool { return w.OverrideKey == d.OverrideKey })
		if j < 0 {
			unexpected = append(unexpected, i)
			continue
		}
		c.delta(indexed(atDeltas, i), missing[j], d)
		missing = slices.Delete(missing, j, j+1)
	}

	// An order is one of the same deltas.
	ordered := func(a, b receipt.Delta) int { return cmp.Compare(a.OverrideKey, b.OverrideKey) }
	if len(missing)+len(unexpected) == 0 && !slices.IsSortedFunc(c.got.Deltas, ordered) {
		c.fail(vocab.CodeDeltaMismatch, atDeltas, "", "", "the deltas are not in the order of their override keys")
	}

	if c.failed {
		missing = nil
	}
	for len(missing) > 0 && len(unexpected) > 0 {
		at := indexed(atDeltas, unexpected[0])
		if !c.withheld(at + "/override_key") {
			c.excuse(missing[0].OverrideKey)
		}
		c.fail(vocab.CodeDeltaMismatch, at+"/override_key", c.got.Deltas[unexpected[0]].OverrideKey, missing[0].OverrideKey, "the delta is of another override than the request has")
		missing, unexpected = missing[1:], unexpected[1:]
	}
	for _, d := range missing {
		c.excuse(d.OverrideKey)
		c.fail(vocab.CodeDeltaMissing, atDeltas, "", d.OverrideKey, "no delta tells of the override "+quote(d.OverrideKey))
	}
	for _, i := range unexpected {
		c.excuse(c.got.Deltas[i].OverrideKey)
		c.fail(vocab.CodeDeltaUnexpected, indexed(atDeltas, i), c.got.Deltas[i].OverrideKey, "", "the request has no such override")
	}
}

// delta tells the first member in which two differ.
func (c *checker) delta(at string, want, got receipt.Delta) {
	known := c.excused[got.OverrideKey] // that its digest is false
	for _, m := range []struct{ name, got, want string }{
		{"delta_id", got.DeltaID, want.DeltaID}, {"operation", got.Operation, want.Operation}, {"path", got.Path, want.Path},
		{"event_id", got.EventID, want.EventID}, {"before_sha256", state(got.BeforeSHA256), state(want.BeforeSHA256)},
		{"after_sha256", state(got.AfterSHA256), state(want.AfterSHA256)}, {"artifact_id", got.ArtifactID, want.ArtifactID}, {"reason", got.Reason, want.Reason},
	} {
		switch place := at + "/" + m.name; {
		case m.got == m.want, known && m.name == "after_sha256":
		case c.withheld(place):
			c.unavailable(place, valueWithheld)
		default:
			c.excuse(got.OverrideKey)
			c.fail(vocab.CodeDeltaMismatch, place, m.got, m.want, "the delta of "+quote(got.OverrideKey)+" has another "+m.name+" than the log and the request give")
			return
		}
	}
}

// state is one of the three states of a digest.
func state(d receipt.OptionalDigest) string {
	switch {
	case d.Null:
		return "null"
	case d.IsZero():
		return "absent"
	}
	return d.String()
}

// materials compares each but the log. The ids and digests count: where a material is kept
// may change.
func (c *checker) materials(want []receipt.Material) {
	got := c.got.ReplayInput.Materials
	_, log := logIn(got)
	_, wantLog := logIn(want)
	var places []int
	for i := range got {
		if i != log {
			places = append(places, i)
		}
	}
	if wantLog >= 0 {
		want = slices.Delete(slices.Clone(want), wantLog, wantLog+1)
	}

	for i, w := range want {
		if i >= len(places) {
			c.fail(vocab.CodeMaterialSubstituted, atMaterials, "", w.ID, "the recorded material "+quote(w.ID)+" is not listed")
			return
		}
		if !c.material(indexed(atMaterials, places[i]), w, got[places[i]]) && len(want) != len(places) {
			return // all that follows stands in another place
		}
	}
	if len(places) > len(want) {
		i := places[len(want)]
		c.fail(vocab.CodeMaterialSubstituted, indexed(atMaterials, i), got[i].ID, "", "the log has no such material, and no override adds it")
	}
}

func (c *checker) material(at string, want, got receipt.Material) bool {
	if c.excused[want.ID] {
		return true
	}
	key := func(m receipt.Material) string { s, _ := m.Metadata["override_key"].(string); return s }
	for _, m := range []struct{ name, got, want string }{
		{"id", got.ID, want.ID}, {"kind", got.Kind, want.Kind}, {"sha256", digest(got.SHA256), digest(want.SHA256)}, {"metadata/override_key", key(got), key(want)},
	} {
		switch place := at + "/" + m.name; {
		case m.got == m.want:
		case c.withheld(place):
			c.unavailable(place, valueWithheld)
		default:
			c.fail(vocab.CodeMaterialSubstituted, place, m.got, m.want, "the material "+quote(want.ID)+" is another than the log and the request give")
			return false
		}
	}
	return true
}

func digest(d canon.Digest) string {
	if d.IsZero() {
		return "absent"
	}
	return d.String()
}

// claim compares what the receipt says of itself: it may claim less than the log and the
// request give, and no more.
func (c *checker) claim(want string) {
	if got := c.got.ReplayInput.Determinism; got == "byte_deterministic" && got != want {
		c.fail(vocab.CodeReplayDiffers, "/replay_input/determinism", got, want, "something that answered has no digest, so that nothing shows that the replay had the same")
	}
}

// life compares the times, which come from the log or from overrides, and the end.
func (c *checker) life(want receipt.Lifecycle) {
	got := c.got.Lifecycle

	// A task that never started has the time of its end in this place.
	if _, told := c.plan.known["time:started_at"]; !told && c.plan.byKey["time:started_at"] == nil && got.StartedAt.Equal(got.CompletedAt.Time) {
		want.StartedAt = got.StartedAt
	}
	for _, m := range []struct {
		name      string
		got, want receipt.Time
	}{{"created_at", got.CreatedAt, want.CreatedAt}, {"started_at", got.StartedAt, want.StartedAt}, {"completed_at", got.CompletedAt, want.CompletedAt}} {
		if !m.got.Equal(m.want.Time) && !c.excused["time:"+m.name] {
			c.fail(vocab.CodeReplayDiffers, "/lifecycle/"+m.name, timeText(m.got), timeText(m.want), "the time is another than the log and the request give")
		}
	}
	if got.FinalState != want.FinalState {
		c.fail(vocab.CodeReplayDiffers, "/lifecycle/final_state", got.FinalState, want.FinalState, "the replay ended otherwise than its source")
	}
}

func timeText(t receipt.Time) string {
	if t.IsZero() {
		return "absent"
	}
	return t.String()
}

// effects tells what a replay can't have done.
func (c *checker) effects() {
	d := &c.got
	for _, l := range []struct {
		at string
		n  int
	}{
		{"/approvals", len(d.Approvals)}, {"/side_effects/fs_writes", len(d.SideEffects.FSWrites)}, {"/side_effects/network_egress", len(d.SideEffects.NetworkEgress)},
		{"/side_effects/tool_calls", len(d.SideEffects.ToolCalls)}, {"/side_effects/a2a_handoffs", len(d.SideEffects.A2AHandoffs)}, {"/cost/provider_breakdown", len(d.Cost.ProviderBreakdown)},
	} {
		for i := range l.n {
			c.effect(indexed(l.at, i), "")
		}
	}

	if d.Cost.Total != 0 {
		c.effect("/cost/total", fmt.Sprint(d.Cost.Total))
	}
	used := d.AutonomyBudget.Consumed
	if used.USD != nil && *used.USD != 0 {
		c.effect("/autonomy_budget/consumed/usd", fmt.Sprint(*used.USD))
	}
	for _, n := range []struct {
		name string
		n    *int64
	}{{"input_tokens", used.InputTokens}, {"output_tokens", used.OutputTokens}, {"tool_calls", used.ToolCalls}, {"wall_time_ms", used.WallTimeMS}} {
		if n.n != nil && *n.n != 0 {
			c.effect("/autonomy_budget/consumed/"+n.name, strconv.FormatInt(*n.n, 10))
		}
	}
}

func (c *checker) effect(at, stated string) {
	c.fail(vocab.CodeReplayEffect, at, stated, "", "what a replay tells again was done by its source")
}
