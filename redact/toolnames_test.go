package redact_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/secrets"
	"github.com/receiptkit/receiptkit/redact"
)

// asTools returns tool names that contain the given text after "__", before "__", and between two
// occurrences of "__".
func asTools(text string) []string {
	return []string{"mcp__srv__" + text, "mcp__" + text + "__list_issues", "mcp__srv__run__" + text + "__now", "host:mcp__srv__" + text + " of mcp__srv__list"}
}

// TestToolNames verifies that a string that is detected as a secret is also detected in a tool
// name.
func TestToolNames(t *testing.T) {
	p := compile(t, redact.Default())
	cleaned := func(text string) string {
		draft := redacted(t, p, `{"metadata":{"log":`+quote(text)+`}}`).Draft
		left := draft.Root().Member("metadata").Member("log").String()
		return regexp.MustCompile(`<redacted:[a-z0-9_]+>`).ReplaceAllString(left, "|")
	}

	r, tokens := rand.New(rand.NewPCG(31, 32)), 0
	for _, f := range secrets.Services() {
		text, secrets := f.Form.Write(r)
		if strings.ContainsAny(text, " \t\r\n\"'") || text != secrets[0] || leftOf(cleaned(text), text) != "" {
			continue
		}
		tokens++
		for _, name := range asTools(text) {
			left := cleaned(name)
			if leftOf(left, text) != "" {
				t.Errorf("%s: %q remains of %q", f.Name, left, name)
			}
			if !strings.HasPrefix(left, "mcp__") && !strings.HasPrefix(left, "host:mcp__") {
				t.Errorf("%s: %q remains of %q", f.Name, left, name)
			}
		}
	}
	if tokens < 60 {
		t.Errorf("%d tokens", tokens)
	}

	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	for in, want := range map[string]string{
		"mcp__" + token + "__list": "mcp__|__list", "mcp__srv__" + token: "mcp__srv__|", "a mcp__srv__" + token + "\nmcp__" + token: "a mcp__srv__|\nmcp__|",
		"mcp__srv__list": "mcp__srv__list", "mcp__": "mcp__", "mcp____": "mcp____",
	} {
		if got := cleaned(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestToolNamesBenign verifies that text that is not a secret is not detected in a tool name
// either.
func TestToolNamesBenign(t *testing.T) {
	p := compile(t, redact.Default())
	inName := regexp.MustCompile(`^[\w.:-]+$`)
	names := []string{
		"github__create_pull_request", "chrome-devtools__take_snapshot", "vault__read_secret", "vault__get_api_key__v2", "db__set_password2", "claude_ai_Gmail__search_threads",
		"c8e2f0a2-3b1d-4c5e-9f60-7a8b9c0d1e2f__list_files", "plugin_context7_context7__resolve-library-id", "codex_apps__github_fetch_pr", "tokens__count__0123456789",
	}
	r := rand.New(rand.NewPCG(33, 34))
	for _, f := range secrets.Benign() {
		if text, _ := f.Write(r); inName.MatchString(text) && len(redacted(t, p, `{"metadata":{"log":`+quote(text)+`}}`).Entries) == 0 {
			names = append(names, text)
		}
	}
	for _, text := range names {
		for _, name := range asTools(text) {
			if len(redacted(t, p, `{"metadata":{"log":`+quote(name)+`}}`).Entries) > 0 {
				t.Errorf("something is withheld from %q", name)
			}
		}
	}
	if len(names) < 60 {
		t.Errorf("%d names", len(names))
	}
}
