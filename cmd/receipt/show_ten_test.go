package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

// TestTenReceipts verifies that "receipt show" prints the receipts of ten logs in at most 40 lines
// of 80 columns, and that every printed number matches a separate count of the JSON.
func TestTenReceipts(t *testing.T) {
	for _, log := range []string{ // logs from different agents and of different sizes
		"sources/claude-stream-rust-code-agent-sdks/permission_denials.jsonl",
		"sources/claude-transcript-spotter/ae4a77f8-aedd-4bc1-888f-c94edc91af04.jsonl",
		"sources/codex-exec-takopi/codex_exec_json_all_formats.jsonl",
		"sources/otlp-agent-prism/smol_deep_research_agent.json",
		"sources-2/claude-transcript-entireio/e5fcdc73-b9fc-4991-b532-6bf8440fd12d.jsonl",
		"sources-2/codex-rollout-agentv/019ed50c-2fb3-7002-a384-360bea6e7f04.jsonl",
		"sources-2/copilot-cli-agentv/10fb4666-56f0-4352-90fc-715caf95b418.jsonl",
		"sources-2/gemini-cli-entireio/session-f7633853.json",
		"sources-2/opencode-constructed/ses_31b36ebd2ffeoovb1sGeGa0000.json",
		"sources-2/pi-pi-mono/large-session.jsonl",
	} {
		t.Run(log, func(t *testing.T) {
			set, file, _ := strings.Cut(log, "/")
			name := receiptOf(t, filepath.Join(vectors.Dir(t, set), filepath.FromSlash(file)))
			t.Chdir(filepath.Dir(name))
			var out bytes.Buffer
			e := testEnv(&out, io.Discard)
			e.Terminal, e.Width = true, 80
			e.Now = func() time.Time { return time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) } // after all logs
			if code := run(context.Background(), []string{"show", "--color", "never", filepath.Base(name)}, e); code != 0 {
				t.Fatalf("exit %d", code)
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			if len(lines) > 40 {
				t.Errorf("%d lines", len(lines))
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > 80 {
					t.Errorf("a line of %d columns: %s", n, line)
				}
			}
			explainAll(t, readFile(t, name), out.String())
		})
	}
}

// explainAll verifies that all numbers in a string are correct. It also verifies that the check
// would reject any other number, and any number without its bound.
func explainAll(t *testing.T, receipt []byte, out string) {
	t.Helper()
	text := strings.Join(strings.Fields(out), " ")
	phrases := countReceipt(t, receipt)
	if err := explain(text, phrases); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, at := range regexp.MustCompile(`[0-9]+|at least `).FindAllStringIndex(text, -1) {
		other := text[:at[0]] + text[at[1]:]
		if last := at[1] - 1; text[last] != ' ' {
			other = text[:last] + string('0'+(text[last]-'0'+1)%10) + text[at[1]:]
		}
		if explain(other, phrases) == nil {
			t.Errorf("a change of %q at %d is not noticed", text[at[0]:at[1]], at[0])
		}
	}
}

// explain removes the expected phrases from a string, in order. Afterward, no number and no bound
// may remain.
func explain(text string, phrases []string) error {
	rest := regexp.MustCompile(`[0-9]|at least|at most|reportedly`)
	for _, phrase := range phrases {
		before, after, found := strings.Cut(text, phrase)
		if !found {
			return fmt.Errorf("counted %q, which is not in %q", phrase, text)
		}
		if rest.MatchString(before) {
			return fmt.Errorf("%q is not counted, before %q", before, phrase)
		}
		text = after
	}
	if rest.MatchString(text) {
		return errors.New("not counted: " + text)
	}
	return nil
}
