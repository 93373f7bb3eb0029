package bundle_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// An oracle implements the format's algorithm in a few lines with regexp and net/url, without code
// from this module.
type oracle struct{ entries []bundle.Entry }

var paths = []string{"persisted_path", "primary", "run_path", "snapshot_ref", "snapshot_path", "source_path"}

var compact = strings.Fields(`authorization proxyauthorization cookie setcookie apikey xamzsecuritytoken xapikey xauthtoken xcsrftoken xxsrftoken accesstoken
	refreshtoken idtoken bearertoken clientsecret password secret passwd privatekey sessiontoken`)

var payloads = strings.Fields(`args arguments blocks content data private_reasoning prompt raw_input raw_output result response_text summary system system_prompt
	task text thinking visible_text`)

func isSensitive(name string) bool {
	name = strings.ToLower(name)
	short := strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", "")
	return slices.Contains(paths, name) || slices.Contains(compact, short) || endsSo(short, "token", "secret", "password", "apikey")
}

func endsSo(s string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(s, end) })
}

type pattern struct {
	name string
	re   *regexp.Regexp
}

var patterns = func() (list []pattern) {
	const v = `[A-Za-z0-9._\-+/=]`
	for _, p := range [][2]string{
		{"jwt", `\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\b`}, {"github_token", `\bgh[pousr]_[A-Za-z0-9]{36,255}\b`},
		{"github_pat_fine", `\bgithub_pat_[A-Za-z0-9_]{20,255}\b`}, {"slack_token", `\bxox[abprs]-[A-Za-z0-9-]{10,255}\b`},
		{"aws_access_key", `\b(?:AKIA|ASIA|AGPA|AIDA|ANPA|AROA|AIPA)[A-Z0-9]{16}\b`}, {"gitlab_token", `\bglpat-[A-Za-z0-9_-]{20,255}\b`},
		{"huggingface_token", `\bhf_[A-Za-z0-9]{20,255}\b`}, {"cerebras_key", `\bcsk-[A-Za-z0-9]{20,255}\b`}, {"together_key", `\btgp_v1_[A-Za-z0-9_-]{20,255}\b`},
		{"google_api_key", `\bAIza[A-Za-z0-9_-]{35}\b`}, {"npm_token", `\bnpm_[A-Za-z0-9]{36}\b`}, {"openai_key", `\bsk-[A-Za-z0-9_-]{20,255}\b`},
		{"stripe_key", `\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}\b`},
		{"private_key_block", `(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?-----END [A-Z0-9 ]*PRIVATE KEY-----`},
		{"bearer_token", `(?i)\bbearer\s+` + v + `{12,}`},
		{"sensitive_assignment", `(?i)\b(?:api[_-]?key|(?:access|refresh|id)[_-]?token|client[_-]?secret|password|passwd|secret|token)\s*[:=]\s*` +
			`(?:"` + v + `{6,}"|'` + v + `{6,}'|` + v + `*[0-9._\-+/=]` + v + `*|secret|hidden|hideme|password|passwd|token)`},
	} {
		list = append(list, pattern{p[0], regexp.MustCompile(p[1])})
	}
	return list
}()

// The pattern matches the user information in a URL inside a string, which the format's reference
// harness does not remove.
var userinfo = regexp.MustCompile(`(?i)(\b[a-z][a-z0-9+.-]*://)[^\s/?#"<>@]+@`)

func clean(text string) string {
	if u, err := url.Parse(text); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && !strings.ContainsAny(text, " \t\n") {
		if u.User != nil {
			text = strings.Replace(text, "//"+text[strings.Index(text, "//")+2:strings.LastIndex(text, "@")+1], "//", 1)
		}
		if head, query, ok := strings.Cut(text, "?"); ok {
			parameters := strings.Split(query, "&")
			for i, p := range parameters {
				name, value, _ := strings.Cut(p, "=")
				short := strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(name), "_", ""), "-", "")
				if value != "" && (slices.Contains(strings.Fields("apikey accesstoken refreshtoken idtoken clientsecret password secret token auth bearer sig signature"), short) || endsSo(short, "token", "secret", "password")) {
					parameters[i] = name + "=%5Bredacted%5D"
				}
			}
			text = head + "?" + strings.Join(parameters, "&")
		}
	}
	text = userinfo.ReplaceAllString(text, "$1")
	for _, p := range patterns {
		text = p.re.ReplaceAllStringFunc(text, func(m string) string { return fmt.Sprintf("<redacted:%s:%d>", p.name, len(m)) })
	}
	return text
}

var (
	root     = regexp.MustCompile(`\.additional_roots\[\d+\]$`)
	pointers = regexp.MustCompile(`\.(event_log|transcript)_pointers\[\d+\]`)
	plain    = regexp.MustCompile(`^\w*$`)
)

func child(path, name string) string {
	if plain.MatchString(name) {
		return path + "." + name
	}
	return fmt.Sprintf("%s[%q]", path, name)
}

func (o *oracle) took(path string, class string, with string) string {
	o.entries = append(o.entries, bundle.Entry{Path: path, Class: class, Replacement: with})
	return with
}

func (o *oracle) redact(v any, path string) any {
	switch v := v.(type) {
	case string:
		if c := clean(v); c != v {
			return o.took(path, "secret_pattern_or_url", c)
		}
	case []any:
		for i := range v {
			v[i] = o.redact(v[i], fmt.Sprintf("%s[%d]", path, i))
		}
	case map[string]any:
		for name := range v {
			at := child(path, name)
			switch {
			case isSensitive(name), name == "path" && root.MatchString(path):
				v[name] = o.took(at, "sensitive_field", "[redacted]")
			case name == "path" && pointers.MatchString(path) && v[name] != nil:
				v[name] = o.took(at, "local_pointer_path", "[redacted]")
			default:
				v[name] = o.redact(v[name], at)
			}
		}
	}
	return v
}

func (o *oracle) withhold(v any, path string) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = o.withhold(v[i], fmt.Sprintf("%s[%d]", path, i))
		}
	case map[string]any:
		for name := range v {
			if at := child(path, name); v[name] != nil && slices.Contains(payloads, name) {
				v[name] = o.took(at, "prompt_or_tool_payload", "[withheld]")
			} else {
				v[name] = o.withhold(v[name], at)
			}
		}
	}
	return v
}

// apply applies a mode to a local bundle: it redacts values and then withholds values.
func (o *oracle) apply(v map[string]any, mode bundle.Mode) {
	manifest := v["redaction"]
	delete(v, "redaction")
	o.redact(v, "$")
	if mode == bundle.ReplayOnly {
		o.withhold(v, "$")
	}
	v["redaction"] = manifest
	slices.SortStableFunc(o.entries, func(a, b bundle.Entry) int { return strings.Compare(a.Path, b.Path) })
}

// agree verifies that Sanitize and the oracle return the same result for a local bundle. One
// difference is intentional: if a string is withheld, earlier changes inside it are not listed.
func agree(t *testing.T, local []byte, mode bundle.Mode) {
	t.Helper()
	got := sanitized(t, local, mode, false)
	want := tree(t, local)
	var o oracle
	o.apply(want, mode)

	gone := map[string]bool{}
	for _, e := range o.entries {
		if e.Class == "prompt_or_tool_payload" {
			gone[e.Path] = true
		}
	}
	for i, e := range o.entries {
		for p := range gone {
			if rest, in := strings.CutPrefix(e.Path, p); in && e.Class == "secret_pattern_or_url" && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
				o.entries[i].Replacement = "[withheld]"
			}
		}
	}
	same(t, string(mode), got.Entries, o.entries)

	// Compare everything except the manifest, which TestManifest checks.
	text := tree(t, got.Bytes())
	text["redaction"] = want["redaction"]
	if string(encode(t, text)) != string(encode(t, want)) {
		t.Errorf("%s: another content\ngot  %.2000s\nwant %.2000s", mode, encode(t, text), encode(t, want))
	}
}

func TestOracle(t *testing.T) {
	for _, mode := range []bundle.Mode{bundle.Sanitized, bundle.ReplayOnly} {
		agree(t, file(t, "local.json"), mode)
		agree(t, exported(t, file(t, "run.json"), bundle.Options{Mode: bundle.Local, Attachments: true}).Bytes(), mode)
	}

	// Pointers to logs may be nested at any depth in their list.
	nested := tree(t, file(t, "local.json"))
	nested["metadata"] = map[string]any{"event_log_pointers": []any{[]any{map[string]any{"path": "/a"}}, map[string]any{"more": []any{map[string]any{"path": "/b"}}}}}
	agree(t, encode(t, nested), bundle.Sanitized)

	// Random bundles contain values and names for all rules, in any order and at any depth.
	random := rand.New(rand.NewPCG(1, 2))
	n := testsize.Of(40, 150)
	for range n {
		local := tree(t, file(t, "local.json"))
		local["metadata"] = map[string]any{"any": grown(random, 4)}
		put(t, local, grown(random, 3), "runtime", "metadata", "any")
		text := encode(t, local)
		agree(t, text, bundle.Sanitized)
		agree(t, text, bundle.ReplayOnly)
	}
}

func grown(r *rand.Rand, depth int) any {
	names := []string{"path", "content", "api_key", "API-KEY", "input_tokens", "myToken", "event_log_pointers", "transcript_pointers", "additional_roots", "a b", "é", "text",
		"Text", "primary", "Primary", "snapshot_ref", "snapshotref", "summary", "x", "0"}
	values := []any{nil, true, "", "plain", "token", "[redacted]", "[withheld]", "max_tokens=200", "/a/b"}
	for _, s := range bundle.Shapes() {
		values = append(values, s.Text, "before "+s.Text+", after", s.Text+" "+bundle.Shapes()[r.IntN(16)].Text)
	}
	if depth == 0 || r.IntN(4) == 0 {
		return values[r.IntN(len(values))]
	}
	if r.IntN(3) == 0 {
		list := []any{}
		for range r.IntN(4) {
			list = append(list, grown(r, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range r.IntN(5) {
		object[names[r.IntN(len(names))]] = grown(r, depth-1)
	}
	return object
}
