package receipt_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/schemas"
)

// A rule is a receipt.Rule whose checks do not depend on the receipt.
type rule struct {
	name   string
	checks []receipt.Check
	panics bool
}

func (r rule) Name() string { return r.name }

func (r rule) Judge(*canon.Document) []receipt.Check {
	if r.panics {
		panic("no such rate")
	}
	return r.checks
}

// intactBy returns a verifier that requires only integrity and the given rules.
func intactBy(t *testing.T, rules ...receipt.Rule) *receipt.Verifier {
	t.Helper()
	return ruled(t, nil, receipt.Policy{IntegrityOnly: true, Rules: rules})
}

func ruled(t *testing.T, trust receipt.Trust, p receipt.Policy) *receipt.Verifier {
	t.Helper()
	v, err := receipt.NewVerifier(trust, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestRules verifies that a rule can refute a receipt or leave it undecided, but that no result of
// a rule can make a receipt verified.
func TestRules(t *testing.T) {
	full, err := receipt.NewVerifier(logKeys(), receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	valid := forge(t, plainDraft(), keep, logKeys()["a"])
	unsigned := forge(t, plainDraft(), keep)
	altered := []byte(strings.Replace(string(valid), "task_1", "task_2", 1))
	failed := receipt.Check{Status: receipt.StatusFailed, Pointer: "/cost", Detail: "too expensive", Code: receipt.CodeUnsigned, Step: receipt.StepParse}
	passed := receipt.Check{Status: receipt.StatusPassed}

	for _, c := range []struct {
		name string
		data []byte
		rule rule
		want outcome
	}{
		{"met", valid, rule{}, outcome{verdict: receipt.Verified}},
		{"failed", valid, rule{checks: []receipt.Check{failed}}, refuted(receipt.StepRules, "rule_x", "/cost")},
		{"failed after others", valid, rule{checks: append(make([]receipt.Check, 300), failed)}, refuted(receipt.StepRules, "rule_x", "/cost")},
		{"not checked", valid, rule{checks: []receipt.Check{{Pointer: "/a"}}}, undecided(receipt.StepRules, "rule_x", "/a")},
		{"passed as a check", valid, rule{checks: []receipt.Check{passed}}, undecided(receipt.StepRules, "rule_x", "")},
		{"not applicable", valid, rule{checks: []receipt.Check{{Status: receipt.StatusNotApplicable}}}, undecided(receipt.StepRules, "rule_x", "")},
		{"panic", valid, rule{panics: true}, undecided(receipt.StepRules, "rule_x", "")},
		{"unsigned, met", unsigned, rule{}, undecided(receipt.StepSignatures, receipt.CodeUnsigned, "/signatures")},
		{"unsigned, passed as a check", unsigned, rule{checks: []receipt.Check{passed}}, undecided(receipt.StepSignatures, receipt.CodeUnsigned, "/signatures")},
		{"unsigned, failed", unsigned, rule{checks: []receipt.Check{failed}}, refuted(receipt.StepRules, "rule_x", "/cost")},
		{"altered, met", altered, rule{}, outcomeOf(verify(full, altered))},
		{"altered, not checked", altered, rule{checks: []receipt.Check{{}}}, outcomeOf(verify(full, altered))},
		{"altered, panic", altered, rule{panics: true}, outcomeOf(verify(full, altered))},
		{"no receipt", []byte(`{"schema":"receipt-2026-04-25"}`), rule{panics: true}, outcomeOf(verify(full, []byte(`{"schema":"receipt-2026-04-25"}`)))},
		{"not JSON", []byte("{"), rule{panics: true}, outcomeOf(verify(full, []byte("{")))},
	} {
		c.rule.name = "x"
		rep := verify(ruled(t, logKeys(), receipt.Policy{Rules: []receipt.Rule{c.rule}}), c.data)
		if got := outcomeOf(rep); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if !slices.Equal(rep.Rules, []string{"x"}) {
			t.Errorf("%s: checked by %q", c.name, rep.Rules)
		}
		checkRuleReport(t, c.name, rep)
	}
}

// checkRuleReport verifies that both ways to write a report agree, and that the report matches its
// schema and can be read.
func checkRuleReport(t *testing.T, name string, rep *receipt.Report) {
	t.Helper()
	text, err := receipt.AppendJSON(nil, rep)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := schemas.Compile("report")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if problems := schema.Check(doc.Root()); problems.Total > 0 {
		t.Errorf("%s: %s: %v", name, text, problems)
	}
	var read receipt.Report
	if err := json.Unmarshal(text, &read); err != nil || !slices.Equal(read.Rules, rep.Rules) || len(read.Checks) != len(rep.Checks) {
		t.Errorf("%s: read %v, %v", name, read.Rules, err)
	}
	if reflected, err := json.Marshal(&read); err != nil || string(reflected) != string(text) {
		t.Errorf("%s: written as\n%s\nand as\n%s", name, text, reflected)
	}
}

// TestRulesNotReached verifies that, if rules were not applied, a report lists them as not checked.
func TestRulesNotReached(t *testing.T) {
	v := intactBy(t, rule{name: "x", panics: true})
	for _, data := range []string{"{", "{}", `{"schema":"receipt-2026-04-25"}`} {
		if c := verify(v, []byte(data)).Check(receipt.StepRules); c.Status != receipt.StatusNotChecked || c.Code != receipt.CodeStepNotReached {
			t.Errorf("%s: %+v", data, c)
		}
	}
}

// TestRuleNames verifies that rules are identified by name, and that their codes are not in the
// registry.
func TestRuleNames(t *testing.T) {
	refused := map[string][]receipt.Rule{"nil": {nil}, "the same name twice": {rule{name: "a"}, rule{name: "a"}}}
	for _, name := range []string{"", "A", "a-b", "a b", "ä", strings.Repeat("a", 65)} {
		refused["the name "+name] = []receipt.Rule{rule{name: name}}
	}
	for what, rules := range refused {
		if _, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, Rules: rules}); err == nil {
			t.Errorf("%q is accepted", what)
		}
	}

	// Later changes to the caller's list do not affect a verifier's rules.
	rules := []receipt.Rule{rule{name: "a"}, rule{name: "b_2"}, rule{name: "z09"}}
	v := intactBy(t, rules...)
	rules[0] = rule{name: "c"}
	v.Policy().Rules[1] = nil
	if rep := verify(v, []byte("{")); !slices.Equal(rep.Rules, []string{"a", "b_2", "z09"}) || v.Policy().Rules[0].Name() != "a" {
		t.Error(rep.Rules)
	}
	for _, info := range receipt.Codes() {
		if strings.HasPrefix(string(info.Code), "rule_") {
			t.Errorf("%s could be the code of a rule", info.Code)
		}
	}
}

// TestForeignChecks verifies that the checks of a reader of another format replace the checks that
// would otherwise be added for the same step.
func TestForeignChecks(t *testing.T) {
	v := intactBy(t)
	for _, step := range []receipt.Step{receipt.StepParse, receipt.StepBatch} {
		f := &receipt.Foreign{Format: "other", Checks: []receipt.Check{{Step: step, Status: receipt.StatusFailed, Code: receipt.CodeProofInvalid}}}
		f.Inclusions = make([]receipt.ForeignSignature, 1)
		rep := new(receipt.Report)
		v.Foreign([]byte("{}"), f, rep)
		n := 0
		for _, c := range rep.Checks {
			if c.Step == step {
				n++
			}
		}
		if n != 1 || rep.Verdict != receipt.Refuted {
			t.Errorf("%v: %d checks, %v", step, n, rep.Verdict)
		}
	}
}

// TestForeignWithoutRulesAndKeys verifies that a receipt in another format is undecided if there
// are rules, because they are not applied, or if the key source is down.
func TestForeignWithoutRulesAndKeys(t *testing.T) {
	f := &receipt.Foreign{Format: "other", Signatures: []receipt.ForeignSignature{{KeyID: "a", Messages: [][]byte{nil}, Pointer: "/sig"}}}
	f.Checks = append(f.Checks, receipt.Check{Step: receipt.StepHash, Status: receipt.StatusPassed})
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	down := snapshot(t, keyService{down: errors.New("down")}, receipt.Policy{})
	for name, c := range map[string]struct {
		v    *receipt.Verifier
		want outcome
	}{
		"no rules": {v, outcome{verdict: receipt.Verified}},
		"rules":    {intactBy(t, rule{name: "x"}), undecided(receipt.StepRules, "rule_x", "")},
		"no keys":  {down, undecided(receipt.StepSignatures, receipt.CodeTrustUnavailable, "/sig")},
	} {
		rep := new(receipt.Report)
		c.v.Foreign([]byte("{}"), f, rep)
		if got := outcomeOf(rep); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
