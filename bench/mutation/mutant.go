package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A mutant replaces bytes in one file.
type mutant struct {
	pkg, path, file string // file is relative to the module
	line            int
	operator        string
	old, new        string
	start, end      int
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", m.file, m.line, m.operator, m.old)
}

// key returns the name of a mutant without its line number.
func (m mutant) key() string { return m.file + ": " + m.operator + ": " + m.old }

// findAll returns all mutants in the given packages.
func findAll(root string, packages []string) (list []mutant, err error) {
	for _, pkg := range packages {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			found, err := find(slash(root, path), source)
			if err != nil {
				return nil, err
			}
			for _, m := range found {
				m.pkg, m.path = pkg, path
				list = append(list, m)
			}
		}
	}
	return list, nil
}

// find returns the mutants in a file. A mutant makes a condition never or always true, drops one
// side of && or ||, shifts a comparison by one or reverses it, or does not return an error.
func find(file string, source []byte) (list []mutant, err error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		return nil, err
	}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	text := func(n ast.Node) string { return string(source[at(n.Pos()):at(n.End())]) }
	add := func(n ast.Node, operator, replacement string) {
		old := strings.Join(strings.Fields(text(n)), " ")
		list = append(list, mutant{file: file, line: set.Position(n.Pos()).Line, operator: operator, old: old,
			new: replacement, start: at(n.Pos()), end: at(n.End())})
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			// The condition stays in the code, so that its variables are used and the mutant
			// compiles.
			add(n.Cond, "never", "("+text(n.Cond)+") && false")
			add(n.Cond, "always", "("+text(n.Cond)+") || true")
		case *ast.BinaryExpr:
			if other, ok := turned(n.Op); ok {
				add(n, "compare "+other, text(n.X)+" "+other+" "+text(n.Y))
			}
			if n.Op == token.LAND || n.Op == token.LOR {
				add(n, "left of "+n.Op.String(), text(n.X))
				add(n, "right of "+n.Op.String(), text(n.Y))
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 1 && text(n.Results[0]) == "err" {
				add(n, "no error", "_ = err; return nil")
			}
		}
		return true
	})
	return list, nil
}

func turned(op token.Token) (string, bool) {
	other, ok := map[token.Token]string{
		token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	}[op]
	return other, ok
}

// An outcome is the result of trying a mutant.
type outcome int

const (
	killed outcome = iota
	survived
	invalid // does not compile
)

// try runs the tests of the mutant's package and of the packages that depend on it.
func (m mutant) try(root, dir string, timeout time.Duration) (outcome, error) {
	var tests [][]string
	for _, pkg := range append([]string{m.pkg}, dependents(m.pkg)...) {
		tests = append(tests, []string{"-short", "./" + pkg})
	}
	return m.tryTests(root, dir, timeout, tests)
}

// tryTests runs "go test" once with each list of arguments.
func (m mutant) tryTests(root, dir string, timeout time.Duration, tests [][]string) (outcome, error) {
	source, err := os.ReadFile(m.path)
	if err != nil {
		return 0, err
	}
	changed := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(changed, []byte(string(source[:m.start])+m.new+string(source[m.end:])), 0o600); err != nil {
		return 0, err
	}
	path, err := filepath.Abs(m.path)
	if err != nil {
		return 0, err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		return 0, err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return 0, err
	}
	if ok, err := goTool(root, timeout, "build", "-overlay", file, "./"+m.pkg); err != nil || !ok {
		return invalid, err
	}
	for _, args := range tests {
		ok, err := goTool(root, timeout, append([]string{"test", "-vet=off", "-count=1", "-timeout", timeout.String(), "-overlay", file}, args...)...)
		if err != nil || !ok {
			return killed, err
		}
	}
	return survived, nil
}

// goTool reports whether a go command succeeds.
func goTool(root string, timeout time.Duration, args ...string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return false, err
	}
	return err == nil, nil
}
