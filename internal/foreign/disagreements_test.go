package foreign_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/internal/foreign"
	"github.com/receiptkit/receiptkit/receipt"
)

// rows returns the rows of the "disagreements" table in docs/foreign.md.
func rows(t testing.TB) (list [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/foreign.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Disagreements")
	table, _, _ = strings.Cut(table, "\n## ")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), "`", ""), "|")
		if len(cells) == 7 {
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			list = append(list, cells[1:6])
		}
	}
	return list[2:] // the head of the table
}

// TestDisagreements verifies every row of the table in docs/foreign.md: what the source states, and
// the verdict.
func TestDisagreements(t *testing.T) {
	list := rows(t)
	if len(list) < 11 {
		t.Fatalf("%d rows", len(list))
	}
	for _, row := range list {
		set, name := row[0], row[1]
		stated, verdict := map[string]func(testing.TB, string) (string, string){
			"Pipelock": pipelockRow, "Audit record": auditRow, "SCITT": scittRow, "Acta trace": traceRow,
		}[set](t, name)
		if stated != row[2] || verdict != row[3] {
			t.Errorf("%s %s: the source states %q, the verdict is %q; the table has %q and %q", set, name, stated, verdict, row[2], row[3])
		}
	}
}

func pipelockRow(t testing.TB, name string) (stated, verdict string) {
	var all map[string]struct {
		Verdict string
		Reason  string `json:"reject_reason"`
	}
	if err := json.Unmarshal(read(t, "pipelock", "expected.json"), &all); err != nil {
		t.Fatal(err)
	}
	public := strings.Trim(string(unwrap(t, read(t, "pipelock", "v1", "01-allow-clean-get.json"), "signer_key")), `"`)
	set := trusted(t, "", map[string]string{"pipelock": public})
	for file, w := range all {
		if !strings.HasPrefix(file, "v1/"+name+"-") || w.Verdict != "reject" {
			continue
		}
		data := read(t, "pipelock", file)
		if strings.HasSuffix(file, ".json") {
			if !bytes.Contains(data, []byte(`"action_record"`)) || !strings.HasPrefix(strings.Join(strings.Fields(string(data)), ""), `{"version"`) {
				return w.Reason, "not exercised"
			}
			return w.Reason, outcome(judge(t, set, receipt.Policy{}, data))
		}
		var chains foreign.Chains
		for line := range bytes.Lines(data) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				verdict = follow(t, &chains, set, line, judge(t, set, receipt.Policy{}, line))
			}
		}
		return w.Reason, verdict
	}
	t.Fatalf("no vector %s", name)
	return "", ""
}

func auditRow(t testing.TB, name string) (stated, verdict string) {
	var all map[string]struct {
		DraftID  string
		Readings []string
	}
	if err := json.Unmarshal(read(t, "agent-audit-record", "expected.json"), &all); err != nil {
		t.Fatal(err)
	}
	var observer struct {
		Observer struct{ KeyID, PublicKeyHex string }
	}
	if err := json.Unmarshal(read(t, "agent-audit-record", "keys.json"), &observer); err != nil {
		t.Fatal(err)
	}
	set := trusted(t, "", map[string]string{observer.Observer.KeyID: observer.Observer.PublicKeyHex})
	for id, w := range all {
		if w.DraftID == name {
			rep := judge(t, set, receipt.Policy{}, read(t, "agent-audit-record", "statements", id+".json"))
			return strings.Join(w.Readings, " or "), outcome(rep)
		}
	}
	t.Fatalf("no vector %s", name)
	return "", ""
}

func scittRow(t testing.TB, name string) (stated, verdict string) {
	var all map[string]map[string]any
	if err := json.Unmarshal(read(t, "scitt-cose", "expected.json"), &all); err != nil {
		t.Fatal(err)
	}
	for _, value := range all[name] {
		if s, is := value.(string); is && s == "INVALID" {
			stated = s
		}
	}
	set := scittKeys(t, name, "https://test-vectors.scitt-cose.invalid", true)
	return stated, outcome(judge(t, set, receipt.Policy{}, registered(t, name)))
}

// traceRow judges a receipt after its predecessor, or alone if the source states none.
func traceRow(t testing.TB, name string) (stated, verdict string) {
	var all struct {
		Context struct{ Chain map[string]string }
		Results map[string]map[string]string
	}
	if err := json.Unmarshal(read(t, "acta-trace", "expected.json"), &all); err != nil {
		t.Fatal(err)
	}
	for file, results := range all.Results {
		if !strings.HasPrefix(file, name+"-") {
			continue
		}
		for check, result := range results {
			if result == "fail" {
				stated += check + " fails"
			}
		}
		var chains foreign.Chains
		for _, file := range []string{"01-valid-accepted.json", "02-valid-denied.json", file} {
			data := read(t, "acta-trace", file)
			kid := strings.Trim(string(unwrap(t, data, "signature", "kid")), `"`)
			set := trusted(t, "", map[string]string{kid: string(read(t, "acta-trace", "signer-public-key.txt"))})
			rep := judge(t, set, receipt.Policy{}, data)
			verdict = follow(t, &chains, set, data, rep)
			if file == "02-valid-denied.json" && rep.Check(receipt.StepLink).Status != receipt.StatusPassed {
				t.Errorf("%s: %+v", file, rep.Check(receipt.StepLink))
			}
			if strings.Contains(stated, "chain") && rep.Check(receipt.StepLink).Status == receipt.StatusNotChecked {
				verdict += ", link not checked"
			}
		}
	}
	return stated, verdict
}
