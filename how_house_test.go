package receiptkit_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The library says what to do; how is for the command and the page, which know
// their flags and buttons.

// how is a flag or a command.
var how = regexp.MustCompile(`(^|[\s("'` + "`" + `])(--[a-z]|receipt (verify|show|diff|canon|record|replay|seal|sign|redact|disclose|archive|batch|bundle|ledger|merge|keys|serve|schema|explain|version|completion|man)\b)`)

// ownWords are files and folders whose literals look like flags and commands, and are
// other things or are for those who use them.
var ownWords = map[string]string{
	"redact/secret/commands.go":      "commands of others, with secrets in them",
	"receipt/record/source/command/": "commands of others, which are read",
	"receipt/record/page.go":         "docs/record.md, which tells of the command too",
	"receipt/record/events_page.go":  "docs/events.md, which does the same",
	"receipt/serve/page/absent.go":   "the page that says that there is no page",
	"receipt/ledger/mark.go":         "the header of the file beside a ledger",
}

// saysHow returns where a file says how, in the words of the command line.
func saysHow(set *token.FileSet, name string, file *ast.File) (list []string) {
	imports := map[ast.Node]bool{}
	for _, spec := range file.Imports {
		imports[spec.Path] = true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING || imports[lit] {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if m := how.FindString(text); err == nil && m != "" {
			list = append(list, fmt.Sprintf("%s:%d: %s: %.200s", name, set.Position(lit.Pos()).Line, strings.TrimSpace(m), text))
		}
		return true
	})
	return list
}

// library reports whether a file is of a package that others import.
func library(name string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(name, "harness/"), "/")
	return path.Dir(name) != "." && first != "cmd" && first != "internal" && first != "examples" && first != "fixtures"
}

func TestLibrarySaysWhatNotHow(t *testing.T) {
	unused := maps.Clone(ownWords)
	eachSource(t, func(set *token.FileSet, name string, file *ast.File) {
		if !library(name) {
			return
		}
		for _, at := range saysHow(set, name, file) {
			if own := excepted(name); own != "" {
				delete(unused, own)
				continue
			}
			t.Errorf("%s: the command and the page say how", at)
		}
	})
	for name := range unused {
		t.Errorf("%s says no flag and no command, and needs no exception", name)
	}
}

// excepted returns the entry of ownWords that a file is under.
func excepted(name string) string {
	for own := range ownWords {
		if name == own || strings.HasSuffix(own, "/") && strings.HasPrefix(name, own) {
			return own
		}
	}
	return ""
}

// TestLibrarySaysWhatNotHowCatches plants a text of each kind.
func TestLibrarySaysWhatNotHowCatches(t *testing.T) {
	for body, want := range map[string]bool{
		`return "allow it with --long"`:                         true,
		`return "--proof FILE names one"`:                       true,
		"return `a proof (--proof) shows it`":                   true,
		`return fmt.Sprintf("see what receipt verify %s says")`: true,
		`return "run: receipt ledger fsck FILE"`:                true,
		"return `see `+\"`receipt keys import`\"":               true,
		`return "ask the log for a proof"`:                      false,
		`return "the receipt hash; the receipt keyset"`:         false,
		`return "one -- and only one -- receipt"`:               false,
		`return 1 // as --long allows`:                          false,
		`return "a receipt seals what was done"`:                false,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "x.go", "package x\nfunc f() {\n"+body+"\n}", parser.ParseComments)
		if err != nil {
			t.Fatal(body, err)
		}
		if got := saysHow(set, "x.go", file); len(got) > 0 != want {
			t.Errorf("%s: found %v, want %t", body, got, want)
		}
	}
}
