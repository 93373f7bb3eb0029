package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// A mutant changes one place in one file. All mutants of a package are compiled together, and the
// environment selects the active one. To achieve this, the text of the place is enclosed by before
// and after, in which isActive stands for a condition.
type mutant struct {
	pkg, path, file string // file is relative to the module
	function        string // that contains the place
	line            int
	operator, old   string
	start, end      int
	before, after   string
	id              int // position in the list of all mutants, from 1
}

const isActive = "\x00"

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", m.file, m.line, m.operator, m.old)
}

// key returns the name of a mutant without its line number.
func (m mutant) key() string { return m.file + ": " + m.operator + ": " + m.old }

// explained returns the reason from a line of equivalent.txt if the line is about the mutant. Lines
// have the form "FILE: OPERATOR: CODE: reason" or "FILE: FUNCTION: OPERATOR: CODE: reason", which
// does not depend on the position of the code in the file.
func (m mutant) explained(line string) (reason string, ok bool) {
	rest, ok := strings.CutPrefix(line, m.file+": ")
	if !ok {
		return "", false
	}
	rest = strings.TrimPrefix(rest, m.function+": ")
	return strings.CutPrefix(rest, m.operator+": "+m.old+": ")
}

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
				m.pkg, m.path, m.id = pkg, path, len(list)+1
				list = append(list, m)
			}
		}
	}
	return list, nil
}

// find returns the mutants in a file, outer ones before the ones in them. A mutant makes a
// condition never or always true, drops one side of && or ||, shifts a comparison by one or
// reverses it, or does not return an error.
func find(file string, source []byte) (list []mutant, err error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		return nil, err
	}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	text := func(n ast.Node) string { return string(source[at(n.Pos()):at(n.End())]) }
	function := ""
	add := func(n, place ast.Node, operator, before, after string) {
		old := strings.Join(strings.Fields(text(n)), " ")
		list = append(list, mutant{file: file, function: function, line: set.Position(n.Pos()).Line, operator: operator, old: old,
			start: at(place.Pos()), end: at(place.End()), before: before, after: after})
	}
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST
		case *ast.IfStmt:
			add(n.Cond, n.Cond, "never", "((", ") && !"+isActive+")")
			add(n.Cond, n.Cond, "always", "((", ") || "+isActive+")")
		case *ast.BinaryExpr:
			if other, ok := turned(n.Op); ok {
				changed := text(n.X) + " " + other + " " + text(n.Y)
				add(n, n, "compare "+other, "("+isActive+" && ("+changed+") || !"+isActive+" && (", "))")
			}
			if n.Op == token.LAND {
				add(n, n.Y, "left of &&", "("+isActive+" || (", "))")
				add(n, n.X, "right of &&", "("+isActive+" || (", "))")
			}
			if n.Op == token.LOR {
				add(n, n.Y, "left of ||", "(!"+isActive+" && (", "))")
				add(n, n.X, "right of ||", "(!"+isActive+" && (", "))")
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 1 && text(n.Results[0]) == "err" {
				add(n, n, "no error", "{ if "+isActive+" { return nil }; ", " }")
			}
		}
		return true
	}
	for _, d := range tree.Decls {
		function = ""
		if f, ok := d.(*ast.FuncDecl); ok {
			function = f.Name.Name
		}
		ast.Inspect(d, visit)
	}
	return list, nil
}

func turned(op token.Token) (string, bool) {
	other, ok := map[token.Token]string{
		token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	}[op]
	return other, ok
}
