package receiptkit_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// What is said to people decides nothing: a program that looks for a word in it
// breaks when somebody writes a better one.

// looks are the functions that look into a text, by package.
var looks = map[string][]string{
	"strings": {"Compare", "Contains", "ContainsAny", "ContainsFunc", "ContainsRune", "Count", "Cut", "CutPrefix", "CutSuffix", "EqualFold",
		"Fields", "FieldsFunc", "FieldsSeq", "HasPrefix", "HasSuffix", "Index", "IndexAny", "IndexByte", "IndexFunc", "IndexRune", "LastIndex",
		"Replace", "ReplaceAll", "Split", "SplitAfter", "SplitAfterN", "SplitN", "SplitSeq", "TrimPrefix", "TrimSuffix"},
	"fmt": {"Sscan", "Sscanf", "Sscanln"},
}

// matches are the methods of a regular expression.
var matches = []string{"MatchString", "FindString", "FindStringIndex", "FindStringSubmatch", "FindAllString", "FindAllStringSubmatch", "ReplaceAllString", "ReplaceAllStringFunc"}

// foreign are the functions that may look: the error of a library says a thing in
// its text alone.
var foreign = map[string]string{
	"redact/rulefile/policy.go: syntaxError": "the YAML library has no other place for the line, and may quote a secret",
}

// A reading is a function that looks into words.
type reading struct{ function, at string }

// readsWords returns where the functions of a file look into the text of an error,
// of a Detail or of a Hint: directly, or by a variable of their own.
func readsWords(set *token.FileSet, name string, file *ast.File) (list []reading) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		words := wordsOf(f.Body)
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if looksInto(n, words) {
				list = append(list, reading{name + ": " + f.Name.Name, fmt.Sprintf("%s:%d", name, set.Position(n.Pos()).Line)})
			}
			return true
		})
	}
	return list
}

// wordsOf returns the variables of a function that hold words.
func wordsOf(body *ast.BlockStmt) map[string]bool {
	words := map[string]bool{}
	for before := -1; before < len(words); { // until nothing is added: one may be made of another
		before = len(words)
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					from := n.Rhs[min(i, len(n.Rhs)-1)]
					if id, ok := to.(*ast.Ident); ok && id.Name != "_" && holdsWords(from, words) {
						words[id.Name] = true
					}
				}
			case *ast.ValueSpec:
				for i, from := range n.Values {
					if holdsWords(from, words) {
						words[n.Names[min(i, len(n.Names)-1)].Name] = true
					}
				}
			}
			return true
		})
	}
	return words
}

// holdsWords reports whether a text is words, or is made of them.
func holdsWords(e ast.Expr, words map[string]bool) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return holdsWords(e.X, words)
	case *ast.Ident:
		return words[e.Name]
	case *ast.SelectorExpr:
		return slices.Contains([]string{"Detail", "Hint", "Message"}, e.Sel.Name)
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (holdsWords(e.X, words) || holdsWords(e.Y, words))
	case *ast.IndexExpr:
		return holdsWords(e.X, words)
	case *ast.SliceExpr:
		return holdsWords(e.X, words)
	case *ast.CallExpr:
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Error" && len(e.Args) == 0 {
			return true
		}
		return passes(e.Fun) && slices.ContainsFunc(e.Args, func(arg ast.Expr) bool { return holdsWords(arg, words) })
	}
	return false
}

// passes reports whether a function gives back the text that it was given, or
// another form of it: a conversion, and what strings and fmt have.
func passes(fun ast.Expr) bool {
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun.Name == "string"
	case *ast.ArrayType:
		return true
	case *ast.SelectorExpr:
		x, ok := fun.X.(*ast.Ident)
		return ok && (x.Name == "strings" || x.Name == "bytes" || x.Name == "fmt" || x.Name == "cmp")
	}
	return false
}

func looksInto(n ast.Node, words map[string]bool) bool {
	spoken := func(e ast.Expr) bool { return holdsWords(e, words) }
	switch n := n.(type) {
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || !slices.ContainsFunc(n.Args, spoken) {
			return false
		}
		pkg, _ := sel.X.(*ast.Ident)
		if pkg != nil && pkg.Name == "bytes" {
			return slices.Contains(looks["strings"], sel.Sel.Name)
		}
		return pkg != nil && slices.Contains(looks[pkg.Name], sel.Sel.Name) || slices.Contains(matches, sel.Sel.Name) || pkg != nil && pkg.Name == "regexp"
	case *ast.BinaryExpr:
		switch n.Op {
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return spoken(n.X) && !empty(n.Y) || spoken(n.Y) && !empty(n.X)
		}
	case *ast.SwitchStmt:
		return n.Tag != nil && spoken(n.Tag)
	case *ast.IndexExpr:
		return spoken(n.X) || spoken(n.Index) // a letter of it, or a map by it
	}
	return false
}

// empty reports whether a text is "": that nothing is said may be asked.
func empty(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && (lit.Value == `""` || lit.Value == "``")
}

// eachSource calls do for each of sources.
func eachSource(t *testing.T, do func(set *token.FileSet, name string, file *ast.File)) {
	t.Helper()
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		do(f.set, f.name, f.syntax)
	}
}

func TestNobodyReadsWords(t *testing.T) {
	unused := map[string]bool{}
	for function := range foreign {
		unused[function] = true
	}
	eachSource(t, func(set *token.FileSet, name string, file *ast.File) {
		for _, r := range readsWords(set, name, file) {
			delete(unused, r.function)
			if foreign[r.function] == "" {
				t.Errorf("%s looks into the text of an error, a Detail or a Hint; give it a type, a Cause or a field", r.at)
			}
		}
	})
	for function := range unused {
		t.Errorf("%s reads no words, and needs no exception", function)
	}
}

// TestNobodyReadsWordsCatches plants a reading of each kind.
func TestNobodyReadsWordsCatches(t *testing.T) {
	for body, want := range map[string]bool{
		`return strings.TrimPrefix(err.Error(), "merkle: ")`:                               true,
		`return strings.Contains(f.Detail, "twice")`:                                       true,
		`return bytes.HasPrefix([]byte(c.Hint), prefix)`:                                   true,
		`return regexp.MustCompile("^line").MatchString(err.Error())`:                      true,
		`ok, _ := regexp.MatchString("^line", c.Detail); return ok`:                        true,
		`return rule.FindStringSubmatch(c.Hint)`:                                           true,
		`return c.Detail == "the predecessor is missing"`:                                  true,
		`return missing != n.Detail`:                                                       true,
		`switch c.Detail { case "a": }`:                                                    true,
		`text := err.Error(); return strings.Fields(text)`:                                 true,
		`text := fmt.Sprintf("%s", err.Error()); first := text[:3]; return first == "abc"`: true,
		`var text = strings.ToLower(c.Hint); return strings.Count(text, "x")`:              true,
		`first, _, found := strings.Cut(e.Message, ":")`:                                   true,
		`return err.Error()[0] == 'x'`:                                                     true,
		`return known[c.Detail]`:                                                           true,
		`if c.Detail != "" { say(c.Detail) }`:                                              false,
		`say("refuted: " + err.Error())`:                                                   false,
		`return strings.Join([]string{f.Source, f.Detail}, ": ")`:                          false,
		`return errors.Is(err, ErrX) && strings.HasPrefix(name, "x")`:                      false,
		`return cli.Wrap(strings.TrimSpace(c.Hint), 13)`:                                   false,
		`return c.Cause == CauseMissing && strings.Contains(f.Code, "x")`:                  false,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "x.go", "package x\nfunc f() {\n"+body+"\n}", 0)
		if err != nil {
			t.Fatal(body, err)
		}
		if got := readsWords(set, "x.go", file); len(got) > 0 != want {
			t.Errorf("%s: found %v, want %t", body, got, want)
		}
	}
}
