// Command systems checks that modules compile for other operating systems:
//
//	go run ./systems windows/arm64 .. ../harness
//
// It checks only the types, from source, because compiling the modules takes ten times as long.
// A release is compiled for all systems.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: systems OS/ARCHITECTURE FOLDER...")
		os.Exit(2)
	}

	failed := false
	for _, dir := range os.Args[2:] {
		list, err := load(dir, os.Args[1])
		if err != nil {
			fmt.Fprintf(os.Stderr, "systems: error: loading %q: %v\n", dir, err)
			os.Exit(2)
		}
		errs := packages.PrintErrors(list)
		fmt.Printf("%s on %s: %d packages, %d errors\n", dir, os.Args[1], len(list), errs)
		failed = failed || errs > 0 || len(list) == 0
	}
	if failed {
		os.Exit(1)
	}
}

// load checks the types of all packages of a module and of the packages that they import.
func load(dir, target string) ([]*packages.Package, error) {
	system, architecture, _ := strings.Cut(target, "/")
	return packages.Load(&packages.Config{
		Dir: dir,
		Mode: packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
		Env: append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0"),
		ParseFile: func(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
			return parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		},
	}, "./...")
}
