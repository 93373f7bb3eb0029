package replay_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// stranger runs the implementation in another language on the given files.
func stranger(t *testing.T, verb string, files ...[]byte) []byte {
	t.Helper()
	args := []string{filepath.Join("testdata", "stranger.py"), verb}
	dir := t.TempDir()
	for i, text := range files {
		path := filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	out, err := exec.Command("python3", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bytes.TrimSpace(out)
}

// TestStranger verifies that an implementation of docs/replay.md in another language produces the
// same deltas and the same projection.
func TestStranger(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	mine := &source{task: "task_1"}
	mine.add("e1", "task.submitted", 1, members{"autonomy_tier": "act_auto"})
	mine.add("e2", "task.started", 2, members{})
	mine.add("e3", "span.completed", 3, members{"kind": "llm", "provider": "p", "model": "m", "agent": "scout", "response": members{"b": 1, "a": []any{"x", nil}}})
	mine.add("e4", "tool.completed", 4, members{"tool_call_id": "c/1", "name": "soil.read", "output": "dry"})
	mine.add("e5", "tool.completed", 5, members{"tool_call_id": "c2", "name": "open", "server": "forge", "output": members{"n": 7}})
	mine.add("e6", "task.completed", 6, members{})
	const request = `{"mode":"with_overrides","reason":"why","override":{
		"llm:scout:1":{"kind":"llm_provider_response","value":{"z":[],"a":"ä"}}, "host:soil.read:c/1":{"kind":"tool_result","value":"wet","reason":"rain"},
		"mcp:label:x":{"kind":"mcp_tool_return","event_id":"e5","value":8}, "mcp:new:1":{"kind":"mcp_tool_return","value":null},
		"secret:k":{"kind":"secret_value","value":"s"}, "time:completed_at":{"kind":"time","value":"2026-01-01T00:01:00Z"}, "time:noon":{"kind":"time","value":1}}}`

	for name, c := range map[string]struct {
		log     []byte
		request string
	}{"ours": {mine.bytes(), request}, "upstream": {upstream().bytes(), corrected(t)}} {
		p := plan(t, readLog(t, c.log), c.request)
		want, err := json.Marshal(p.Deltas())
		if err != nil {
			t.Fatal(err)
		}
		if want, err = canon.Transform(want); err != nil {
			t.Fatal(err)
		}
		if got := stranger(t, "deltas", c.log, []byte(c.request)); !bytes.Equal(got, want) {
			t.Errorf("%s: the deltas are\n%s\nours are\n%s", name, got, want)
		}
		doc := sealed(t, recorded(t, events(t, p, replay.Run{TaskID: "task_2"})))
		if got, want := stranger(t, "projection", doc.Source()), replay.Bytes(doc, replay.Projection); !bytes.Equal(got, want) {
			t.Errorf("%s: the projection is\n%s\nours is\n%s", name, got, want)
		}
	}
}
