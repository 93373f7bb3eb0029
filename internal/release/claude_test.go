package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A claudeTurn is a content block that the model of the test returns: text, or a call if it has a
// name.
type claudeTurn struct {
	Type  string            `json:"type"`
	Text  string            `json:"text,omitempty"`
	ID    string            `json:"id,omitempty"`
	Name  string            `json:"name,omitempty"`
	Input map[string]string `json:"input,omitempty"`
}

// claudeModel returns a server that plays a model for Claude Code. For each request, it returns the
// turn after the results that the request contains.
func claudeModel(t *testing.T, turns []claudeTurn) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" || err != nil {
			http.NotFound(w, r)
			return
		}
		var request struct {
			Model string
			Tools []any
		}
		if err := json.Unmarshal(body, &request); err != nil {
			t.Error(err)
		}
		turn, n := claudeTurn{Type: "text", Text: "A title"}, strings.Count(string(body), `"type":"tool_result"`)
		if len(request.Tools) > 0 {
			turn = turns[min(n, len(turns)-1)]
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(kind string, members map[string]any) {
			members["type"] = kind
			data, err := json.Marshal(members)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
		}
		message := map[string]any{
			"id": fmt.Sprint("msg_", time.Now().UnixNano()), "type": "message", "role": "assistant", "model": request.Model, "content": []any{},
			"usage": map[string]int{"input_tokens": 100 + n, "output_tokens": 1},
		}
		stop, start, delta := "end_turn", claudeTurn{Type: "text"}, map[string]any{"type": "text_delta", "text": turn.Text}
		if turn.Name != "" {
			input, _ := json.Marshal(turn.Input)
			stop, start, delta = "tool_use", claudeTurn{Type: "tool_use", ID: turn.ID, Name: turn.Name}, map[string]any{"type": "input_json_delta", "partial_json": string(input)}
		}
		send("message_start", map[string]any{"message": message})
		send("content_block_start", map[string]any{"index": 0, "content_block": start})
		send("content_block_delta", map[string]any{"index": 0, "delta": delta})
		send("content_block_stop", map[string]any{"index": 0})
		send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop}, "usage": map[string]int{"output_tokens": 20}})
		send("message_stop", map[string]any{})
	}))
	t.Cleanup(s.Close)
	return s
}

// TestClaudeCode verifies that Claude Code accepts the plugin, and that the receipt of a session
// states what happened. The environment variable CLAUDE is the path of the program. The model is a
// server of this test.
func TestClaudeCode(t *testing.T) {
	program := os.Getenv("CLAUDE")
	if program == "" {
		t.Skip("CLAUDE does not name a program")
	}
	plugin, err := filepath.Abs("../../examples/plugin")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	work := filepath.Join(home, "shop")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	model := claudeModel(t, []claudeTurn{
		{Type: "tool_use", ID: "toolu_1", Name: "Write", Input: map[string]string{"file_path": filepath.Join(work, "a.txt"), "content": "hello\n"}},
		{Type: "tool_use", ID: "toolu_2", Name: "Edit", Input: map[string]string{"file_path": filepath.Join(work, "a.txt"), "old_string": "hello", "new_string": "hi"}},
		{Type: "tool_use", ID: "toolu_3", Name: "Bash", Input: map[string]string{"command": "false", "description": "Fail"}},
		{Type: "tool_use", ID: "toolu_4", Name: "Bash", Input: map[string]string{"command": "uname -n > name", "description": "Denied"}},
		{Type: "text", Text: "Done."},
	})
	command := installed(t)
	env := []string{
		"HOME=" + home, "USER=ada", "PATH=" + filepath.Dir(command) + ":" + os.Getenv("PATH"), "ANTHROPIC_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=none",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
	}
	do := func(args ...string) string {
		c := exec.Command(args[0], args[1:]...)
		c.Dir, c.Env = work, env
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
		return string(out)
	}
	do(program, "plugin", "validate", "--strict", plugin)
	do(command, "init")
	do(program, "--plugin-dir", plugin, "-p", "Write a greeting", "--allowedTools", "Write", "Edit", "Bash(false)")

	// The hook records in the background.
	log := filepath.Join(home, ".local/share/receipt/ledger.db-record.log")
	for range 300 {
		if text, err := os.ReadFile(log); err == nil && strings.Contains(string(text), "1 receipt issued") {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	text, err := os.ReadFile(log)
	if err != nil || strings.Contains(string(text), "not read") || strings.Contains(string(text), "skipped") {
		t.Errorf("the log of the hook is %q, %v", text, err)
	}
	shown := do(command, "show", "--last")
	for _, want := range []string{
		"4 tool calls (1 failed, 1 denied)", "510 input tokens, 100 output tokens", "a.txt, create, 2 writes", "Bash 2 (1 failed, 1 denied) · Write 1 · Edit 1", "Verified ",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the receipt does not show %q:\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "by user") {
		t.Errorf("nobody was asked, but the receipt shows an approval:\n%s", shown)
	}
}
