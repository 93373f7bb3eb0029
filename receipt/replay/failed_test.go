package replay_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// TestFailedReplay verifies the log of a failed replay. The log records the overrides that were
// used, the keys of the other overrides, and the first missing answer, and it repeats nothing from
// the source. The receipt for the replay stays undecided.
func TestFailedReplay(t *testing.T) {
	p := plan(t, readLog(t, garden().bytes()), overrides)
	if _, err := p.Take(t.Context(), "llm:main:1"); err != nil {
		t.Fatal(err)
	}
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
			if d.Lifecycle.FinalState != receipt.StateFailed || d.ReplayInput.Determinism != "unavailable" || len(d.Deltas) != 2 { // one delta for the requested answer and one for the time
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

// TestZeros verifies that a digest that consists of zeros is rejected, because no value has that
// digest.
func TestZeros(t *testing.T) {
	_, err := replay.ParseRequest([]byte(`{"mode":"with_overrides","override":{"llm:main:1":{"kind":"llm_provider_response","value":1,"sha256":"sha256:` + strings.Repeat("0", 64) + `"}}}`))
	if wrong, ok := errors.AsType[*replay.RequestError](err); !ok || wrong.Param != "override.llm:main:1.sha256" {
		t.Errorf("%v", err)
	}
}
