package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif" // for its schema
	"github.com/xeipuuv/gojsonschema"
	"go.yaml.in/yaml/v3"

	"github.com/receiptkit/receiptkit/fixtures"
)

// An action contains the parts of action.yml that the tests use.
type action struct {
	Inputs map[string]struct {
		Description string
		Required    bool
		Default     string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

type step struct {
	ID, If, Uses, Shell, Run string
	With, Env                map[string]string
}

// A runner runs the steps of a composite action in the same way as the GitHub runner, except for
// steps that use other actions.
type runner struct {
	action  action
	inputs  map[string]string
	work    string // the workspace directory
	outputs map[string]string
	log     strings.Builder
	summary string
}

func newRunner(t *testing.T, work string, inputs map[string]string) *runner {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{inputs: map[string]string{}, work: work, outputs: map[string]string{}}
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	if err := d.Decode(&r.action); err != nil {
		t.Fatal(err)
	}
	for name, input := range r.action.Inputs {
		r.inputs[name] = input.Default
	}
	for name, value := range inputs {
		if _, ok := r.inputs[name]; !ok {
			t.Fatalf("the action has no input %q", name)
		}
		r.inputs[name] = value
	}
	return r
}

var expression = regexp.MustCompile(`\$\{\{ *([\w.-]+) *\}\}`)

// value evaluates the expressions in a value from action.yml.
func (r *runner) value(t *testing.T, text string) string {
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		name := expression.FindStringSubmatch(e)[1]
		if input, ok := strings.CutPrefix(name, "inputs."); ok {
			if value, ok := r.inputs[input]; ok {
				return value
			}
		}
		if strings.HasPrefix(name, "steps.") {
			return r.outputs[name]
		}
		if name != "github.action_path" {
			t.Errorf("unknown expression %s", e)
		}
		root, err := filepath.Abs("../..")
		if err != nil {
			t.Fatal(err)
		}
		return root
	})
}

// run runs the steps in order, and returns the exit code of the first step that fails.
func (r *runner) run(t *testing.T) int {
	t.Helper()
	temp := t.TempDir()
	for _, s := range r.action.Runs.Steps {
		if s.If == "inputs.command == ''" && r.inputs["command"] != "" || s.Uses != "" {
			continue
		}
		if s.If != "" && s.If != "inputs.command == ''" || s.Shell != "bash" || strings.Contains(s.Run, "${{") {
			t.Fatalf("the step has another form: %+v", s)
		}

		script, out, summary := filepath.Join(temp, "script.sh"), filepath.Join(temp, "output"), filepath.Join(temp, "summary")
		if err := os.WriteFile(script, []byte(s.Run), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
		c.Dir, c.Stdout, c.Stderr = r.work, &r.log, &r.log
		c.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+out, "GITHUB_STEP_SUMMARY="+summary)
		for name, value := range s.Env {
			c.Env = append(c.Env, name+"="+r.value(t, value))
		}
		err := c.Run()

		lines, _ := os.ReadFile(out) // absent without outputs
		for line := range strings.Lines(string(lines)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			r.outputs["steps."+s.ID+".outputs."+name] = value
		}
		text, _ := os.ReadFile(summary)
		r.summary = string(text)
		if err != nil {
			return c.ProcessState.ExitCode()
		}
	}
	return 0
}

func (r *runner) output(t *testing.T, name string) string {
	return r.value(t, r.action.Outputs[name].Value)
}

// workspace returns a directory that contains trusted keys and a receipt. If tampered is true, the
// content of the receipt was changed after it was sealed.
func workspace(t *testing.T, tampered bool) string {
	t.Helper()
	dir := t.TempDir()
	text := string(fixture(t, "valid/task.json"))
	if tampered {
		text = tamper(t, text)
	}
	write(t, dir, "receipts/task.json", text)
	write(t, dir, "trust/keys.json", string(fixture(t, "keys/trust.json")))
	return dir
}

func tamper(t *testing.T, text string) string {
	t.Helper()
	changed := strings.Replace(text, `"total":`, `"total":1`, 1)
	if changed == text {
		t.Fatal("the receipt has no total")
	}
	return changed
}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	text, err := fixtures.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// installed returns the path of a receipt command that was built from this tree.
func installed(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// built builds the command in a directory that TestMain removes.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "receipt-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-C", "../..", "-o", dir+"/", "./cmd/receipt").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(dir, "receipt"), nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := built(); err == nil && code >= 0 {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// validSarif checks a file against the schema of SARIF 2.1.0, errata 01, which the module go-sarif
// contains.
func validSarif(t *testing.T, path string) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pkg/report/v210/sarif/schema.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, schema, _ := strings.Cut(string(source), "`")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text []byte) bool {
		result, err := gojsonschema.Validate(gojsonschema.NewStringLoader(strings.TrimRight(schema, "`\n")), gojsonschema.NewBytesLoader(text))
		if err != nil {
			t.Fatal(err)
		}
		if !result.Valid() {
			t.Log(result.Errors())
		}
		return result.Valid()
	}
	if !valid(text) {
		t.Errorf("invalid: %s", text)
	}
	if valid(bytes.Replace(text, []byte(`"level": "`), []byte(`"level": "x`), 1)) {
		t.Error("the schema allows an unknown level")
	}
}

// TestAction verifies that the action fails if and only if "receipt verify" fails, and that its
// SARIF output conforms to the schema.
func TestAction(t *testing.T) {
	good, tampered := workspace(t, false), workspace(t, true)
	write(t, good, "policy.json", `{"witnesses":{"threshold":1}}`)
	strange := "receipts/$(touch hacked) `touch hacked`; x.json"
	write(t, tampered, strange, string(fixture(t, "valid/task.json")))
	for _, c := range []struct {
		name    string
		dir     string
		inputs  map[string]string
		exit    int
		summary string
		log     string
	}{
		{"good", good, map[string]string{"receipts": "receipts"}, 0, "## Receipts: verified\n", "verified: 1 of 1 receipt"},
		{"tampered", tampered, map[string]string{"receipts": "receipts/task.json\n"}, 1, "## Receipts: refuted\n", "::error file=receipts/task.json,title=refuted%2C hash_mismatch::"},
		{"flags", good, map[string]string{"receipts": "\nreceipts/task.json\n", "flags": "--expect-count\n2\n"}, 1, "## Receipts: refuted\n", "count_mismatch"},
		{"no witness", good, map[string]string{"receipts": "receipts", "flags": "--policy\npolicy.json"}, 3, "## Receipts: undecided\n", "::warning file=receipts/task.json"},
		{"absent", good, map[string]string{"receipts": "absent"}, 2, "", "absent"},
		{"no keys", good, map[string]string{"receipts": "receipts", "keys": "absent.json"}, 2, "", "absent.json"},
		{"none", good, nil, 2, "", ""},
		{"a command as a name", good, map[string]string{"receipts": "###[add-mask]absent\n::add-mask::absent"}, 2, "", "add-mask"},
		{"a flag as a receipt", good, map[string]string{"receipts": "--integrity-only"}, 2, "", "--integrity-only"},
		{"strange name", tampered, map[string]string{"receipts": strange}, 0, "## Receipts: verified\n", "verified: 1 of 1 receipt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRunner(t, c.dir, c.inputs)
			if os.Getenv("CI") == "" || c.name != "good" { // in CI, one case builds the command
				r.inputs["command"] = installed(t)
			}
			if got := r.run(t); got != c.exit {
				t.Fatalf("exit code %d, want %d:\n%s", got, c.exit, &r.log)
			}
			if !strings.HasPrefix(r.summary, c.summary) || (r.summary == "") != (c.summary == "") || !strings.Contains(r.log.String(), c.log) {
				t.Errorf("summary %q, want %q; log:\n%s", r.summary, c.summary, &r.log)
			}
			if log := "\n" + r.log.String(); strings.Contains(log, "##[") || strings.Contains(log, "\n::add") {
				t.Errorf("the log has a command:\n%s", log)
			}
			if got := r.output(t, "exit-code"); got != string(rune('0'+c.exit)) {
				t.Errorf("output exit-code is %q", got)
			}
			if path := r.output(t, "sarif"); c.summary != "" {
				validSarif(t, path)
			} else if path != "" {
				t.Errorf("output sarif is %q", path)
			}
			if _, err := os.Stat(filepath.Join(c.dir, "hacked")); err == nil {
				t.Error("the name of a file was run")
			}
		})
	}
}
