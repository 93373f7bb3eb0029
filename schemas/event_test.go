package schemas_test

import (
	"fmt"
	"testing"
)

// TestEvent verifies which errors in events the schema reports, and where. A test in package record
// verifies that the schema and the recorder reject the same events.
func TestEvent(t *testing.T) {
	s := must(t, "event")
	line := func(envelope, kind, payload string) string {
		return fmt.Sprintf(`{"id":"1","event":%q,"resource":{"object":"task","id":"t"},"created_at":"2026-04-25T19:16:08Z","sequence":1,%s"payload":%s}`, kind, envelope, payload)
	}
	for src, want := range map[string]string{
		line(``, "task.started", `{}`):                                                                          "",
		line(``, "vendor.example.rain", `{"tool_call_id":5}`):                                                   "",
		line(`"task_id":null,"metadata":7,`, "task.started", `{}`):                                              "",
		line(``, "task.started", `{"autonomy_tier":"boss","unknown":[1]}`):                                      "/payload/autonomy_tier",
		line(``, "task.started", `null`):                                                                        "/payload",
		line(`"task_id":5,`, "task.started", `{}`):                                                              "/task_id",
		line(`"replay":{"source_task_id":5},`, "user.message", `{}`):                                            "/replay/source_task_id",
		line(``, "tool.completed", `{"name":"shell"}`):                                                          "/payload",
		line(``, "tool.completed", `{"tool_call_id":"c","is_error":"yes"}`):                                     "/payload/is_error",
		line(``, "tool.approved", `{"actor":"robin"}`):                                                          "/payload",
		line(``, "tool.approved", `{"approval_request":{"id":"a"}}`):                                            "",
		line(``, "span.completed", `{"kind":"HTTP"}`):                                                           "/payload",
		line(``, "span.completed", `{"kind":"http","host":"example.com"}`):                                      "",
		line(``, "span.completed", `{"kind":"fs","operation":"list"}`):                                          "",
		line(``, "span.completed", `{"kind":"fs"}`):                                                             "/payload",
		line(``, "span.completed", `{"kind":"llm","cost":{"currency":"x"}}`):                                    "/payload/cost /payload/cost/currency",
		line(``, "span.completed", `{"kind":"llm","cost":"0.10"}`):                                              "",
		line(``, "artifact.created", `{"artifact_id":"a","applied":true}`):                                      "/payload",
		line(``, "tool.completed", `{"tool_call_id":"c","fs_writes":[{"path":"a","operation":"rename"},null]}`): "/payload/fs_writes/0 /payload/fs_writes/1",
		`{}`: "     ", // six members are missing
	} {
		at := ""
		for i, p := range check(t, s, src).Problems {
			if i > 0 {
				at += " "
			}
			at += p.Pointer
		}
		if at != want {
			t.Errorf("%s: problems at %q, expected %q", src, at, want)
		}
	}
}
