package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// A knownSecret is a secret that the test plants: text is the planted string, and body is the part
// of it that must not be visible.
type knownSecret struct{ text, body string }

// printed returns the possible values of --format.
func printed() []string {
	return []string{"text", "json", "ndjson", "junit", "sarif", "codequality", "markdown", "github"}
}

// ownSecrets returns secrets that are assembled at run time.
func ownSecrets() []knownSecret {
	r := rand.New(rand.NewPCG(13, 14))
	random := func(n int, letters string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return string(b)
	}
	const (
		lower = "0123456789abcdefghijklmnopqrstuvwxyz"
		upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		mixed = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	)
	var list []knownSecret
	for _, f := range []struct {
		before  string
		n       int
		letters string
		after   string
	}{
		{"ghp" + "_", 36, mixed, ""}, {"sk-" + "ant-api03-", 93, mixed, ""}, {"sk-" + "proj-", 60, mixed, ""}, {"xox" + "b-123456789012-", 36, mixed, ""},
		{"AK" + "IA", 16, upper, ""}, {"sk_" + "live_", 40, mixed, ""}, {"gl" + "pat-", 20, mixed, ""}, {"np" + "m_", 36, mixed, ""},
		{"eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiJ", 40, mixed, ".c2lnbmF0dXJl"}, {"aws_secret_access_key = ", 40, mixed + "+/", ""},
		{"postgres://app:", 24, mixed, "@db/x"}, {"Authorization: Bearer ", 40, mixed, ""}, {"password=", 20, mixed + "!", "7"},
		{"-----BEGIN PRIVATE" + " KEY-----\n", 128, mixed + "+/", "\n-----END PRIVATE" + " KEY-----"}, {"Authorization: Basic dXNlcjpw", 24, lower[10:] + "VGXW", ""},
	} {
		body := random(f.n, f.letters)
		list = append(list, knownSecret{f.before + body + f.after, body})
	}
	return list
}

// sampleSecrets returns the examples published by gitleaks. The entire text of an example is
// planted, and the parts that the default detectors match must not be visible.
func sampleSecrets(t *testing.T) []knownSecret {
	t.Helper()
	var samples []struct {
		Kind string
		B64  []byte
	}
	if err := json.Unmarshal(vectors.File(t, "secrets-gitleaks", "samples.b64.json"), &samples); err != nil {
		t.Fatal(err)
	}
	scanner, err := secret.Compile(secret.Default())
	if err != nil {
		t.Fatal(err)
	}
	var list []knownSecret
	for _, s := range samples {
		for _, span := range scanner.Scan(s.B64, nil) {
			if s.Kind == "positive" {
				list = append(list, knownSecret{string(s.B64), string(s.B64[span.Start:span.End])})
			}
		}
	}
	if len(list) < 130 {
		t.Fatalf("%d secrets", len(list))
	}
	return list
}

// A watch contains all parts of all secrets, in every encoding that output might use.
type watch map[[piece]byte]int

// piece is the length, in bytes, of the fragments of secrets to search for in the output.
const piece = 12

func newWatch(secrets []knownSecret) watch {
	w := watch{}
	for i, s := range secrets {
		quoted, _ := json.Marshal(s.body)
		forms := []string{s.body, string(quoted[1 : len(quoted)-1]), strings.Trim(fmt.Sprintf("%+q", s.body), `"`), url.QueryEscape(s.body), url.PathEscape(s.body), hex.EncodeToString([]byte(s.body))}
		for shift := range 3 { // the base64 form of a secret depends on its offset in the text, modulo three
			text := []byte(strings.Repeat("x", shift) + s.body)
			text = text[:len(text)/3*3]
			for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
				forms = append(forms, e.EncodeToString(text)[4:])
			}
		}
		for _, f := range forms {
			for j := 0; j+piece <= len(f); j++ {
				if window := [piece]byte([]byte(f[j : j+piece])); telling(window) {
					w[window] = i + 1
				}
			}
		}
	}
	return w
}

// telling reports whether a part of a secret is random. Text such as "BEGIN PRIVATE KEY" and the
// prefixes of tokens is not secret.
func telling(window [piece]byte) bool {
	letters := map[byte]bool{}
	digits, escapes := 0, bytes.IndexByte(window[:], '%') >= 0
	for i, c := range window {
		letters[c] = true
		inEscape := escapes && (i < 2 || window[i-1] == '%' || window[i-2] == '%') // or possibly
		if '0' <= c && c <= '9' && !inEscape {
			digits++
		}
	}
	return digits > 0 && len(letters) >= 6
}

// sees returns the number, counting from 1, of a secret that text contains in part, and the offset
// of that part. If there is no such secret, the number is 0.
func (w watch) sees(text []byte) (secret, at int) {
	for i := 0; i+piece <= len(text); i++ {
		if n := w[[piece]byte(text[i:i+piece])]; n > 0 {
			return n, i
		}
	}
	return 0, 0
}

// A stage is a directory with planted secrets, in which commands run.
type stage struct {
	dir, temp string
	real      bool   // whether commands run in separate processes
	base      []byte // a draft that contains no secrets
	watch     watch
	ran       int
}

// run runs a command, which must exit with one of the given codes and print no part of a secret.
func (s *stage) run(t *testing.T, stdin string, exits string, args ...string) {
	t.Helper()
	s.ran++
	var in []byte
	if stdin != "" {
		in = s.read(t, stdin)
	}
	var stdout, stderr bytes.Buffer
	code := 0
	if s.real {
		cmd := exec.Command("receipt", args...)
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.dir, bytes.NewReader(in), &stdout, &stderr
		cmd.Env = append(os.Environ(), "HOME="+s.temp, "TMPDIR="+s.temp, "TMP="+s.temp, "XDG_CONFIG_HOME=", "RECEIPT_KEYS=keys.json", "NO_COLOR=1")
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		code = cmd.ProcessState.ExitCode()
	} else {
		getenv := func(name string) string {
			return map[string]string{"RECEIPT_KEYS": "keys.json"}[name]
		}
		code = run(context.Background(), args, &cli.Env{In: bytes.NewReader(in), Out: &stdout, Err: &stderr, Getenv: getenv, Now: time.Now, Messages: messagesOnce})
	}
	name := fmt.Sprintf("%.200q", args)
	if n, _ := s.watch.sees([]byte(name)); n > 0 {
		name = fmt.Sprintf("%q and an argument with a secret", args[0])
	}
	if !strings.Contains(exits, fmt.Sprint(code)) {
		t.Errorf("%s: exit %d, want %s\n%s", name, code, exits, stderr.Bytes())
	}
	for stream, text := range map[string][]byte{"stdout": stdout.Bytes(), "stderr": stderr.Bytes()} {
		if n, at := s.watch.sees(text); n > 0 {
			t.Errorf("%s: a part of secret %d is on %s, at byte %d, after %q", name, n-1, stream, at, text[max(0, at-60):at])
		}
	}
}

func (s *stage) read(t *testing.T, name string) []byte {
	t.Helper()
	data := readFile(t, filepath.Join(s.dir, name))
	return data
}

func (s *stage) write(t *testing.T, name string, data []byte) {
	t.Helper()
	writeFile(t, filepath.Join(s.dir, name), data)
}

// plant returns a draft that contains the secrets in all places that can be redacted.
func (s *stage) plant(t *testing.T, secrets []knownSecret) map[string]any {
	t.Helper()
	var draft map[string]any
	if err := json.Unmarshal(s.base, &draft); err != nil {
		t.Fatal(err)
	}
	metadata := map[string]any{}
	var materials, deltas []any
	for i, s := range secrets {
		inJSON, _ := json.Marshal(map[string]string{"log": s.text})
		escaped, _ := json.Marshal(string(inJSON))
		metadata[fmt.Sprint("case_", i)] = map[string]any{
			"text": "used " + s.text, "in_json": string(inJSON), "twice": []any{[]any{s.text, "x\n" + s.text + "\n" + s.text}}, "escapes": json.RawMessage(escaped),
			"percent": strings.ReplaceAll(url.QueryEscape(s.text), "+", "%20"), "url": "https://u:" + url.PathEscape(s.body) + "@h/?token=" + url.QueryEscape(s.body) + "#access_token=" + url.QueryEscape(s.body),
			"password": s.body, "request_headers": map[string]any{"X-Api-Key": s.body}, "names": []any{map[string]any{s.text: 1}, map[string]any{"a": map[string]any{"a/b~" + s.text: []any{true}}}},
		}
		materials = append(materials, map[string]any{"kind": "event_log", "metadata": map[string]any{"n": i}, "bytes_base64": base64.StdEncoding.EncodeToString([]byte("used " + s.text))})
		deltas = append(deltas, map[string]any{"operation": "replace", "path": "/x", "reason": s.text})
	}
	draft["metadata"], draft["deltas"] = metadata, deltas
	draft["replay_input"].(map[string]any)["materials"] = materials
	draft["lifecycle"].(map[string]any)["failure"] = map[string]any{"code": "x", "message": secrets[0].text}
	draft["redactions"] = []any{map[string]any{"field": "/gone", "reason": secrets[0].text}}
	return draft
}

// spoiled returns drafts that cannot be redacted or sealed, each with a secret.
func (s *stage) spoiled(t *testing.T, secrets []knownSecret) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for i, known := range secrets {
		value, _ := json.Marshal(known.text)
		v := string(value)
		with := func(member string, set any) []byte {
			draft := s.plant(t, secrets[i:i+1])
			draft[member] = set
			return marshal(t, draft)
		}
		all := map[string]string{
			"torn": `{"metadata":{` + v + `:{"a":` + v[:len(v)-4], "twice": `{"metadata":{` + v + `:1,` + v + `:2}}`, "trailing": `{"metadata":` + v + `} ` + v, "bare": `{"metadata":{"a":` + v[1:],
			"escape": `{"metadata":{"a":` + v[:len(v)-1] + `\q"}}`, "surrogate": `{"metadata":{` + v[:len(v)-1] + `\ud800":1}}`, "number": `{"metadata":{` + v + `:1e999}}`, "utf8": `{` + v[:len(v)-1] + "\xff\":1}",
			"deep": strings.Repeat(`{`+v+`:`, 200) + "1" + strings.Repeat("}", 200), "root": `{` + v + `:1}`, "text": v, "issuer": string(with("issuer", map[string]any{"id": "x", "kind": "harness", "name": known.text})),
			"unknown": string(with(known.text, 1)), "typed": string(with("cost", map[string]any{"currency": known.text, "total": known.text})), "id": string(with("receipt_id", known.text)), "sealed": string(with("chain", map[string]any{"receipt_hash": known.text})),
		}
		for name, text := range all {
			files[fmt.Sprintf("spoiled-%s-%d.json", name, i)] = []byte(text)
		}
	}
	return files
}

// wrongRules returns rule files that contain secrets in invalid places.
func wrongRules(s knownSecret) map[string]string {
	v, _ := json.Marshal(s.text)
	return map[string]string{
		"bad-member.yaml": string(v) + ": 1\n", "bad-base.yaml": "extends: " + string(v) + "\n", "bad-urls.yaml": "urls: " + string(v) + "\n", "bad-without.yaml": "extends: default\nwithout: [" + string(v) + "]\n",
		"bad-pointer.yaml": "pointers: [" + string(v) + "]\n", "bad-path.yaml": "pointers: [" + strings.Replace(string(v), `"`, `"/metadata/`, 1) + "]\n", "bad-name.yaml": "names: {a: " + string(v) + "}\n",
		"bad-detector.yaml": "detectors: [{name: " + string(v) + ", pattern: x}]\n", "bad-pattern.yaml": "detectors: [{name: a, pattern: \"(" + strings.ReplaceAll(s.body, "+", "x") + "\"}]\n", "bad-syntax.yaml": "names: [" + string(v) + "\n\t- *x",
		"bad-alias.yaml": "names: *" + s.body + "\n", "bad-number.yaml": "detectors: [{name: a, pattern: x, entropy: " + string(v) + "}]\n",
		"bad-id.toml": "[[rules]]\nid = " + string(v) + "\nregex = '('\n", "bad-key.toml": string(v) + " = 1\n", "bad-target.toml": "[[rules]]\nid = 'a'\nregex = 'x'\n[rules.allowlist]\nregexTarget = " + string(v) + "\n",
		"bad-value.toml": "rules = " + string(v) + "\n", "bad-bare.toml": "title = " + s.body + "\n", "bad-text.toml": "title = \"" + s.body + "\n",
	}
}

// wrongDisclosures returns disclosure files that the commands "verify" and "disclose" reject, and
// files that match no receipt.
func wrongDisclosures(t *testing.T, good []byte, s knownSecret) map[string][]byte {
	t.Helper()
	v, _ := json.Marshal(s.text)
	pointer := strings.Replace(string(v), `"`, `"/metadata/`, 1)
	const salt = `"00112233445566778899aabbccddeeff"`
	one := func(field, salt, value string) []byte {
		return []byte(`{"disclosures_version":1,"fields":[{"field":` + field + `,"salt":` + salt + `,"value":` + value + `}],"receipt_hash":null}`)
	}
	return map[string][]byte{
		"withheld-unknown.json": one(pointer, salt, string(v)), "withheld-field.json": one(string(v), salt, "1"), "withheld-salt.json": one(`"/metadata"`, string(v), "1"), "withheld-value.json": one(`"/metadata/case_0/text"`, salt, string(v)),
		"withheld-torn.json": good[:len(good)/2], "withheld-member.json": []byte(`{` + string(v) + `:1}`), "withheld-twice.json": []byte(`{"fields":{` + string(v) + `:1,` + string(v) + `:1}}`), "withheld-hash.json": []byte(`{"disclosures_version":1,"fields":[],"receipt_hash":` + string(v) + `}`),
		"withheld-version.json": []byte(`{"disclosures_version":` + string(v) + `,"fields":[],"receipt_hash":null}`), "withheld-text.json": v,
	}
}

// TestSecretsStayHidden verifies that stdout, stderr, and files other than input files and
// disclosures contain no part of a secret (numbers 223, 224, and 229).
func TestSecretsStayHidden(t *testing.T) {
	for _, real := range []bool{false, true} {
		name := map[bool]string{false: "in the test", true: "processes"}[real]
		t.Run(name, func(t *testing.T) {
			if real && !testsize.Full() {
				t.Skip("it starts some hundred processes; CI=true runs them")
			}
			all := ownSecrets()
			s := newStage(t, real, all)
			s.perform(t, all)
			if real {
				s.suffer(t, all[:1])
			} else {
				s.suffer(t, []knownSecret{all[10], all[13]}) // a URL and a key with several lines
			}
			s.leftovers(t)
		})
		t.Run("samples, "+name, func(t *testing.T) {
			if real && testing.Short() {
				t.Skip("it starts processes")
			}
			secrets := some(sampleSecrets(t))
			if real { // other tests cover detection in-process; these tests check the output of processes
				secrets = some(secrets)
			}
			s := newStage(t, real, secrets)
			s.perform(t, secrets)
			s.leftovers(t)
		})
	}
}

func newStage(t *testing.T, real bool, secrets []knownSecret) *stage {
	t.Helper()
	base := readFile(t, "../../docs/draft.json")
	s := &stage{dir: t.TempDir(), temp: t.TempDir(), real: real, base: base, watch: newWatch(secrets)}
	if !real {
		t.Chdir(s.dir)
		t.Setenv("TMPDIR", s.temp)
	}
	return s
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// perform runs the usual commands on a draft that contains secrets.
func (s *stage) perform(t *testing.T, secrets []knownSecret) {
	t.Helper()
	draft := s.plant(t, secrets)
	s.write(t, "draft.json", marshal(t, draft))
	draft["receipt_id"] = "receipt_example_2"
	s.write(t, "renewed.json", marshal(t, draft))
	s.run(t, "", "0", "keys", "generate", "--issuer", "my_harness", "--private", "me.private.json", "--keys", "keys.json")
	s.run(t, "", "1", "redact", "--check", "draft.json")
	s.run(t, "draft.json", "0", "redact", "--explain", "-")
	s.run(t, "draft.json", "0", "redact")
	s.run(t, "", "0", "redact", "draft.json", "--disclosures", "disclosures.json", "-o", "redacted.json")
	s.run(t, "", "0", "redact", "draft.json", "--rules", "strict", "-o", "strict.json")
	s.run(t, "", "0", "redact", "redacted.json")
	s.run(t, "", "0", "seal", "draft.json", "-o", "careless.json")
	s.run(t, "", "1", "seal", "draft.json", "--strict")
	s.run(t, "", "1", "redact", "careless.json")
	s.run(t, "", "0", "redact", "renewed.json", "--supersedes", "careless.json", "-o", "again.json")
	s.run(t, "", "0", "seal", "redacted.json", "--strict", "--key", "me.private.json", "-o", "receipt.json")
	s.run(t, "", "0", "seal", "strict.json", "--strict", "--key", "me.private.json", "-o", "strict-receipt.json")
	for _, format := range printed() {
		s.run(t, "", "0", "verify", "receipt.json", "--format", format)
	}
	s.run(t, "receipt.json", "0", "verify", "-", "--disclosures", "disclosures.json", "--report", "report.json", "--report", "report.ndjson", "--report", "report.csv", "--report", "report.xml", "--report", "report.html")
	s.run(t, "", "0", "show", "receipt.json")
	s.run(t, "", "1", "diff", "receipt.json", "strict-receipt.json")
	s.run(t, "", "0", "canon", "receipt.json")
	s.run(t, "", "0", "canon", "--preimage", "receipt.json")
	s.run(t, "", "0", "hash", "receipt.json")
	s.run(t, "", "0", "archive", "pack", "receipt.json", "-o", "receipt.cbor")
	s.run(t, "", "0", "verify", "receipt.cbor")
	s.run(t, "", "0", "disclose", "receipt.json", "--disclosures", "disclosures.json", "--field", "/metadata/case_0/text", "-o", "disclosures-one.json")
	s.run(t, "", "0", "verify", "receipt.json", "--disclosures", "disclosures-one.json")
	s.run(t, "", "0", "disclose", "receipt.json", "--disclosures", "disclosures.json", "--all", "-o", "disclosures-all.json")
}

// suffer runs commands that fail, after perform has created their inputs.
func (s *stage) suffer(t *testing.T, secrets []knownSecret) {
	t.Helper()
	// At full size, each draft is passed to two of the commands, so that each command receives all
	// kinds of drafts. Otherwise, each draft is passed to one command.
	files := s.spoiled(t, secrets)
	for i, name := range slices.Sorted(maps.Keys(files)) {
		s.write(t, name, files[name])
		mayPass := strings.HasPrefix(name, "spoiled-typed") || strings.HasPrefix(name, "spoiled-unknown") // the secret is in a place that may be redacted
		commands := [][]string{
			{map[bool]string{true: "012", false: "12"}[mayPass], "redact", name, "--disclosures", "never.json", "-o", "never-redacted.json", "--force"},
			{"012", "redact", "--explain", name},
			{"12", "redact", "--check", name},
			{"12", "seal", name, "--strict"},
			{"12", "disclose", name, "--disclosures", "disclosures.json", "--all"},
			{"12", "redact", "draft.json", "--supersedes", name},
		}
		turn := []int{i, i + 1 + i/len(commands)}
		if !testsize.Full() {
			turn = turn[:1]
		}
		for _, n := range turn {
			c := commands[n%len(commands)]
			s.run(t, "", c[0], c[1:]...)
		}
	}
	for i, known := range secrets {
		for name, text := range wrongRules(known) {
			s.write(t, name, []byte(text))
			s.run(t, "", "0123", "redact", "draft.json", "--rules", name, "--explain")
		}
		files := wrongDisclosures(t, s.read(t, "disclosures.json"), known)
		for j, name := range slices.Sorted(maps.Keys(files)) {
			s.write(t, name, files[name])
			s.run(t, "", "12", "disclose", "receipt.json", "--disclosures", name, "--all")
			s.run(t, "", "12", "disclose", "receipt.json", "--disclosures", name, "--field", "/metadata/"+known.text)
			if name != "withheld-unknown.json" { // a report contains the name of the field that it describes
				s.run(t, "", "123", "verify", "receipt.json", "--disclosures", name, "--format", printed()[(i+j)%len(printed())])
			}
		}
		for _, arg := range []string{known.text, "/metadata/" + known.text, "/metadata/case_0/names/0/" + known.text} {
			s.run(t, "", "12", "disclose", "receipt.json", "--disclosures", "disclosures.json", "--field", arg)
			s.run(t, "", "12", "disclose", "receipt.json", "--disclosures", arg, "--all")
			s.run(t, "", "12", "disclose", arg, "--disclosures", "disclosures.json", "--all")
			s.run(t, "", "12", "redact", arg)
			s.run(t, "", "12", "redact", "draft.json", "--rules", arg)
			s.run(t, "", "12", "redact", "draft.json", "--supersedes", arg)
			s.run(t, "", "12", "redact", "draft.json", "-o", "absent/"+arg)
			s.run(t, "", "12", "redact", "draft.json", "--"+arg)
			s.run(t, "", "12", "seal", "redacted.json", "--previous", arg)
		}
		s.write(t, "bad-places.yaml", marshal(t, map[string]any{"pointers": []string{fmt.Sprintf("/metadata/case_%d/names/*/*", i)}}))
		s.run(t, "", "0", "redact", "draft.json", "--rules", "bad-places.yaml", "--explain")
	}
}

// leftovers searches all files that remain after the commands for secrets.
func (s *stage) leftovers(t *testing.T) {
	t.Helper()
	given := []string{"draft*", "renewed*", "spoiled-*", "bad-*", "withheld-*", "careless*"} // files that were written by the test, or sealed with a secret intentionally
	for _, dir := range []string{s.dir, s.temp} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name := filepath.Base(path)
			if n, _ := s.watch.sees([]byte(name)); n > 0 || dir == s.temp {
				t.Errorf("there is a file %q", name)
			}
			data, err := os.ReadFile(path)
			if err != nil || slices.ContainsFunc(given, func(p string) bool { ok, _ := filepath.Match(p, name); return ok }) {
				return err
			}
			n, at := s.watch.sees(data)
			if !strings.HasPrefix(name, "disclosures") {
				if n > 0 {
					t.Errorf("a part of secret %d is in %s, at byte %d, after %q", n-1, name, at, data[max(0, at-60):at])
				}
				return nil
			}
			if n == 0 {
				t.Errorf("no secret is in %s", name)
			}
			info, err := d.Info()
			if err == nil && info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
				t.Errorf("%s has the rights %v", name, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
