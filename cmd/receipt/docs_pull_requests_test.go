package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

const pullRequests = "../../docs/pull-requests.md"

// A gate is a CI job from docs/pull-requests.md, together with the environment in which the CI
// system runs it.
type gate struct {
	name    string
	script  string
	env     []string                     // variables in addition to HEAD; %s is replaced by the head commit
	arrange func(p *project, dir string) // creates the checkout that the CI system would create
}

// gates parses the jobs on the page as the CI systems do.
func gates(t *testing.T) []gate {
	t.Helper()
	page := readFile(t, pullRequests)
	fences := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(fences) != 2 {
		t.Fatalf("found %d jobs, expected 2", len(fences))
	}

	var github struct {
		Jobs map[string]struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	var gitlab map[string]struct{ Script []string }
	if err := errors.Join(yaml.Unmarshal([]byte(fences[0][1]), &github), yaml.Unmarshal([]byte(fences[1][1]), &gitlab)); err != nil {
		t.Fatal(err)
	}

	// Skip the installation step, because the tests run the command under test.
	run := func(lines []string) string {
		script, installs := "", 0
		for _, line := range lines {
			if strings.HasPrefix(line, "go install ") {
				installs++
				continue
			}
			script += line + "\n"
		}
		if installs != 1 || !strings.Contains(script, "receipt verify ") {
			t.Fatalf("%d lines install, of\n%s", installs, lines)
		}
		return script
	}

	var steps []string
	for _, s := range github.Jobs["receipt"].Steps {
		if s.Run != "" {
			steps = append(steps, s.Run)
		}
		if head, ok := s.Env["HEAD"]; ok && head != "${{ github.event.pull_request.head.sha }}" {
			t.Errorf("HEAD is %s", head)
		}
	}
	return []gate{
		{"github", run(steps), []string{"HEAD=%s"}, func(p *project, dir string) { p.git(dir, "checkout", "--quiet", "main") }},
		{"gitlab", run(gitlab["receipt"].Script), []string{"CI_COMMIT_SHA=%s", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main"},
			func(p *project, dir string) { p.git(dir, "checkout", "--quiet", "--detach", "origin/work") }},
		{"gitlab with merged results", run(gitlab["receipt"].Script), []string{"CI_COMMIT_SHA=0123456789abcdef0123456789abcdef01234567", "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA=%s", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main"},
			func(p *project, dir string) { p.git(dir, "checkout", "--quiet", "--detach", "origin/work") }},
	}
}

// A project is a repository with two branches: main, which contains the trusted keys, and a branch
// with an agent's work.
type project struct {
	t      *testing.T
	origin string
	work   string // the agent's clone
	head   string
}

func projectIn(t *testing.T, root string) *project {
	return &project{t: t, origin: filepath.Join(root, "origin.git"), work: filepath.Join(root, "work")}
}

// newProject creates a project and returns its directory.
func newProject(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	p := projectIn(t, root)
	p.git(root, "init", "--quiet", "--bare", "--initial-branch", "main", p.origin)
	p.git(root, "clone", "--quiet", p.origin, p.work)
	p.copy("keys/trust.json", "trust/keys.json")
	p.commit("keys")
	p.git(p.work, "push", "--quiet", "origin", "HEAD:main")
	p.git(p.work, "checkout", "--quiet", "-b", "work")
	for _, name := range []string{"one.txt", "two.txt"} {
		p.write(name, name)
		p.commit("the agent's " + name)
	}
	p.git(p.work, "push", "--quiet", "origin", "work")
	p.git(p.work, "remote", "set-url", "origin", "../origin.git") // also valid in copies of the project
	return root
}

// copyOf returns a copy of the project in folder. It adds an uncommitted receipt and key to the
// copy.
func copyOf(t *testing.T, folder string) *project {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	p := projectIn(t, root)
	p.head = p.git(p.work, "rev-parse", "HEAD")
	p.copy("valid/task.json", "receipt.json")
	p.copy("keys/key_2026_04.private.json", "issuer.private.json")
	return p
}

// environ returns the environment for commands, without the variables of the test process.
func (p *project) environ(more ...string) []string {
	home := filepath.Dir(p.work)
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_TEMPLATE_DIR=",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false", // the repositories exist for only a second, so they need no maintenance
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}, more...)
}

func (p *project) git(dir string, args ...string) string {
	p.t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Env = dir, p.environ()
	out, err := c.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *project) commit(message string) {
	p.t.Helper()
	p.git(p.work, "add", ".")
	p.git(p.work, "commit", "--quiet", "-m", message)
}

func (p *project) write(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.work, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) read(name string) string {
	p.t.Helper()
	text := readFile(p.t, filepath.Join(p.work, name))
	return string(text)
}

func (p *project) copy(fixture, name string) {
	p.t.Helper()
	text := readFixture(p.t, fixture)
	p.write(name, string(text))
}

// bash runs commands and stops at the first one that fails.
func (p *project) bash(dir, script string, env ...string) (output string, exit int) {
	p.t.Helper()
	c := exec.Command("bash", "-e", "-c", script)
	c.Dir, c.Env = dir, p.environ(env...)
	out, err := c.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		p.t.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

// cloned returns a clone like those that CI systems create.
func (p *project) cloned() (clone string) {
	p.t.Helper()
	clone = filepath.Join(p.t.TempDir(), "clone")
	p.git(filepath.Dir(p.work), "clone", "--quiet", p.origin, clone)
	return clone
}

// passes runs a gate on a copy of a clone.
func (p *project) passes(g gate, clone string) (output string, exit int) {
	p.t.Helper()
	dir := filepath.Join(p.t.TempDir(), "clone")
	if err := os.CopyFS(dir, os.DirFS(clone)); err != nil {
		p.t.Fatal(err)
	}
	g.arrange(p, dir)
	var env []string
	for _, v := range g.env {
		env = append(env, strings.Replace(v, "%s", p.head, 1))
	}
	return p.bash(dir, g.script, env...)
}

// TestPullRequestsDocument verifies that, in a real repository, the gates of docs/pull-requests.md
// accept a head commit with a verified receipt and reject all other commits.
func TestPullRequestsDocument(t *testing.T) {
	needs(t, "bash", "git")
	commands := map[string]string{}
	for _, s := range marked(t, pullRequests) {
		commands[s.name] = s.commands
	}
	typed := func(p *project, name string) {
		t.Helper()
		if commands[name] == "" {
			t.Fatalf("the page has no block %q", name)
		}
		if out, exit := p.bash(p.work, commands[name]); exit != 0 {
			t.Fatalf("%s: exit %d\n%s", commands[name], exit, out)
		}
	}
	attested := func(p *project) { typed(p, "attest"); typed(p, "note") }

	tests := []struct {
		name    string
		arrange func(p *project)
		exit    int
		says    string
	}{
		{"a verified receipt", func(p *project) { typed(p, "attest"); typed(p, "verify"); typed(p, "note") }, 0, "attestation.json: verified"},
		{"no receipt of any commit", func(p *project) {}, 128, "refs/notes/receipts"},
		{"a receipt of the parent alone", func(p *project) {
			p.git(p.work, "checkout", "--quiet", "HEAD~1")
			attested(p)
		}, 1, "no note found"},
		{"the parent's receipt at the head", func(p *project) {
			p.git(p.work, "checkout", "--quiet", "HEAD~1")
			typed(p, "attest")
			p.git(p.work, "checkout", "--quiet", "work")
			typed(p, "note")
		}, 3, "attestation.json: undecided, not_attested"},
		{"a receipt that nobody attested", func(p *project) {
			p.write("attestation.json", p.read("receipt.json"))
			typed(p, "note")
		}, 3, "attestation.json: undecided, not_attested"},
		{"an unknown key", func(p *project) {
			typed(p, "attest")
			p.write("attestation.json", strings.Replace(p.read("attestation.json"), "key_2026_04", "key_2026_05", 1))
			typed(p, "note")
		}, 3, "attestation.json: undecided, unknown_key"},
		{"another commit written into it", func(p *project) {
			p.copy("keys/key_stranger.private.json", "issuer.private.json")
			p.copy("valid/minimal.json", "receipt.json")
			typed(p, "attest")
			p.write("attestation.json", strings.Replace(p.read("attestation.json"), "key_stranger", "key_2026_04", 1))
			typed(p, "note")
		}, 1, "attestation.json: refuted, signature_invalid"},
		{"a torn file", func(p *project) {
			typed(p, "attest")
			p.write("attestation.json", p.read("attestation.json")[:2000])
			typed(p, "note")
		}, 1, "attestation.json: refuted, syntax"},
		{"the keys of the pull request", func(p *project) {
			p.copy("keys/key_stranger.private.json", "issuer.private.json")
			p.copy("valid/minimal.json", "receipt.json")
			p.write("trust/keys.json", strings.ReplaceAll(p.read("trust/keys.json"), "key_2026_04", "key_stranger"))
			p.git(p.work, "add", "trust")
			p.git(p.work, "commit", "--quiet", "-m", "other keys")
			p.git(p.work, "push", "--quiet", "origin", "work")
			p.head = p.git(p.work, "rev-parse", "HEAD")
			attested(p)
		}, 3, "attestation.json: undecided, unknown_key"},
	}
	folder := newProject(t)
	for _, test := range tests {
		p := copyOf(t, folder)
		test.arrange(p)
		clone := p.cloned()
		for i, g := range gates(t) {
			if i == 2 && !testsize.Full() && test.exit != 0 && test.exit != 128 { // same script as the previous gate, but with a different commit
				continue
			}
			if out, exit := p.passes(g, clone); exit != test.exit || !strings.Contains(out, test.says) {
				t.Errorf("%s, %s: exit %d, want %d and %q\n%s", test.name, g.name, exit, test.exit, test.says, out)
			}
		}
	}
}
