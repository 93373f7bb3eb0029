package record_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
)

// TestTurnCut verifies that a process can repeat a part of a turn that another process recorded
// only partly. The receipt must be the same as without the interruption, so no question, answer,
// call, or message may be added twice.
func TestTurnCut(t *testing.T) {
	cases := append(turnCases(), turnCase{"two signals", []string{
		hello, "begin", `message {"role":"assistant","tool_calls":[{"id":"c","name":"n","arguments":{}},{"id":"d","name":"n"}]}`, `message {"role":"tool","tool_call_id":"c","content":"x"}`,
		`suspend s {"action":"a"}`, `signal s/u {"approved":true}`, "begin", assistant("Hi"), `suspend s {"action":"b"}`, `signal s/v {"approved":false}`, "begin", `suspend r`, `signal r`, "begin", "complete"}, nil})
	cuts := 0
	for _, test := range cases {
		var log []byte
		for i, line := range test.lines {
			before := slices.Clone(log)
			if err := do(fromLog(t, &log), i+1, line); err != nil {
				t.Fatal(err)
			}
			told := bytes.SplitAfter(log[len(before):], []byte("\n"))
			for n := 1; n < len(told)-1; n++ {
				cuts++
				again := slices.Concat(before, slices.Concat(told[:n]...))
				for j, line := range test.lines[i:] {
					if err := do(fromLog(t, &again), i+j+1, line); err != nil {
						t.Fatalf("%s: cut in %s: %s: %v", test.name, test.lines[i], line, err)
					}
				}
				d, err := fromLog(t, &again).Draft()
				if err != nil {
					t.Fatal(err)
				}
				whole, _, err := play(t, test.lines...)
				if err != nil {
					t.Fatal(err)
				}
				want, err := whole.Draft()
				if err != nil {
					t.Fatal(err)
				}
				if got, want := withoutLog(t, d), withoutLog(t, want); got != want {
					t.Errorf("%s: cut after %d events of %s: another draft\n%s", test.name, n, test.lines[i], differ(got, want))
				}
			}
		}
	}
	if cuts < 30 {
		t.Errorf("%d cuts", cuts)
	}
}

// withoutLog returns a draft without the digest of its log.
func withoutLog(t *testing.T, d *receipt.Draft) string {
	t.Helper()
	d.ReplayInput.Materials = slices.DeleteFunc(d.ReplayInput.Materials, func(m receipt.Material) bool { return m.Kind == "event_log" })
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(asJSON(t, d)), &members); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
