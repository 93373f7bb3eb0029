package receiptkit_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/api.txt")

// frozen lists the packages whose exported names are stable.
var frozen = []string{"canon", "chain", "merkle", "schemas", "receipt", "receipt/keys", "receipt/stream"}

// listed contains packages that may still change but that programs depend on.
var listed = []string{"receipt/ledger", "receipt/ledger/sqlite", "receipt/protocol", "receipt/serve"}

// TestSurface verifies that docs/api.txt lists the exported names of the frozen and listed
// packages, so that reviewers see each change. With -update, the test writes the file.
func TestSurface(t *testing.T) {
	const name = "docs/api.txt"
	var b bytes.Buffer
	b.WriteString("The exported names of the frozen packages. To write this file again, run go test . -run TestSurface -update.\n")
	for i, dir := range slices.Concat(frozen, listed) {
		if i == len(frozen) {
			b.WriteString("\nThe exported names of packages that may still change.\n")
		}
		list, err := surface(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			t.Errorf("%s exports nothing", dir)
		}
		fmt.Fprintf(&b, "\npackage %s\n\n%s\n", dir, strings.Join(list, "\n"))
	}

	if *update {
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if committed, err := os.ReadFile(name); err != nil || !bytes.Equal(committed, b.Bytes()) {
		t.Errorf("%s does not list the exported names (%v); write it with -update, and read the diff", name, err)
	}
}

// gofmt formats declarations as gofmt does.
var gofmt = printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}

// surface returns the exported declarations of the package in dir, without comments or function
// bodies, sorted by kind (constants first) and then by name.
func surface(dir string) ([]string, error) {
	set := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}

	printed := map[string]string{} // sorted by kind and name
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			return nil, err
		}

		ast.FileExports(file)
		for _, d := range file.Decls {
			key := declared(d)
			if key == "" {
				continue
			}
			var b strings.Builder
			if err := gofmt.Fprint(&b, set, d); err != nil {
				return nil, err
			}
			printed[key] = b.String()
		}
	}

	var list []string
	for _, key := range slices.Sorted(maps.Keys(printed)) {
		list = append(list, printed[key])
	}
	return list, nil
}

// declared returns the sort key of a declaration in the listing. It returns "" if the declaration
// exports nothing. It also removes function bodies. Methods are listed after their type.
func declared(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		d.Body = nil
		if d.Recv == nil {
			return "2 " + d.Name.Name
		}
		if of := receiver(d.Recv.List[0].Type); of.IsExported() {
			return "3 " + of.Name + " " + d.Name.Name
		}
	case *ast.GenDecl:
		if len(d.Specs) == 0 {
			return ""
		}
		switch s := d.Specs[0].(type) {
		case *ast.TypeSpec:
			return "3 " + s.Name.Name
		case *ast.ValueSpec:
			return fmt.Sprint("1 ", s.Names[0].Name)
		}
	}
	return ""
}

// receiver returns the name of a method's receiver type.
func receiver(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e
	}
	panic(fmt.Sprintf("a receiver of the form %T", e))
}

// TestDocsNames verifies that every exported name mentioned in the documentation exists.
func TestDocsNames(t *testing.T) {
	dirs := slices.Concat(frozen, listed, []string{"receipt/ledger", "receipt/ledger/sqlite", "receipt/ledger/served", "receipt/ledger/storetest",
		"receipt/record", "receipt/replay", "merkle/tlog", "harness/feed", "harness/journal", "postgres", "cmd/receipt/commands"})
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}

	var text []byte
	for _, page := range append(pages, "README.md") {
		if page == "docs/performance.md" { // on this page, tlog means golang.org/x/mod/sumdb/tlog
			continue
		}
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, data...)
	}

	found := 0
	for _, dir := range dirs {
		list, err := surface(dir)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`\w+`).FindAllString(strings.Join(list, "\n"), -1)
		for _, m := range regexp.MustCompile(`\b`+filepath.Base(dir)+`\.([A-Z]\w+)`).FindAllSubmatch(text, -1) {
			found++
			if !slices.Contains(names, string(m[1])) {
				t.Errorf("the documentation names %s, which %s does not export", m[0], dir)
			}
		}
	}
	if found < 50 {
		t.Errorf("the documentation has %d names, expected at least 50", found)
	}
}
