package event

import (
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

func TestWorkspace(t *testing.T) {
	w := NewWorkspace("/u/cli/.worktrees/1", "/u/cli/.worktrees/1/sub", "/home/me", "/tmp", "/", "/other/cli", Worktree("/u/cli/.worktrees/1"), `D:\x\y`)
	for p, want := range map[string]string{
		"a":                                "a",
		"/u/cli/.worktrees/1/sub/a":        "sub/a",
		"/u/cli/.git/hooks/pre-commit":     "(workspace cli 2)/.git/hooks/pre-commit",
		"/other/cli/a":                     "(workspace cli)/a",
		"/other/cli/../b":                  "",
		"/u/climb/a":                       "",
		"/home/me/a":                       "",
		"/tmp/a":                           "",
		"/tmp/../u/cli/.worktrees/1/a":     "a",
		"/u/cli/.worktrees/1/../1/a":       "a",
		"../a":                             "",
		`d:\x\y\z`:                         "(workspace y)/z",
		"":                                 "",
		"/u/cli/.worktrees/1/../../go.mod": "(workspace cli 2)/go.mod",
	} {
		got, ok := w.Place(p)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, want %q", p, got, want)
		}
	}
}

// TestWorkspaceSpellings verifies that a workspace root with redundant path elements refers to the
// same directory as its clean form.
func TestWorkspaceSpellings(t *testing.T) {
	for _, root := range []string{"/w", "/w/", "/w/./", "/x/../w", "//w"} {
		for _, p := range []string{"/w/a", "/w/../w/a", "/tmp/../w/a", "/w//a", "a", "./a", "b/../a", "file:///w/a", "file:/w/a", "FILE://localhost/w/./%61"} {
			if got, ok := InWorkspace(root, p); !ok || got != "a" {
				t.Errorf("%s in %s: %q, %v", p, root, got, ok)
			}
			if got, ok := NewWorkspace(root).Place(p); !ok || got != "a" {
				t.Errorf("%s in %s: %q, %v", p, root, got, ok)
			}
		}
	}
}

func TestLabels(t *testing.T) {
	w := NewWorkspace("/w")
	for i, x := range []struct{ p, want string }{
		{"/u/r/.git/hooks/pre-commit", "(outside 1: git hook)"},
		{"/home/me/.claude/plans/a.md", "(outside 2: agent directory)"},
		{"/private/tmp/a", "(outside 3: temporary)"},
		{"/Users/me/.zshrc", "(outside 4: below home)"},
		{"/home/me/../../etc/passwd", "(outside 5: system)"},
		{"/srv/a", "(outside 6: elsewhere)"},
		{`C:\Users\me\a`, "(outside 7: below home)"},
		{`C:\Users\me\AppData\Local\Temp\a`, "(outside 8: temporary)"},
		{"~/a", "(outside 9: below home)"},
		{"file:///etc/hosts", "(outside 10: system)"},
		{"/u/r/.git/config", "(outside 11: git directory)"},
		{"../a", "(outside 12: elsewhere)"},
		{"", "(outside 13: elsewhere)"},
		{"/srv/a", "(outside 6: elsewhere)"},
		{"/srv/./a", "(outside 6: elsewhere)"},
		{"/srv//a", "(outside 6: elsewhere)"},
		{"/srv/x/../a", "(outside 6: elsewhere)"},
		{`C:\Users\me\.\a`, "(outside 7: below home)"},
		{"file:///srv/a", "(outside 6: elsewhere)"},
		{"file:///C:/Users/me/a", "(outside 7: below home)"},
		{"/etc/hosts", "(outside 10: system)"},
		{"/a", "(outside 12: elsewhere)"},
		{"x/../../a", "(outside 12: elsewhere)"},
		{"file://host/srv/a", "(outside 14: elsewhere)"},
	} {
		if got := w.Label(x.p); got != x.want {
			t.Errorf("%d: %q: %s, want %s", i, x.p, got, x.want)
		}

		// Readers of disclosures must recognize each label as a placeholder.
		doc, err := canon.Parse([]byte(`{"metadata":{"path":"` + x.want + `"}}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := redact.Consistent(doc, []redact.Disclosure{{Field: "/metadata/path", Value: []byte(`"/p"`)}}); err != nil {
			t.Errorf("%s: %v", x.want, err)
		}
	}
}

func TestWorktree(t *testing.T) {
	for dir, want := range map[string]string{
		"/u/cli/.worktrees/1":              "/u/cli",
		"/u/cli/.worktrees/1/cmd":          "/u/cli",
		"/u/cli/.claude/worktrees/feature": "/u/cli",
		`D:\cli\.claude\worktrees\feature`: `D:\cli`,
		"/u/cli/.worktrees":                "",
		"/u/cli":                           "",
		"/.worktrees/1":                    "",
	} {
		if got := Worktree(dir); got != want {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
	}
}
