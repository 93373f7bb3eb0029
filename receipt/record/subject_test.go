package record_test

import (
	"errors"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// TestSubject verifies that the subject of a receipt is the task, the replay, or the object that is
// specified in the options and recorded in the log.
func TestSubject(t *testing.T) {
	lines := []line{
		said("tool.approval_required", `{"approval_id":"a","tool_call_id":"c"}`), said("tool.approved", `{"approval_id":"a","actor":"u"}`),
		said("tool.completed", `{"tool_call_id":"c","name":"n"}`), said("tool.failed", `{"tool_call_id":"d","error_category":"rejected_loop"}`),
		said("artifact.created", `{"artifact_id":"p","kind":"patch"}`), said("receipt.issued", `{}`),
	}
	replay := []line{said("replay.started", `{"source_task_id":"x"}`)}
	for _, test := range []struct {
		object, id string
		lines      []line
		want       string // part of the draft, or "" if the options are rejected
	}{
		{"", "", lines, `"receipt_id":"receipt_t","redactions":[]`},
		{"", "", replay, `"subject":{"id":"t","object":"replay_segment"}`},
		{"task", "t", lines, `"receipt_id":"receipt_t","redactions":[]`},
		{"task", "x", lines, ""},
		{"task", "t", replay, ""}, // this task did not run
		{"replay_segment", "t", replay, `"subject":{"id":"t","object":"replay_segment"}`},
		{"replay_segment", "t", lines, ""},
		{"outcome", "o", lines, `"receipt_id":"receipt_t_outcome_o"`},
		{"event", "4", lines, `"subject":{"id":"4","object":"event"}`},
		{"event", "7", lines, ""}, // a receipt must not cover an event about receipts
		{"event", "99", lines, ""},
		{"artifact", "p", lines, `"subject":{"id":"p","object":"artifact"}`},
		{"artifact", "a", lines, ""},
		{"approval", "a", lines, `"subject":{"id":"a","object":"approval"}`},
		{"approval", "c", lines, ""},
		{"tool_call", "c", lines, `"subject":{"id":"c","object":"tool_call"}`},
		{"tool_call", "d", lines, ""}, // this call was never dispatched
		{"memory", "m", lines, ""},
		{"approval", "", lines, ""},
		{"", "a", lines, ""},
	} {
		o := plain()
		o.Subject = receipt.ResourceRef{Object: test.object, ID: test.id}
		got, err := told(o, test.lines...)
		var option *record.OptionError
		switch refused := errors.As(err, &option) && option.Name == "Subject"; {
		case err != nil && !refused:
			t.Errorf("%v: %v", o.Subject, err)
		case refused != (test.want == ""):
			t.Errorf("%v: %v, want %q", o.Subject, err, test.want)
		case !refused:
			has(t, test.object, got, test.want)
		}
	}
}
