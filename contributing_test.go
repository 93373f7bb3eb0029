package receiptkit_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestContributingNamesWhatIsThere: each path of the table of where to add what, and of
// the plan of the house, is in the tree.
func TestContributingNamesWhatIsThere(t *testing.T) {
	for file, atLeast := range map[string]int{"CONTRIBUTING.md": 30, "docs/architecture.md": 15} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, path := range paths(string(text)) {
			found++
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s names %q, which is not there", file, path)
			}
		}
		if found < atLeast {
			t.Errorf("%s names %d paths, expected at least %d", file, found, atLeast)
		}
	}
}

// paths returns what stands in backquotes and is a path of this tree: its first
// element is a folder here, or it is a file at the top.
func paths(text string) (list []string) {
	for _, quoted := range regexp.MustCompile("`[^`\n ]+`").FindAllString(text, -1) {
		path := strings.Trim(quoted, "`")
		first, _, below := strings.Cut(path, "/")
		info, err := os.Stat(first)
		isDir := err == nil && info.IsDir()
		if strings.ContainsAny(path, "*(){}$") || first == ".." || !isDir && (below || path != "README.md" && !strings.HasSuffix(path, "_test.go")) {
			continue
		}
		list = append(list, path)
	}
	return list
}

// TestArchitectureIsLinked: whoever reads the README finds the plan of the house.
func TestArchitectureIsLinked(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"(docs/architecture.md)", "(docs/decisions.md)", "(CONTRIBUTING.md)"} {
		if !strings.Contains(string(text), page) {
			t.Errorf("README.md has no link %s", page)
		}
	}
}
