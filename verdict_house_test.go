package receiptkit_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// givesVerdicts returns the positions at which a file creates a verdict. A file creates a verdict
// if it assigns, returns, or stores one of the three verdicts. A command may compare, count, and
// print verdicts.
func givesVerdicts(set *token.FileSet, name string, file *ast.File) (list []string) {
	verdict := func(e ast.Expr) bool {
		return selects(e, "receipt", "Verified") || selects(e, "receipt", "Refuted") || selects(e, "receipt", "Undecided")
	}
	ast.Inspect(file, func(n ast.Node) bool {
		var values []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			values = n.Rhs
		case *ast.ValueSpec:
			values = n.Values
		case *ast.ReturnStmt:
			values = n.Results
		case *ast.KeyValueExpr:
			values = []ast.Expr{n.Value}
		case *ast.CompositeLit:
			values = n.Elts
		}
		for _, v := range values {
			if verdict(v) {
				list = append(list, fmt.Sprintf("%s:%d", name, set.Position(v.Pos()).Line))
			}
		}
		return true
	})
	return list
}

func TestNoVerdictUnderCmd(t *testing.T) {
	eachSource(t, func(set *token.FileSet, name string, file *ast.File) {
		if !strings.HasPrefix(name, "cmd/") && !strings.HasPrefix(name, "harness/cmd/") {
			return
		}
		for _, at := range givesVerdicts(set, name, file) {
			t.Errorf("%s gives a verdict, which is for the library", at)
		}
	})
}

func TestNoVerdictUnderCmdCatches(t *testing.T) {
	for body, want := range map[string]bool{
		`r.verdict = receipt.Refuted`:                               true,
		`v, code := receipt.Verified, ""`:                           true,
		`var v = receipt.Undecided`:                                 true,
		`return receipt.Refuted, nil`:                               true,
		`rep := receipt.Report{Verdict: receipt.Verified}`:          true,
		`list := []receipt.Verdict{receipt.Verified}`:               true,
		`if rep.Verdict != receipt.Verified { return }`:             false,
		`switch v { case receipt.Refuted: exit(1) }`:                false,
		`fmt.Println(paint(receipt.Refuted, "refuted"))`:            false,
		`n := t.codes[receipt.Undecided]`:                           false,
		`name := receipt.Verified.String()`:                         false,
		`m := map[receipt.Verdict]string{receipt.Refuted: "false"}`: false,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "x.go", "package x\nfunc f() {\n"+body+"\n}", 0)
		if err != nil {
			t.Fatal(body, err)
		}
		if got := givesVerdicts(set, "x.go", file); len(got) > 0 != want {
			t.Errorf("%s: found %v, want %t", body, got, want)
		}
	}
}

// TestRoomsOfTheCommandAreSmall verifies that each package of the command has at most 20 files.
func TestRoomsOfTheCommandAreSmall(t *testing.T) {
	const most = 20
	files := map[string]int{}
	eachSource(t, func(_ *token.FileSet, name string, _ *ast.File) {
		if strings.HasPrefix(name, "cmd/") {
			files[path.Dir(name)]++
		}
	})
	if files["cmd/receipt"] == 0 {
		t.Fatalf("found no files of cmd/receipt among %v", files)
	}
	for dir, n := range files {
		if n > most {
			t.Errorf("%s has %d files, at most %d are for one package", dir, n, most)
		}
	}
}

// TestOneWriterOfFiles verifies that code under cmd writes complete files in only one way. This
// ensures that each file is synced and appears in one step, and that no error contains the name of
// a temporary file.
func TestOneWriterOfFiles(t *testing.T) {
	may := map[string][]string{
		"cmd/receipt/internal/cli/file.go":           {"CreateTemp", "Rename", "Link", "OpenFile"},
		"cmd/receipt/internal/cli/unnamed_linux.go":  {"OpenFile"},   // an unnamed temporary file for cli.File
		"cmd/receipt/internal/input/sources.go":      {"CreateTemp"}, // a copy of stdin that can be read twice
		"cmd/receipt/internal/custody/passphrase.go": {"OpenFile"},   // opens a terminal instead of a regular file
		"cmd/receipt/internal/setup/hook.go":         {"OpenFile"},   // the output of a background process
		"harness/cmd/agents-conformance/print.go":    {"WriteFile"},  // a report in addition to stdout, which the next run can recreate
	}
	found := 0
	eachSource(t, func(set *token.FileSet, name string, file *ast.File) {
		if !strings.HasPrefix(name, "cmd/") && !strings.HasPrefix(name, "harness/cmd/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			for _, call := range []string{"Create", "CreateTemp", "OpenFile", "WriteFile", "Rename", "Link"} {
				if e, ok := n.(ast.Expr); !ok || !selects(e, "os", call) {
					continue
				}
				found++
				if !slices.Contains(may[name], call) {
					t.Errorf("%s:%d: os.%s; cli.File writes files", name, set.Position(n.Pos()).Line, call)
				}
			}
			return true
		})
	})
	if found < 4 {
		t.Errorf("found %d calls that write files, expected those of cli.File", found)
	}
}
