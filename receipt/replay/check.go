package replay

import (
	"cmp"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A checker compares the receipt of a replay with the plan.
type checker struct {
	judge
	source     *subject // the receipt of the replayed task; nil if it is not available
	found      []finding
	determined []string        // members whose values the log or the source's receipt determines
	open       map[string]bool // locations with a finding that leaves the verdict undecided
	excused    map[string]bool // dependencies and materials that already have a refuting finding, so that consequences are not reported
}

// An outcome is the significance of a difference.
type outcome int

const (
	refutes   outcome = iota
	undecided         // the log and the request do not support the value
	informs           // the difference contributes no new information
)

// A finding is a difference with its outcome.
type finding struct {
	outcome          outcome
	code             receipt.Code
	at               string // a JSON Pointer into the receipt
	stated, computed string
	detail           string
	of               []string // the related dependencies and materials; each of them is reported only once
}

const maxFindings = 100 // maximum for each outcome

// compareSource compares the supplied receipt of the source with a draft from the log.
func (c *checker) compareSource() error {
	s := c.source
	want, err := expect(func(add func([]byte) error) error { return c.plan.Log.each(add) }, &s.got)
	if err != nil {
		return err
	}

	// The log and the receipt must be about the same task.
	without := slices.DeleteFunc(Projection.without(), func(at string) bool { return at == "/subject/id" || at == "/identifiers/task_id" })

	// Only the most serious difference is reported.
	worst := finding{outcome: informs}
	for _, d := range differences(s.doc.Root(), want.doc.Root(), without) {
		if f := ofSource(s, d); f.outcome < worst.outcome {
			worst = f
		}
	}

	// The receipt of the replay may contain the hash of its source's receipt.
	if hash, ok := c.got.Metadata["source_receipt_hash"].(string); ok && hash != s.hash() && worst.outcome != refutes {
		worst = finding{code: receipt.CodeReplaySourceMismatch, at: "/metadata/source_receipt_hash", stated: hash, computed: s.hash(), detail: "the replay names a different receipt of its source"}
	}

	if worst.outcome != informs {
		c.found = append(c.found, worst)
	}
	return nil
}

// compare compares the receipt of the replay with the expected draft.
func (c *checker) compare() error {
	want, err := c.expected()
	if err != nil {
		return err
	}

	c.silent = want.silent
	c.keyWithheld = slices.ContainsFunc(c.got.Deltas, func(d receipt.Delta) bool { return placeholder(d.OverrideKey) })

	// The value of an optional member is determined only if the log contains it or the source's
	// receipt is available.
	for _, at := range optional() {
		p, err := canon.ParsePointer(at)
		if err != nil {
			return err
		}
		if _, named := want.doc.Find(p); named || c.source != nil {
			c.determined = append(c.determined, at)
		}
	}

	// Metadata is not compared as a whole, because harnesses add members to it.
	list := differences(c.doc.Root(), want.doc.Root(), Projection.without())
	for _, name := range [...]string{"source_task_id", "replay_mode", "checkpoint_event_id", "checkpoint_id", "overrides_unused"} {
		metadata := comparison{}
		metadata.nodes("/metadata/"+name, c.doc.Root().Member("metadata").Member(name), want.doc.Root().Member("metadata").Member(name))
		list = append(list, metadata.found...)
	}

	// Causes are reported before their consequences.
	var found []finding
	for _, d := range list {
		found = append(found, c.difference(d)...)
	}
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(rank(a), rank(b)) })

	// If the receipt is about a replay of another task, no other difference is meaningful.
	if i := slices.IndexFunc(found, func(f finding) bool { return f.outcome == refutes && f.code == receipt.CodeReplaySourceMismatch }); i >= 0 {
		c.found = append(c.found, found[i])
		return nil
	}
	if c.failed {
		c.found = append(c.found, finding{outcome: undecided, at: "/replay_input/unavailable_reason", detail: "the receipt states that the replay failed because something was unavailable"})
	}

	// If the digest in the request is incorrect, the corresponding delta differs, too.
	c.mismatches()
	for _, f := range found {
		c.tell(f)
	}
	c.unsupported()
	return nil
}

// expected returns the draft that the receipt of the replay should match. Only the receipt of the
// replay shows whether a module requested an answer that no log records.
func (c *checker) expected() (*expected, error) {
	uses := func(s *swap) bool { return s.operation != "add" || c.keys[s.Key] }
	others := []*receipt.Draft{&c.got}
	if c.source != nil {
		others = []*receipt.Draft{&c.source.got, &c.got}
	}

	// The events of the plan are recorded in the same way as the events of any other task.
	want, err := expect(func(add func([]byte) error) (failure error) {
		t := newTeller(c.plan, Run{TaskID: c.plan.Log.TaskID + ":replay"}, uses, func(line []byte, _ error) bool {
			failure = add(line)
			return failure == nil
		})
		if err := t.tell(); err != nil && failure == nil {
			failure = err
		}
		return failure
	}, others...)
	if err != nil || c.source == nil {
		return want, err
	}
	want.silent = nil
	return want, want.adopt(&c.source.got)
}

// rank returns the sort key of a finding. A cause precedes its consequences.
func rank(f finding) int {
	for i, under := range [...]string{"/subject", "/metadata", atLog, "/deltas", "/approvals", "/side_effects", "/cost", "/autonomy_budget", atMaterials, "/lifecycle"} {
		if strings.HasPrefix(f.at, under) {
			return i
		}
	}
	return 10
}

// tell adds a finding unless it is a consequence of an earlier one.
func (c *checker) tell(f finding) {
	if f.outcome == undecided {
		if c.open[f.at] {
			return
		}
		c.open[f.at] = true
	}

	// An error that appears in two places is reported once.
	told := slices.ContainsFunc(f.of, func(thing string) bool { return c.excused[thing] })
	if told && f.outcome == refutes {
		return
	}
	if f.outcome == refutes {
		for _, thing := range f.of {
			c.excused[thing] = true
		}
	}

	c.found = append(c.found, f)
}

// mismatches reports the overrides whose stated digest differs from the digest of their value.
func (c *checker) mismatches() {
	for _, m := range c.plan.wrong {
		at := atDeltas
		if i := slices.IndexFunc(c.got.Deltas, func(d receipt.Delta) bool { return d.OverrideKey == m.Key }); i >= 0 {
			at = indexed(atDeltas, i) + "/after_sha256"
		}
		c.tell(finding{
			code: receipt.CodeOverrideHashMismatch, at: at, stated: m.Stated.String(), computed: m.Computed.String(),
			detail: "the override " + quote(m.Key) + " states a digest that its value does not have", of: []string{c.thing(m.Key)},
		})
	}
}

// unsupported reports values that match the draft only because they were copied into it from the
// receipt.
func (c *checker) unsupported() {
	for _, at := range c.silent {
		c.tell(finding{outcome: undecided, at: at, detail: "the log does not name it; the receipt of the source may"})
	}

	// If the log does not contain the key, only the receipt states that the task requested this
	// answer.
	for i, d := range c.got.Deltas {
		at, thing := indexed(atDeltas, i), c.thing(d.OverrideKey)
		s := c.plan.byKey[thing]
		switch {
		case s == nil || c.excused[thing]:
		case s.operation == "add":
			c.tell(finding{outcome: undecided, at: at, detail: "nothing in the log has the key " + quote(d.OverrideKey) + ", so the log does not show that the task requested it"})
		case s.unrecorded():
			c.tell(finding{outcome: informs, at: at, detail: "no log records whether a task reads a secret"})
		}
	}
}

// report adds the findings to a report, and lists the members that the comparison omits.
func (c *checker) report(v *receipt.Verifier, rep *receipt.Report) {
	told := map[outcome]int{}
	for _, f := range c.found {
		if told[f.outcome]++; told[f.outcome] > maxFindings {
			continue
		}
		switch f.outcome {
		case refutes:
			v.Amend(rep, receipt.Check{Step: receipt.StepHash, Status: receipt.StatusFailed, Code: f.code, Pointer: f.at, Stated: bound(f.stated), Computed: bound(f.computed), Detail: f.detail})
		case undecided:
			v.Amend(rep, receipt.Check{Step: receipt.StepHash, Code: receipt.CodeReplayUnavailable, Pointer: f.at, Detail: f.detail})
		case informs:
			rep.NotChecked = append(rep.NotChecked, receipt.Note{Code: receipt.CodeReplayNotChecked, Pointer: f.at, Detail: f.detail})
		}
	}

	for _, at := range c.undetermined() {
		rep.NotChecked = append(rep.NotChecked, receipt.Note{Code: receipt.CodeReplayNotChecked, Pointer: at, Detail: "neither the log nor the request determines this value"})
	}
}

// undetermined returns the locations without a finding that neither the log nor the request
// determines. Signatures are excluded because the verifier checks them.
func (c *checker) undetermined() (list []string) {
	for _, at := range slices.Concat(Projection.without(), optional(), []string{atLog + "/uri", atArtifacts}) {
		told := func(f finding) bool { return f.at == at || at == atArtifacts && within(f.at, at) }
		if at != "/signatures" && !slices.Contains(c.determined, at) && !slices.ContainsFunc(c.found, told) {
			list = append(list, at)
		}
	}
	return list
}

// optional returns the members that a receipt may omit and that the options of a harness may add.
func optional() []string {
	return []string{"/identifiers/tenant_id", "/identifiers/persona_ref", "/trust/policy_ref"}
}
