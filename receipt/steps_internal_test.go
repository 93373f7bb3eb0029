package receipt

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// TestSignatureNote verifies that only a receipt with signatures has a note about their members.
func TestSignatureNote(t *testing.T) {
	for total, want := range map[int]int{0: 0, 1: 1} {
		rep := new(Report)
		if (&tally{rep: rep, total: total}).notes(); len(rep.NotChecked) != want {
			t.Errorf("%d signatures: %v", total, rep.NotChecked)
		}
	}
}

// TestBatchRecord verifies which result of the batch step is reported, for all pairs of results for
// proofs and batches.
func TestBatchRecord(t *testing.T) {
	none := Check{Status: StatusNotApplicable}
	passed := Check{Status: StatusPassed, Stated: "proof"}
	failed := Check{Status: StatusFailed, Code: CodeProofInvalid, Detail: "a"}
	open := Check{Status: StatusNotChecked, Code: CodeBatchNotChecked, Detail: "a"}
	other := Check{Status: StatusNotChecked, Code: CodeUnknownKey, Detail: "a"}
	for i, c := range []struct {
		inclusion, batch Check
		strict           bool
		status           Status
		code             Code
	}{
		{none, none, false, StatusNotApplicable, ""},
		{passed, none, false, StatusPassed, ""},
		{none, passed, false, StatusPassed, ""},
		{passed, failed, false, StatusFailed, CodeProofInvalid},
		{failed, passed, false, StatusFailed, CodeProofInvalid},
		{passed, open, false, StatusPassed, ""},
		{passed, open, true, StatusNotChecked, CodeBatchNotChecked},
		{passed, other, false, StatusNotChecked, CodeUnknownKey},
		{none, open, false, StatusNotChecked, CodeBatchNotChecked},
		{none, open, true, StatusNotChecked, CodeBatchNotChecked},
		{other, open, false, StatusNotChecked, CodeUnknownKey},
		{other, failed, false, StatusFailed, CodeProofInvalid},
	} {
		v, rep := &Verifier{policy: Policy{Strict: c.strict}}, new(Report)
		c.inclusion.Step, c.batch.Step = StepBatch, StepBatch
		batchStep{v}.record(c.inclusion, c.batch, rep)
		if got := rep.Check(StepBatch); got.Status != c.status || got.Code != c.code {
			t.Errorf("%d: %+v", i, got)
		}
	}
}

// TestNotesThatUndecide verifies that notes about rules of the caller leave a receipt undecided.
func TestNotesThatUndecide(t *testing.T) {
	for code, want := range map[Code]bool{rulePrefix + "limit": true, CodeUnknownKey: true, CodeLinkNotChecked: false, CodeEnvelopeNotChecked: false} {
		if got := (Note{Code: code}).Undecides(); got != want {
			t.Errorf("%s: %t", code, got)
		}
	}
}

// TestLimitOfCaller verifies that a document is undecided only if it exceeds a lower limit of the
// caller, and not if it is invalid or exceeds a limit of the format.
func TestLimitOfCaller(t *testing.T) {
	v, err := NewVerifier(nil, Policy{IntegrityOnly: true, Limits: canon.Limits{Bytes: 1000, Depth: 5}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]Verdict{
		"{":                             Refuted,
		`{"a":1,"a":2}`:                 Refuted,
		strings.Repeat(" ", 999) + "{}": Undecided,
		strings.Repeat("[", 6):          Undecided,
		strings.Repeat(" ", MaxBytes+1): Refuted,
	} {
		var rep Report
		v.VerifyBytes([]byte(text), new(canon.Document), &rep)
		if rep.Verdict != want {
			t.Errorf("%.20q, %d bytes: %v %s, expected %v", text, len(text), rep.Verdict, rep.Finding().Code, want)
		}
	}
}

// TestTimeContradicted verifies that a receipt is refuted if it existed before its time of issue,
// unless the source did not report that time.
func TestTimeContradicted(t *testing.T) {
	existed := time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]Code{
		`{"issued_at":"2026-04-25T12:00:00Z"}`:                                           "",
		`{"issued_at":"2026-04-25T12:01:00Z"}`:                                           "",
		`{"issued_at":"2026-04-25T12:01:01Z"}`:                                           CodeTimeContradicted,
		`{"issued_at":"2026-04-25T12:01:01Z","metadata":{"unreported":["/cost/total"]}}`: CodeTimeContradicted,
		`{"issued_at":"2026-04-25T12:01:01Z","metadata":{"unreported":["/issued_at"]}}`:  "",
	} {
		doc, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		rep := &Report{ReceiptHash: canon.Sum(nil)}
		rep.Existed.Time = At(existed)
		step := batchStep{new(Verifier)}
		if step.date(doc.Root(), rep); rep.Check(StepBatch).Code != want {
			t.Errorf("%s: %+v", text, rep.Checks)
		}
	}
}

// TestReplayNotReported verifies that no reason is missing if the source did not report the
// members about it.
func TestReplayNotReported(t *testing.T) {
	doc, err := canon.Parse([]byte(`{"determinism":"unavailable"}`))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]int{"/cost": 1, "/replay_input/determinism": 0, "/replay_input/unavailable_reason": 0} {
		rep := new(Report)
		says := claims{untold: Pointers{pointer}}
		if lintReplay(doc.Root(), says, rep); len(rep.Warnings) != want {
			t.Errorf("%s: %v", pointer, rep.Warnings)
		}
	}
}

// TestDecodeInline verifies that only one encoding of the same bytes is accepted.
func TestDecodeInline(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "AA==": true, "AAA=": true, "AAAA": true, "AAAAAA==": true,
		"AB==": false, "AAB=": false, "AA=A": false, "A===": false, "AAA": false, "AA": false, "????": false, "AA\n==": false, "AAAA\n": false, "AAAA\r\n\r\n": false, "AA==AAAA": false, "AAAA====": false,
	} {
		if content, ok := decodeInline(new(Report), []byte(text)); ok != want {
			t.Errorf("%q: %t, %x", text, ok, content)
		}
	}
}

// TestOddNames verifies which names may contain a secret.
func TestOddNames(t *testing.T) {
	for name, want := range map[string]bool{
		"": false, "12345678": false, "123456789": true, "abcdefghijklmnopqrstuvwxyz": false, "receipt_hash": false,
		"abcdefghA": true, "abcdefgh{": true, "abcdefgh`": true, "abcdefghé": true, "abcdefgh-": true,
	} {
		if got := odd(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
		if got := anyOdd("/cost/" + name + "/total"); got != want {
			t.Errorf("in a pointer, %q: %t", name, got)
		}
	}
}

// TestBareChecks verifies that a check with any content besides its status is not bare.
func TestBareChecks(t *testing.T) {
	if !(&Check{Step: StepHash, Status: StatusPassed}).bare() {
		t.Error("a status")
	}
	for i, c := range []Check{{Code: "a"}, {Pointer: "a"}, {Stated: "a"}, {Computed: "a"}, {Detail: "a"}, {Hint: "a"}, {Cause: "a"}, {Related: Place{Source: "a"}}} {
		if c.bare() {
			t.Errorf("%d: %+v", i, c)
		}
	}
}

// TestMaterialsNeedSchema verifies that materials are checked only if the receipt matches the
// schema.
func TestMaterialsNeedSchema(t *testing.T) {
	doc, err := canon.Parse([]byte(`{"replay_input":{"materials":[{"bytes_base64":"?"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for holds, want := range map[bool]Status{false: StatusPassed, true: StatusFailed} {
		if c := weighMaterials(doc.Root(), nil, new(watched), holds, new(Report)); c.Status != want {
			t.Errorf("schema holds %t: %+v", holds, c)
		}
	}
}

// TestUndecidedBy verifies which check explains why a receipt is undecided. A check that is
// otherwise only informational takes precedence over a step that was not reached, and the first of
// several such checks is reported.
func TestUndecidedBy(t *testing.T) {
	const link, batch, signatures, step = CodeLinkNotChecked, CodeBatchNotChecked, CodeSignaturesNotChecked, CodeStepNotReached
	for _, c := range []struct {
		codes []Code
		want  Code
	}{
		{nil, ""},
		{[]Code{step}, step},
		{[]Code{step, link}, link},
		{[]Code{signatures, batch}, batch},
		{[]Code{link, step}, link},
		{[]Code{link, signatures}, link},
		{[]Code{link, batch}, link},
		{[]Code{signatures, step}, signatures},
		{[]Code{link, step, CodeUnsigned, batch}, CodeUnsigned},
	} {
		rep := &Report{Verdict: Undecided}
		rep.Checks = append(rep.Checks, Check{Status: StatusPassed, Code: CodeUnknownKey})
		for _, code := range c.codes {
			rep.Checks = append(rep.Checks, Check{Status: StatusNotChecked, Code: code})
		}
		if got := rep.Finding().Code; got != c.want {
			t.Errorf("%v: %s, expected %s", c.codes, got, c.want)
		}
	}
}

// TestAmend verifies that a finding is inserted after the findings of the same step, and that a
// finding that is not a failure leaves the receipt undecided.
func TestAmend(t *testing.T) {
	v, err := NewVerifier(nil, Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	named := func(n Note) bool { return n.Code == CodeUnknownKey }
	for status, want := range map[Status]Verdict{StatusFailed: Refuted, StatusPassed: Undecided, StatusNotApplicable: Undecided, StatusNotChecked: Undecided} {
		for _, before := range [][]Step{nil, {StepParse}, {StepParse, StepHash, StepLink}} {
			rep := new(Report)
			for _, step := range before {
				rep.Checks = append(rep.Checks, Check{Step: step, Status: StatusPassed})
			}
			v.Amend(rep, Check{Step: StepHash, Status: status, Code: CodeUnknownKey})
			at := min(len(before), 2)
			if rep.Checks[at].Code != CodeUnknownKey || rep.Verdict != want || slices.ContainsFunc(rep.NotChecked, named) != (want == Undecided) {
				t.Errorf("%v after %v: %v, %+v", status, before, rep.Verdict, rep.Checks)
			}
		}
		rep := new(Report)
		v.Amend(rep, Check{Step: StepParse, Status: StatusNotChecked, Code: CodeUnknownKey})
		if !slices.ContainsFunc(rep.NotChecked, named) {
			t.Errorf("unreadable: %+v", rep.NotChecked)
		}
	}
}

// TestNotAskedForBatch verifies that the batch step does not apply to a receipt that is refuted, if
// no proof, batch, or timestamp is given or required.
func TestNotAskedForBatch(t *testing.T) {
	doc, err := canon.Parse([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	for required, want := range map[bool]Status{false: StatusNotApplicable, true: StatusNotChecked} {
		rep := new(Report)
		batchStep{&Verifier{policy: Policy{Timestamp: required}}}.check(doc, false, rep)
		if got := rep.Check(StepBatch).Status; got != want {
			t.Errorf("timestamp required %t: %v", required, got)
		}
	}
}

// TestEmptyIDs verifies that an empty ID is not reported as a repetition of a missing ID.
func TestEmptyIDs(t *testing.T) {
	for text, want := range map[string]int{`[{},{"delta_id":""}]`: 0, `[{"delta_id":""},{"delta_id":""}]`: 1} {
		doc, err := canon.Parse([]byte(`{"deltas":` + text + `}`))
		if err != nil {
			t.Fatal(err)
		}
		rep := new(Report)
		if lintIDs(doc.Root(), rep); len(rep.Warnings) != want {
			t.Errorf("%s: %+v", text, rep.Warnings)
		}
	}
}

// TestMisspelt verifies that a report repeats a malformed hash only if it differs from a digest by
// uppercase letters.
func TestMisspelt(t *testing.T) {
	upper := "sha256:" + strings.Repeat("AB", 32)
	for text, want := range map[string]string{upper: upper, "hunter2": "", upper + "0": ""} {
		if got := misspelt([]byte(text)); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
