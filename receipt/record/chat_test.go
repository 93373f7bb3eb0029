package record_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// TestCheck verifies which messages have a valid form for their role, and where errors are
// reported.
func TestCheck(t *testing.T) {
	const call = `{"id":"c","name":"n","arguments":{}}`
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	agent := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	const good = "good"
	for message, want := range map[string]string{
		`{"role":"system","content":"s"}`: good, `{"role":"system","content":""}`: "/content", `{"role":"system","content":[{"type":"text","text":"s"}]}`: "/content", `{"role":"system"}`: "",
		`{"role":"user","content":"u"}`: good, `{"role":"user","content":""}`: "/content", `{"role":"user","content":[]}`: "/content", `{"role":"user","content":7}`: "", `{"role":"user","content":null}`: "",
		`{"role":"user","content":"u","tool_calls":null,"tool_call_id":null,"name":"more"}`: good,
		`{"role":"user","content":"u","tool_calls":[]}`:                                     "/tool_calls", `{"role":"user","content":"u","tool_call_id":"c"}`: "/tool_call_id",
		`{"role":"assistant","content":"a","tool_call_id":"c"}`: "/tool_call_id", `{"role":"system","content":"s","tool_call_id":"c"}`: "/tool_call_id", `{"role":"tool","content":"","tool_call_id":"c","tool_calls":[` + call + `]}`: "/tool_calls",
		`{"role":"assistant","content":"a"}`: good, `{"role":"assistant","content":""}`: "/content", `{"role":"assistant","content":[]}`: "/content", `{"role":"assistant"}`: "", `{"role":"assistant","tool_calls":[]}`: "",
		`{"role":"assistant","tool_calls":[` + call + `]}`: good, `{"role":"assistant","content":"","tool_calls":[` + call + `]}`: good, `{"role":"assistant","content":[],"tool_calls":[` + call + `]}`: good,
		`{"role":"assistant","content":7,"tool_calls":[` + call + `]}`: "", `{"role":"assistant","tool_calls":{}}`: "/tool_calls", `{"role":"assistant","tool_calls":[7]}`: "/tool_calls/0",
		`{"role":"assistant","tool_calls":[{"id":"c","name":"n"}]}`: good, `{"role":"assistant","tool_calls":[{"id":"c","name":"n","arguments":null}]}`: good, `{"role":"assistant","tool_calls":[{"id":"c","name":"n","arguments":"{}"}]}`: "/tool_calls/0/arguments",
		`{"role":"assistant","tool_calls":[{"id":"","name":"n"}]}`: "/tool_calls/0", `{"role":"assistant","tool_calls":[{"id":"c"}]}`: "/tool_calls/0", `{"role":"assistant","tool_calls":[` + call + `,` + call + `]}`: "/tool_calls/1/id",
		`{"role":"tool","content":"","tool_call_id":"c"}`: good, `{"role":"tool","content":"t"}`: "", `{"role":"tool","content":"t","tool_call_id":""}`: "", `{"role":"tool","content":"t","tool_call_id":7}`: "",
		`{"role":"tool","tool_call_id":"c"}`: "", `{"role":"tool","content":[{"type":"text","text":"t"}],"tool_call_id":"c"}`: "/content",
		`{"role":"robot","content":"r"}`: "", `{"content":"r"}`: "", `{"role":["user"],"content":"r"}`: "", `[]`: "", `7`: "", `{`: "", `{"role":"user","role":"user","content":"u"}`: "", "": "",

		user(`{"type":"text","text":"t"}`): good, user(`{"type":"text","text":""}`): "/content/0", user(`{"type":"text"}`): "/content/0", user(`"t"`): "/content/0",
		user(`{"type":"text","text":"t"},{"type":"audio","data":"d"}`): "/content/1", user(`{"type":"thinking","text":"t"}`): "/content/0", user(`{"type":"tool_use"}`): "/content/0",
		user(`{"type":"image","source":{"type":"url","url":"https://example.com/a.jpg"}}`): good, user(`{"type":"image","source":{"type":"url"}}`): "/content/0", user(`{"type":"image"}`): "/content/0", user(`{"type":"image","source":{"type":"file"}}`): "/content/0",
		user(`{"type":"image","source":{"type":"inline","base64_data":"AA=="},"media_type":"image/png"}`): good, user(`{"type":"image","source":{"type":"inline","base64_data":"AA==","media_type":"image/png"}}`): good,
		user(`{"type":"image","source":{"type":"inline","base64_data":"AA=="}}`): "/content/0", user(`{"type":"image","source":{"type":"inline"},"media_type":"image/png"}`): "/content/0",
		user(`{"type":"image","source":{"type":"url","url":"u"},"detail":"low"}`): good, user(`{"type":"image","source":{"type":"url","url":"u"},"detail":"most"}`): "/content/0/detail",

		agent(`{"type":"thinking","text":"t","signature":"s"},{"type":"text","text":"t"}`): good, agent(`{"type":"thinking","text":""}`): "/content/0", agent(`{"type":"redacted_thinking","data":"d"}`): good, agent(`{"type":"redacted_thinking"}`): "/content/0",
		agent(`{"type":"image","source":{"type":"url","url":"u"}}`): "/content/0",
	} {
		err := record.CheckMessage([]byte(message))
		var wrong *record.ShapeError
		switch {
		case want == good && err != nil:
			t.Errorf("%s: %v", message, err)
		case want != good && (!errors.As(err, &wrong) || wrong.Pointer != want || !strings.HasPrefix(err.Error(), "message")):
			t.Errorf("%s: %v, expected an error at %q", message, err, want)
		}
	}
}

// TestCheckSaysNoContent verifies that an error quotes at most a role or a block type, and shortens
// a long one.
func TestCheckSaysNoContent(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, message := range []string{
		`{"role":"system","content":["secret"]}`, `{"role":"user","content":[{"type":"text","txt":"secret"}]}`, `{"role":"user","content":"","tool_calls":"secret"}`,
		`{"role":"assistant","tool_calls":[{"id":"c","name":"n","arguments":"secret"}]}`, `{"role":"` + long + `"}`, `{"role":"user","content":[{"type":"` + long + `"}]}`,
	} {
		if err := record.CheckMessage([]byte(message)); err == nil || strings.Contains(err.Error(), "secret") || len(err.Error()) > 400 {
			t.Errorf("%.100s: %v", message, err)
		}
	}
}

// TestBuckets verifies that each category is in exactly one bucket, and that an unknown category
// leaves the session usable.
func TestBuckets(t *testing.T) {
	var names []string
	for _, c := range event.Buckets() {
		bucket := record.Bucket(c.Means)
		if names = append(names, c.Word); !slices.Contains([]record.Bucket{record.SessionTerminating, record.RetryableTransient, record.UserCorrectable}, bucket) {
			t.Errorf("%+v", c)
		}
		for _, transient := range []bool{false, true} {
			if got := record.BucketOf(c.Word, transient); got != bucket {
				t.Errorf("%s: %s", c.Word, got)
			}
		}
	}
	slices.Sort(names)
	if len(names) < 19 || len(slices.Compact(names)) != len(event.Buckets()) {
		t.Errorf("%q", names)
	}
	for category, want := range map[string][2]record.Bucket{
		"session_load_failed": {record.SessionTerminating, record.SessionTerminating}, "session_save_failed": {record.SessionTerminating, record.SessionTerminating},
		"provider_unavailable": {record.RetryableTransient, record.RetryableTransient}, "provider_invalid_response": {record.UserCorrectable, record.UserCorrectable},
		"harness_signal_subscription_failed": {record.UserCorrectable, record.RetryableTransient}, "": {record.UserCorrectable, record.RetryableTransient},
	} {
		if got := [2]record.Bucket{record.BucketOf(category, false), record.BucketOf(category, true)}; got != want {
			t.Errorf("%q: %q", category, got)
		}
	}
}
