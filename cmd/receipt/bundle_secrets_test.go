package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// A planting is a location in a run record, or in a bundle of the run, where a string is inserted.
type planting struct {
	path string // path of the value, or of the object that contains the member
	way  []any
}

// plantings returns ten places in a local bundle. At the last location, the string is inserted as a
// member name.
func plantings() []planting {
	return []planting{
		{"$.bundle_id", []any{"bundle_id"}},
		{"$.source.run_record_id", []any{"source", "run_record_id"}},
		{"$.source.task", []any{"source", "task"}},
		{"$.producer.name", []any{"producer", "name"}},
		{"$.transcript.sections[0].messages[0].content", []any{"transcript", "sections", 0, "messages", 0, "content"}},
		{"$.tools.calls[0].result", []any{"tools", "calls", 0, "result"}},
		{"$.tools.calls[0].tool_name", []any{"tools", "calls", 0, "tool_name"}},
		{"$.replay.run_record.transcript.messages[1].tool_calls[0].arguments.note", []any{"replay", "run_record", "transcript", "messages", 1, "tool_calls", 0, "arguments", "note"}},
		{`$.metadata["a b"]`, []any{"metadata", "a b"}},
		{"$.replay.trace_spans[0]", []any{"replay", "trace_spans", 0, nil}},
	}
}

// plant inserts a string into a bundle. If the last step is nil, the string is inserted as a member
// name.
func plant(t *testing.T, data []byte, way []any, text string) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	in := v
	for _, s := range way[:len(way)-1] {
		switch s := s.(type) {
		case string:
			in = in.(map[string]any)[s]
		case int:
			in = in.([]any)[s]
		}
	}
	if name, ok := way[len(way)-1].(string); ok {
		in.(map[string]any)[name] = "it is " + text + " now"
	} else {
		in.(map[string]any)[text] = true
	}

	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bundleSecrets returns one secret of each of the 16 kinds for which bundles are searched. The
// secrets are assembled at run time, so that the source contains none of them.
func bundleSecrets() (list [][2]string) {
	letters := strings.Repeat("a1B2c3D4", 8)
	upper := strings.ToUpper(letters)
	for _, s := range [][3]string{
		{"jwt", "ey" + "J" + letters[:12] + ".", letters[:20] + "." + letters[:24]}, {"github_token", "gh" + "p_", letters[:36]}, {"github_pat_fine", "github" + "_pat_", letters[:30]},
		{"slack_token", "xo" + "xb-", letters[:20]}, {"aws_access_key", "AK" + "IA", upper[:16]}, {"gitlab_token", "gl" + "pat-", letters[:20]},
		{"huggingface_token", "h" + "f_", letters[:30]}, {"cerebras_key", "cs" + "k-", letters[:24]}, {"together_key", "tgp" + "_v1_", letters[:24]},
		{"google_api_key", "AI" + "za", letters[:35]}, {"npm_token", "np" + "m_", letters[:36]}, {"openai_key", "s" + "k-", letters[:32]}, {"stripe_key", "sk" + "_live_", letters[:24]},
		{"private_key_block", "-----BEGIN " + "PRIVATE KEY-----\n", letters + "\n-----END " + "PRIVATE KEY-----"}, {"bearer_token", "Bear" + "er ", letters[:24]},
		{"sensitive_assignment", "pass" + "word=", letters[:20]},
	} {
		list = append(list, [2]string{s[0], s[1] + s[2]})
	}
	return list
}

// leaks returns a 12-byte part of a secret that occurs in text, or "" if there is none.
func leaks(text, secret string) string {
	for i := 0; i+12 <= len(secret); i++ {
		part := secret[i : i+12]
		if strings.Contains(text, part) || strings.Contains(text, strings.ReplaceAll(part, "\n", `\n`)) {
			return part
		}
	}
	return ""
}

// TestBundleSecrets verifies that a planted secret makes every subcommand exit with code 1 and
// report the location and the rule, without writing a file or printing any part of the secret. It
// also verifies that a sanitized bundle does not contain the secret. At full size, each of the 16
// secrets is planted at ten locations. Otherwise, each is planted at two.
func TestBundleSecrets(t *testing.T) {
	code, local, stderr := command(nil, "bundle", "export", "../../receipt/bundle/testdata/run.json", "--local")
	if code != 0 {
		t.Fatal(stderr)
	}
	secrets, places := bundleSecrets(), plantings()
	if len(secrets) != 16 || len(places) != 10 {
		t.Fatalf("%d secrets, %d places", len(secrets), len(places))
	}

	dir := t.TempDir()
	file, none := filepath.Join(dir, "bundle.json"), filepath.Join(dir, "none.json")
	for i, s := range secrets {
		name, secret := s[0], s[1]
		for j, p := range places {
			if !testsize.Full() && (i+j)%5 > 0 {
				continue // diagonals: two locations for each secret, and at least three secrets for each location
			}
			writeFile(t, file, plant(t, []byte(local), p.way, secret))
			for _, args := range []string{"validate %s", "validate %s --json", "import %s -o " + none, "draft %s --issuer h -o " + none} {
				args := append([]string{"bundle"}, strings.Fields(fmt.Sprintf(args, file))...)
				code, stdout, stderr := command(nil, append(args, "--strict")...)
				if want := "unsafe_secret_marker at " + p.path + ": " + name; code != cli.ExitRefuted || !strings.Contains(stderr, want) {
					t.Errorf("%v: exit %d, %s, expected %s", args, code, stderr, want)
				}
				if part := leaks(stdout+stderr, secret); part != "" {
					t.Errorf("%v, %s at %s: %q is said: %s%s", args, name, p.path, part, stdout, stderr)
				}
				if _, err := os.Stat(none); err == nil {
					t.Errorf("a file remains after %v", args)
				}

				// Without --strict, a match of a heuristic causes only a warning, which does not
				// contain the secret.
				if code, stdout, stderr := command(nil, args...); i >= 14 {
					if code != 0 {
						t.Errorf("%v, %s at %s: exit %d, %s", args, name, p.path, code, stderr)
					}
					if part := leaks(stderr, secret); part != "" || args[1] == "validate" && leaks(stdout, secret) != "" {
						t.Errorf("%v, %s at %s: %s%s", args, name, p.path, stdout, stderr)
					}
					os.Remove(none)
				} else if code != cli.ExitRefuted {
					t.Errorf("%v, %s at %s: exit %d", args, name, p.path, code)
				}
			}
			checkSanitized(t, dir, file, name+" at "+p.path, secret)
		}
	}
}

// checkSanitized verifies that sanitizing a file removes the secret and produces a valid bundle.
func checkSanitized(t *testing.T, dir, file, what, secret string) {
	t.Helper()
	code, stdout, stderr := command(nil, "bundle", "sanitize", file)
	if part := leaks(stdout+stderr, secret); part != "" {
		t.Errorf("%s: sanitized, but %q remains", what, part)
	}
	clean := filepath.Join(dir, "clean.json")
	writeFile(t, clean, stdout)
	if again, _, stderr2 := command(nil, "bundle", "validate", clean, "--strict"); code != 0 || again != 0 {
		t.Errorf("%s: exit code %d %s, and for the sanitized bundle %d %s", what, code, stderr, again, stderr2)
	}
}
