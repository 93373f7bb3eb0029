package replay_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// TestFailedReplay: a replay that failed tells what was swapped and what was missing, and
// nothing of the source again; its receipt is one of it, and stays undecided.
func TestFailedReplay(t *testing.T) {
	p := plan(t, readLog(t, garden().bytes()), overrides)
	_, err := p.Take(t.Context(), "llm:main:9")
	missing, ok := errors.AsType[*replay.UnavailableError](err)
	if !ok {
		t.Fatal(err)
	}
	for _, remap := range []bool{false, true} {
		for _, first := range []*replay.UnavailableError{missing, nil} {
			why := "the module came to another end"
			if first != nil {
				why = first.Error()
			}
			lines := events(t, p, replay.Run{TaskID: "task_2", Remap: remap, Failure: &replay.Failure{Code: "replay_unavailable", Message: why, Missing: first}})
			if all := bytes.Join(lines, nil); bytes.Contains(all, []byte(`"replayed":true`)) || bytes.Contains(all, []byte("hunter2")) {
				t.Errorf("%s", all)
			}
			d := recorded(t, lines)
			if d.Lifecycle.FinalState != receipt.StateFailed || d.ReplayInput.Determinism != "unavailable" || len(d.Deltas) != len(p.Deltas()) {
				t.Errorf("%s, %s, %d deltas", d.Lifecycle.FinalState, d.ReplayInput.Determinism, len(d.Deltas))
			}
			if names := strings.Contains(d.ReplayInput.UnavailableReason, "llm:main:9"); names != (first != nil) {
				t.Errorf("%s", d.ReplayInput.UnavailableReason)
			}
			rep, _ := check(t, p, sealed(t, d))
			if rep.Verdict != receipt.Undecided {
				t.Errorf("%v: %q", rep.Verdict, findings(rep))
			}
		}
	}
}

// TestZeros: a digest of zeros is a statement, which no value makes true.
func TestZeros(t *testing.T) {
	_, err := replay.ParseRequest([]byte(`{"mode":"with_overrides","override":{"llm:main:1":{"kind":"llm_provider_response","value":1,"sha256":"sha256:` + strings.Repeat("0", 64) + `"}}}`))
	if wrong, ok := errors.AsType[*replay.RequestError](err); !ok || wrong.Param != "override.llm:main:1.sha256" {
		t.Errorf("%v", err)
	}
}
