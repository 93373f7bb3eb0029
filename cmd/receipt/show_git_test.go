package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

// A replayed session is stored in a git repository, with one commit for each version of a file in
// the log.
type replayed struct {
	t       *testing.T
	dir     string
	commits bytes.Buffer // input for git fast-import
	current map[string]string
	patched int // number of file contents that result from a patch
}

// git runs git and fails the test if git fails.
func (r *replayed) git(in []byte, args ...string) string {
	r.t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Stdin = r.dir, bytes.NewReader(in)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(r.dir)}
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// replay creates the repository for a log. It does not read receipts, and uses "git apply" to
// compute the results of edits.
func replay(t *testing.T, log []byte) *replayed {
	r := &replayed{t: t, dir: t.TempDir(), current: map[string]string{}}
	r.git(nil, "init", "--quiet", "--initial-branch", "main")
	d := json.NewDecoder(bytes.NewReader(log))
	for d.More() {
		var line any
		if err := d.Decode(&line); err != nil {
			t.Fatal(err)
		}
		r.walk(line)
	}
	r.git(r.commits.Bytes(), "fast-import", "--quiet", "--force")
	return r
}

// walk commits the contents of files that are recorded in a value. It supports the formats of all
// agents.
func (r *replayed) walk(v any) {
	switch x := v.(type) {
	case []any:
		for _, y := range x {
			r.walk(y)
		}
	case map[string]any:
		r.edits(x)
		for _, name := range slices.Sorted(maps.Keys(x)) {
			r.walk(x[name])
		}
	case string:
		r.patches(x)
	}
}

func (r *replayed) edits(x map[string]any) {
	text := func(of any, names ...string) (string, bool) {
		for _, name := range names {
			m, _ := of.(map[string]any)
			if s, ok := m[name].(string); ok {
				return s, true
			}
		}
		return "", false
	}

	// Claude Code records the file and the text that was replaced.
	name, _ := text(x, "filePath", "path", "file_path", "file")
	before, old := text(x, "originalFile", "originalFileContents", "before")
	hunks, _ := x["structuredPatch"].([]any)
	after, anew := text(x, "after", "content", "file_text")
	switch {
	case name == "":
	case old && len(hunks) > 0:
		r.put(name, before)
		r.patch(name, before, hunks)
	case old:
		if r.put(name, before); anew {
			r.put(name, after)
		}
	case anew:
		r.put(name, after)
	}

	// Gemini CLI records the file in the arguments, and Codex records it as a name.
	if name, ok := text(x["args"], "file_path"); ok {
		for _, word := range []string{"originalContent", "newContent"} {
			if content, ok := text(x["resultDisplay"], word); ok {
				r.put(name, content)
			}
		}
	}
	changes, _ := x["changes"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if content, ok := text(changes[name], "content"); ok {
			r.put(name, content)
		}
	}

	// Arguments may be a string that contains JSON.
	if s, ok := text(x, "arguments"); ok {
		var in any
		if json.Unmarshal([]byte(s), &in) == nil {
			r.walk(in)
		}
	}
}

// patches commits the files that are added by a patch in the apply_patch format.
func (r *replayed) patches(text string) {
	if !strings.HasPrefix(text, "*** Begin Patch") {
		return
	}
	for _, part := range strings.Split(text, "\n*** ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		name, added := strings.CutPrefix(head, "Add File: ")
		if !added {
			continue
		}
		content := regexp.MustCompile(`(?m)^\+`).ReplaceAllString(body+"\n", "")
		r.put(name, content)
	}
}

// patch commits the file that results when git applies a patch.
func (r *replayed) patch(name, before string, hunks []any) {
	file := filepath.Join(r.t.TempDir(), "file")
	// Hunks do not always show that the last line has no line feed.
	unended := before != "" && !strings.HasSuffix(before, "\n")
	if unended {
		before += "\n"
	}
	writeFile(r.t, file, before)
	// Some patches show leading tabs as two spaces each.
	apply := func(shown func(string) string) bool {
		text := "--- a/file\n+++ b/file\n"
		for _, h := range hunks {
			x := h.(map[string]any)
			text += fmt.Sprintf("@@ -%v,%v +%v,%v @@\n", x["oldStart"], x["oldLines"], x["newStart"], x["newLines"])
			for _, line := range x["lines"].([]any) {
				if line := line.(string); !strings.HasPrefix(line, `\ `) {
					text += line[:1] + shown(line[1:]) + "\n"
				}
			}
		}
		c := exec.Command("git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-")
		c.Dir, c.Stdin = filepath.Dir(file), strings.NewReader(text)
		return c.Run() == nil
	}
	same := func(line string) string { return line }
	tabbed := func(line string) string {
		rest := strings.TrimLeft(line, " ")
		return strings.Repeat("\t", (len(line)-len(rest))/2) + rest
	}
	if !apply(same) && !apply(tabbed) {
		return
	}
	after := readFile(r.t, file)
	r.patched++
	if r.put(name, string(after)); unended {
		r.put(name, strings.TrimSuffix(string(after), "\n"))
	}
}

// put commits a file unless it already has this content.
func (r *replayed) put(name, content string) {
	name = strings.TrimLeft(path.Clean(strings.ReplaceAll(name, `\`, "/")), "/.")
	name = strings.ReplaceAll(strings.ReplaceAll(name, ".git/", "git/"), ":", "")
	if old, have := r.current[name]; name == "" || have && old == content {
		return
	}
	r.current[name] = content
	n := bytes.Count(r.commits.Bytes(), []byte("\ncommitter ")) + 1
	fmt.Fprintf(&r.commits, "commit refs/heads/main\nmark :%d\ncommitter a <a@example.com> %d +0000\ndata 1\n.\n", n, 1_700_000_000+n)
	if n > 1 {
		fmt.Fprintf(&r.commits, "from :%d\n", n-1)
	}
	// The path may have been a directory before.
	fmt.Fprintf(&r.commits, "M 100644 inline %q\ndata %d\n%s\n", name, len(content), content)
}

// A shownGit contains the output of "receipt show --git".
type shownGit struct {
	found, digests int
	rows           []string // "before COMMIT PATH" and "after  COMMIT PATH" rows, which follow the row of the file
}

// showGit runs "receipt show --git".
func showGit(t *testing.T, receipt, dir string) (s shownGit) {
	t.Helper()
	code, out, errs := command(nil, "show", "--git", dir, receipt)
	_, rows, ok := strings.Cut(out, "\n  git          ")
	if code != 0 || !ok {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	first, rest, _ := strings.Cut(rows, "\n")
	if _, err := fmt.Sscanf(first, "%d of %d digest", &s.found, &s.digests); err != nil {
		t.Fatalf("%q: %v", first, err)
	}
	for line := range strings.SplitSeq(rest, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			s.rows = append(s.rows, line)
		}
	}
	return s
}

// receiptOf creates a receipt from a log.
func receiptOf(t *testing.T, log string) string {
	t.Helper()
	draft, sealed := filepath.Join(t.TempDir(), "draft.json"), filepath.Join(t.TempDir(), "receipt.json")
	for _, args := range [][]string{{"record", log, "--issuer", "i", "-o", draft}, {"seal", draft, "-o", sealed}} {
		if code, _, errs := command(nil, args...); code != 0 {
			t.Fatalf("receipt %s: exit %d\n%s", args[0], code, errs)
		}
	}
	return sealed
}

// TestShowGit compares the digests from recorded sessions with git repositories. Each repository
// has one commit for each version of a file in the log. The digests are from the receipt, which is
// created by other code. Unless it runs at full size, the test reads only small logs.
func TestShowGit(t *testing.T) {
	needs(t, "git")
	size, least, found, patched := int64(60_000), 10, 0, 0
	if testsize.Full() {
		size, least = 4<<20, 90
	}
	for _, set := range []string{"sources", "sources-2"} {
		err := filepath.WalkDir(vectors.Dir(t, set), func(name string, d fs.DirEntry, err error) error {
			wrote := regexp.MustCompile(`/(claude-transcript|codex-rollout|copilot-cli|opencode|gemini-cli|pi)-[^/]*/[^/]*\.jsonl?$`)
			if err != nil || !wrote.MatchString(filepath.ToSlash(name)) || strings.HasSuffix(name, ".expected.json") {
				return err
			}
			if info, err := d.Info(); err != nil || info.Size() > size {
				return err
			}
			log, err := os.ReadFile(name)
			if err != nil || bytes.HasPrefix(log, []byte("\x28\xb5\x2f\xfd")) {
				return err
			}
			r := replay(t, log)
			s := showGit(t, receiptOf(t, name), r.dir)
			if s.found != s.digests {
				t.Errorf("%s: %d of %d digests", filepath.Base(name), s.found, s.digests)
			}
			r.check(s)
			found, patched = found+s.found, patched+r.patched
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < least || patched == 0 {
		t.Errorf("found %d digests, %d of patches", found, patched)
	}
	t.Logf("found %d digests; git applied %d patches", found, patched)
}

// check verifies that the printed commits and paths exist, and that each path in a commit ends with
// the printed name of the file.
func (r *replayed) check(s shownGit) {
	r.t.Helper()
	file := ""
	for _, row := range s.rows {
		words := strings.SplitN(row, " ", 2)
		if words[0] != "before" && words[0] != "after" {
			file = row
			continue
		}
		at := strings.SplitN(strings.TrimSpace(words[1]), " ", 2)
		if len(at[0]) != 40 {
			continue
		}
		name := regexp.MustCompile(`^\(workspace [^)]*\)/`).ReplaceAllString(strings.ReplaceAll(file, ".git/", "git/"), "")
		if r.git(nil, "cat-file", "-t", at[0]+":"+at[1]); !strings.HasSuffix(at[1], strings.TrimLeft(name, "./")) && !strings.HasPrefix(name, "(outside ") {
			r.t.Errorf("%s is at %s", file, row)
		}
	}
}

// TestShowGitForms verifies that linked worktrees and bare repositories can be read, that nothing
// is written or run, and that digests without a blob are reported as such.
func TestShowGitForms(t *testing.T) {
	needs(t, "git")
	content := func(text string) string {
		d := sha256.Sum256([]byte(text))
		return "sha256:" + hex.EncodeToString(d[:])
	}
	r := &replayed{t: t, dir: t.TempDir(), current: map[string]string{}}
	r.git(nil, "init", "--quiet", "--initial-branch", "main")
	r.put("sub/a.txt", "one\n")
	r.put("other.txt", "two\n")
	r.put("sub/a.txt", "")
	r.git(r.commits.Bytes(), "fast-import", "--quiet")
	work, bare := filepath.Join(t.TempDir(), "work"), filepath.Join(t.TempDir(), "bare.git")
	r.git(nil, "worktree", "add", "--quiet", "--detach", work, "main~1")
	r.git(nil, "clone", "--quiet", "--bare", r.dir, bare)

	// A program configured by the repository must not run.
	ran := filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"core.fsmonitor", "core.pager", "diff.external", "gpg.program", "core.sshCommand"} {
		r.git(nil, "config", name, "touch "+ran)
	}
	r.git(nil, "config", "log.showSignature", "true")
	t.Setenv("GIT_DIR", t.TempDir())

	draft := fixture(t, "valid/minimal.json")
	var doc map[string]any
	if err := json.Unmarshal([]byte(draft), &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "signatures")
	delete(doc["chain"].(map[string]any), "receipt_hash")
	doc["side_effects"].(map[string]any)["fs_writes"] = []any{
		map[string]any{"path": "a.txt", "operation": "create", "before_sha256": nil, "after_sha256": content("one\n")},
		map[string]any{"path": "a.txt", "operation": "modify", "before_sha256": content("one\n"), "after_sha256": content("")},
		map[string]any{"path": "moved.txt", "operation": "modify", "before_sha256": content("two\n"), "after_sha256": content("never")},
		map[string]any{"path": "told.txt", "operation": "modify"},
	}
	file, sealed := filepath.Join(t.TempDir(), "draft.json"), filepath.Join(t.TempDir(), "receipt.json")
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, text)
	if code, _, errs := command(nil, "seal", file, "-o", sealed); code != 0 {
		t.Fatal(errs)
	}

	commit := strings.Fields(r.git(nil, "rev-list", "--reverse", "main"))
	want := strings.Join([]string{
		"a.txt", "before no file", "after  " + commit[2] + " sub/a.txt", "moved.txt", "before " + commit[1] + " other.txt", "after  not found",
		"told.txt", "before not recorded", "after  not recorded",
	}, "\n")
	for _, dir := range []string{r.dir, filepath.Join(r.dir, ".git"), work, bare} {
		before := listed(t, dir)
		s := showGit(t, sealed, dir)
		if got := strings.Join(s.rows, "\n"); got != want || s.found != 2 || s.digests != 3 {
			t.Errorf("%s: %d of %d\n%s\nwant\n%s", dir, s.found, s.digests, got, want)
		}
		if after := listed(t, dir); after != before {
			t.Errorf("%s changed:\n%s\nwas\n%s", dir, after, before)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository ran")
	}

	// The command reports that a clone lacks older commits.
	shallow := filepath.Join(t.TempDir(), "shallow")
	r.git(nil, "clone", "--quiet", "--depth", "1", "file://"+bare, shallow)
	if _, out, _ := command(nil, "show", "--git", shallow, sealed); !strings.Contains(out, "older commits are missing (shallow clone)") {
		t.Errorf("%s", out)
	}
	code, _, errs := command(nil, "show", "--git", t.TempDir(), sealed)
	if code != 2 || !strings.Contains(errs, "not a git repository") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// listed returns the names, sizes, and times of all files in a directory.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		fmt.Fprintln(&all, name, info.Size(), info.ModTime())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
