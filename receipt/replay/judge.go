package replay

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

const (
	atMaterials = "/replay_input/materials"
	atLog       = atMaterials + "/0"
	atArtifacts = "/final_artifacts"
	atDeltas    = "/deltas"

	valueWithheld = "the value was withheld, and cannot be compared"
)

// A judge evaluates the differences between the receipt of a replay and the expected draft.
type judge struct {
	*subject
	plan   *Plan
	failed bool     // the replay failed, so values may be absent
	silent []string // JSON Pointers of members that are absent from the log

	keyWithheld bool // the override key of a delta was withheld
}

// difference returns the findings for a difference between the receipt of the replay and the
// expected draft.
func (c *judge) difference(d difference) []finding {
	f := finding{at: d.at, stated: shown(d.a), computed: shown(d.b), of: c.things(d)}
	switch {
	case c.withheld(d.at):
		f.outcome, f.detail = undecided, valueWithheld
	case c.failed && unreached(d):
		f.outcome, f.detail = informs, "a failed replay may have ended before this"
	case alike(d):
		f.outcome, f.detail = informs, "the receipt states the same as the log and the request, in another form or only in part"
	case slices.Contains(c.silent, d.at):
		return nil // unsupported reports it
	case strings.HasPrefix(d.at, "/metadata/"):
		return c.metadata(d, f)
	case strings.HasPrefix(d.at, atDeltas):
		f.code, f.detail = receipt.CodeDeltaMismatch, "the delta differs from that of the log and the request"
		c.delta(d, &f)
	case strings.HasPrefix(d.at, atMaterials):
		f.code, f.detail = receipt.CodeMaterialSubstituted, "the material differs from that of the log and the request"
		c.material(d, &f)

	case strings.HasPrefix(d.at, "/redactions/") && d.b.IsZero():
		return c.redaction(d, f)
	default:
		c.other(d, &f)
	}
	return []finding{f}
}

// other evaluates a difference outside deltas, materials, metadata, and redactions.
func (c *judge) other(d difference, f *finding) {
	f.code, f.detail = receipt.CodeReplayDiffers, "the log and the request give a different value"
	switch {
	case d.at == "/subject/object":
		f.code, f.detail = receipt.CodeReplaySourceMismatch, "the receipt does not describe a replay"
	case strings.HasPrefix(d.at, atArtifacts) && d.b.IsZero():
		f.outcome, f.detail = undecided, "a module may create artifacts; the log and the request do not show whether it created this one"
	case d.b.IsZero() && slices.Contains(optional(), d.at):
		f.outcome, f.detail = undecided, "the log does not name it; the receipt of the source may"
	case isEffect(d.at):
		f.code, f.computed, f.detail = receipt.CodeReplayEffect, "", "the source did this, and the replay only repeats its record"
	}
}

// isEffect reports whether a location is within the approvals, side effects, costs, or consumed
// budget.
func isEffect(at string) bool {
	return slices.ContainsFunc([]string{"/approvals/", "/side_effects/", "/cost/total", "/cost/provider_breakdown", "/autonomy_budget/consumed"}, func(under string) bool {
		return strings.HasPrefix(at, under)
	})
}

// metadata evaluates a difference in a metadata member that the log and the request determine. A
// receipt may omit the source's task ID and the replay mode.
func (c *judge) metadata(d difference, f finding) []finding {
	unused := strings.HasPrefix(d.at, "/metadata/overrides_unused")
	checkpoint := strings.HasPrefix(d.at, "/metadata/checkpoint")
	f.code, f.detail = receipt.CodeReplaySourceMismatch, "the receipt describes another replay"
	switch {
	case unused && d.a.IsZero() && c.keyWithheld:
		f.outcome, f.at, f.detail = undecided, atDeltas, valueWithheld
	case unused && d.a.IsZero():
		f.code, f.at, f.stated, f.detail = receipt.CodeDeltaMissing, atDeltas, "", "neither a delta nor /metadata/overrides_unused names an override of the request"
	case unused:
		f.code, f.detail = receipt.CodeReplayDiffers, "the unused overrides differ from those of the log and the request"
	case checkpoint && d.a.IsZero():
		f.outcome, f.detail = undecided, "the receipt does not name the checkpoint of the request"
	case d.a.IsZero():
		return nil
	}
	return []finding{f}
}

// delta evaluates a difference in the list of deltas.
func (c *judge) delta(d difference, f *finding) {
	switch {
	case d.at == atDeltas:
		f.stated, f.computed, f.detail = "", "", "the deltas are not in the order of their override keys"
	case strings.Count(d.at, "/") > 2:
	case d.a.IsZero():
		f.code, f.at, f.stated, f.computed, f.detail = receipt.CodeDeltaMissing, atDeltas, "", d.b.Member("override_key").String(), "no delta names this override"
	case placeholder(d.a.Member("override_key").String()):
		f.outcome, f.detail = undecided, valueWithheld
	default:
		f.code, f.stated, f.detail = receipt.CodeDeltaUnexpected, d.a.Member("override_key").String(), "the request has no such override"
	}
}

// material evaluates a difference in the list of materials. The location of a material may differ.
func (c *judge) material(d difference, f *finding) {
	if d.at == atMaterials {
		f.stated, f.computed, f.detail = "", "", "the materials are not in the order of their events"
		return
	}
	i, name := place(d.at, atMaterials)
	if name == "" {
		c.wholeMaterial(d, f)
		return
	}

	m := c.got.ReplayInput.Materials[i]

	// The source's log is also a material.
	isLog := m.Kind == "event_log"
	switch {
	case name == "uri" && !m.SHA256.IsZero(), name == "bytes_base64" && !m.SHA256.IsZero(), name == "id" && isLog, strings.HasPrefix(name, "metadata") && isLog && d.a.IsZero():
		f.outcome, f.detail = informs, "only the digest of the material is compared; its location and name may differ"
	case isLog && name == "sha256" && d.a.IsZero():
		f.outcome, f.at, f.detail = undecided, indexed(atMaterials, i), "the receipt does not state the digest of its source's log"
	case isLog && (name == "sha256" || name == "metadata/events"):
		f.code, f.detail = receipt.CodeReplaySourceMismatch, "the receipt describes a replay of another log"
	case strings.HasPrefix(name, "metadata") && d.b.IsZero() && name != "metadata/override_key" && d.a.Member("override_key").IsZero():
		f.outcome, f.detail = undecided, "neither the log nor the request gives it"
	}
}

// wholeMaterial evaluates a material that is present on only one side.
func (c *judge) wholeMaterial(d difference, f *finding) {
	id := d.a.Member("id").String()
	s := c.plan.byKey[id]
	switch {
	case d.a.IsZero() && d.b.Member("kind").String() == "event_log":
		f.outcome, f.at, f.detail = undecided, atMaterials, "the receipt does not name the log of its source"
	case d.a.IsZero():
		f.at, f.stated, f.computed, f.detail = atMaterials, "", d.b.Member("id").String(), "the recorded material is not listed"
	case s != nil && s.operation == "add" && c.keys[s.Key] && d.a.Member("sha256").String() == s.after.Digest.String():
		f.outcome, f.detail = undecided, "nothing in the log has this key, so the log does not show that the task requested it"
	default:
		f.stated, f.detail = id, "the log has no such material"
	}
}

// redaction evaluates an entry that is in the receipt's redactions but not in the draft. At the
// field that the entry specifies, the receipt must contain no value or a placeholder.
func (c *judge) redaction(d difference, f finding) []finding {
	field := d.a.Member("field").String()
	gone, isPointer := c.gone[field]
	switch {
	case !isPointer:
		f.outcome, f.detail = undecided, "the field is not a JSON Pointer, so the value that was withheld is unknown"
	case slices.ContainsFunc(Projection.without(), func(at string) bool { return within(field, at) }):
		f.outcome, f.detail = informs, "neither the log nor the request determines the value that it names"
	case gone:
		f.outcome, f.at, f.detail = undecided, field, valueWithheld
	default:
		f.code, f.detail = receipt.CodeReplayDiffers, "the value that it names was not withheld"
	}
	return []finding{f}
}

// thing returns the key of the dependency that the override with the given key replaces. If there
// is none, it returns the key itself.
func (c *judge) thing(key string) string { return cmp.Or(c.plan.label[key], key) }

// things returns the keys of the dependencies and materials that a difference affects. An error in
// one of them is reported only once.
func (c *judge) things(d difference) (list []string) {
	add := func(key string) {
		if key != "" {
			list = append(list, c.thing(key))
		}
	}

	// A delta is identified by its override key, and a material by its ID, which is the key of a
	// dependency.
	for _, of := range []struct {
		list, name string
		key        func(i int) string
	}{
		{atDeltas, "override_key", func(i int) string { return c.got.Deltas[i].OverrideKey }},
		{atMaterials, "id", func(i int) string { return c.got.ReplayInput.Materials[i].ID }},
	} {
		i, name := place(d.at, of.list)
		switch {
		case i < 0:
			continue
		case d.a.IsZero() && name == "":
			add(d.b.Member(of.name).String())
			return list
		}
		add(of.key(i))
		if name == of.name {
			add(d.b.String())
		}
		return list
	}

	// For a task that never started, started_at is the time at which the task ended.
	if _, told := c.plan.known["time:started_at"]; d.at == "/lifecycle/started_at" && !told && c.plan.byKey["time:started_at"] == nil {
		return []string{"time:completed_at"}
	}
	if name, ok := strings.CutPrefix(d.at, "/lifecycle/"); ok {
		add("time:" + name)
	}
	return list
}

// place splits a pointer to a location in a list, and returns the element index and the rest of the
// pointer. The index is -1 if the pointer does not refer to an element of the list.
func place(at, list string) (i int, name string) {
	rest, ok := strings.CutPrefix(at, list+"/")
	if !ok {
		return -1, ""
	}
	text, name, _ := strings.Cut(rest, "/")
	i, err := strconv.Atoi(text)
	if err != nil {
		return -1, ""
	}
	return i, name
}

// unreached reports whether a failed replay is allowed to differ at this location.
func unreached(d difference) bool {
	missing := d.a.IsZero() && (strings.HasPrefix(d.at, atDeltas) || strings.HasPrefix(d.at, atMaterials))
	return missing || slices.ContainsFunc([]string{"/lifecycle/", "/model_route", "/replay_input/determinism", "/replay_input/unavailable_reason", "/metadata/overrides_unused"}, func(under string) bool {
		return strings.HasPrefix(d.at, under)
	})
}

// alike reports whether two values differ only in form: both are empty, a time is spelled
// differently, a zero is omitted, or the stated determinism is weaker.
func alike(d difference) bool {
	switch {
	case empty(d.a) && empty(d.b):
		return true

	case d.at == "/replay_input/determinism":
		return d.a.String() == "best_effort"
	case d.a.IsZero():
		return strings.HasPrefix(d.at, "/autonomy_budget/consumed/") && d.b.Kind() == canon.KindNumber && d.b.Float() == 0
	case strings.HasPrefix(d.at, "/lifecycle/"):
		a, okA := timeIn(canonical(d.a))
		b, okB := timeIn(canonical(d.b))
		return okA && okB && a.Equal(b.Time)
	}
	return false
}

// empty reports whether a value is absent, null, or an empty list or object.
func empty(n canon.Node) bool {
	switch n.Kind() {
	case canon.KindArray, canon.KindObject:
		return n.Len() == 0
	}
	return n.IsZero() || n.Kind() == canon.KindNull
}

// shown returns a value in the form that findings use.
func shown(n canon.Node) string {
	if n.Kind() == canon.KindString {
		return n.String()
	}
	return string(canonical(n))
}

// ofSource returns the finding for a difference between the source's receipt and the draft from its
// log. The options of a harness determine the form of paths, the location of logs, and the values
// of members that the log does not contain.
func ofSource(s *subject, d difference) finding {
	f := finding{code: receipt.CodeReplaySourceMismatch, at: "/metadata/source_task_id", stated: shown(d.a), computed: shown(d.b), detail: "the supplied receipt of the source has a different " + quote(d.at) + " than the log gives"}
	i, name := place(d.at, atMaterials)
	isLog := i >= 0 && i < len(s.got.ReplayInput.Materials) && s.got.ReplayInput.Materials[i].Kind == "event_log"
	switch {
	case isLog && name == "sha256" && d.a.IsZero(), d.a.IsZero() && d.b.Member("kind").String() == "event_log":
		f.outcome, f.detail = undecided, "the supplied receipt of the source does not state the digest of its log"
	case isLog && name != "" && name != "sha256", i >= 0 && name == "uri", strings.HasPrefix(d.at, "/side_effects/fs_writes/"), strings.HasPrefix(d.at, "/redactions"),
		strings.HasPrefix(d.at, "/subject/") && s.got.Identifiers.TaskID != "", d.at == "/identifiers/task_id" && d.a.IsZero(), s.withheld(d.at), alike(d):
		f.outcome = informs
	case d.b.IsZero() && slices.Contains(optional(), d.at):
		f.outcome = informs
	}
	return f
}
