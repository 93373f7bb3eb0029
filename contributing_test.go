package receiptkit_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContributingNamesWhatIsThere verifies that every path mentioned in CONTRIBUTING.md and
// docs/architecture.md exists in the tree.
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

// paths returns the quoted paths in text that refer to this tree, because either the first element
// is a directory or the path is a file in the root directory.
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

// TestArchitectureIsLinked verifies that the README links to the architecture page and to the other
// pages for contributors.
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

// docsWords is the maximum number of words below docs, without generated tables. readmeWords is the
// maximum for README.md.
const docsWords, readmeWords = 35_000, 1500

// TestDocsLength verifies that the documentation stays short.
func TestDocsLength(t *testing.T) {
	files, err := filepath.Glob("docs/*.md")
	below, belowErr := filepath.Glob("docs/*/*.md")
	if err = errors.Join(err, belowErr); err != nil || len(files) < 20 || len(below) < 5 {
		t.Fatalf("%q, %q, %v", files, below, err)
	}
	words := 0
	for _, file := range append(files, below...) {
		n := len(strings.Fields(written(t, file)))
		t.Logf("%6d %s", n, file)
		words += n
	}
	t.Logf("%6d in total", words)
	if words > docsWords {
		t.Errorf("the pages below docs have %d words, expected at most %d", words, docsWords)
	}
	if n := len(strings.Fields(written(t, "README.md"))); n > readmeWords {
		t.Errorf("README.md has %d words, expected at most %d", n, readmeWords)
	}
}

// written returns the text of a page without its generated tables.
func written(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	switch filepath.Base(file) {
	case "codes.md", "claims.md":
		return ""
	case "events.md": // everything after the first table is generated
		text, _, _ = strings.Cut(text, "\n|")
	case "performance.md", "record.md":
		return regexp.MustCompile(`(?m)^\|.*\n`).ReplaceAllString(text, "")
	case "bundles.md":
		return regexp.MustCompile(`(?:\n\|.*)+\n<!-- (?:modes|patterns) -->`).ReplaceAllString(text, "")
	case "conformance.md":
		return regexp.MustCompile(`(?s)<!-- probes:.*?<!-- end -->`).ReplaceAllString(text, "")
	}
	return text
}
