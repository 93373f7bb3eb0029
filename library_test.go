package receiptkit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxProgram is the maximum number of lines in a program in docs/library.md, not counting imports,
// comments, and blank lines.
const maxProgram = 60

// TestLibraryPage verifies that docs/library.md shows each program file completely and states the
// correct number of exported names, and that no program is too long.
func TestLibraryPage(t *testing.T) {
	page, err := os.ReadFile("docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile("(?s)Names: ([0-9]+)\\.\n\n<!-- from: ([a-z/]+) -->\n```go\n(.*?)```\n").FindAllStringSubmatch(string(page), -1)
	if len(programs) != 4 {
		t.Fatalf("docs/library.md has %d programs, expected 4", len(programs))
	}

	for _, p := range programs {
		names, dir, code := p[1], p[2], p[3]
		file, err := os.ReadFile(dir + "/main.go")
		if err != nil {
			t.Fatal(err)
		}
		if code != string(file) {
			t.Errorf("docs/library.md does not show %s/main.go as it is", dir)
		}
		if want := namesOf(t, code); names != strconv.Itoa(len(want)) {
			t.Errorf("docs/library.md states %s names for %s, expected the number of %q", names, dir, want)
		}

		_, body, _ := strings.Cut(code, "\n)\n")
		lines := 0
		for line := range strings.Lines(body) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
		if lines > maxProgram {
			t.Errorf("%s has %d lines, expected at most %d", dir, lines, maxProgram)
		}
	}
}

// namesOf returns the exported names from this repository that a program uses.
func namesOf(t *testing.T, code string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "main.go", code, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]bool{}
	for _, i := range f.Imports {
		name := strings.Trim(i.Path.Value, `"`)
		ours[path.Base(name)] = strings.HasPrefix(name, "github.com/receiptkit/receiptkit/")
	}

	var names []string
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := s.X.(*ast.Ident); ok && ours[of.Name] {
				names = append(names, of.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}
