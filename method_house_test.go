package receiptkit_test

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// Methods belong in the same file as their type. The number of exceptions must not grow. Instead of
// adding an exception, declare a smaller type or write a function.
const (
	mostAway   = 56 // methods that are not in the file of their type
	mostSpread = 0  // types whose methods are in four or more files
)

// A typeHome records which file declares a type and which files contain its methods.
type typeHome struct {
	file    string
	methods map[string]int // by file
}

// away returns the number of methods that are not in the file of their type.
func (h *typeHome) away() (n int) {
	for file, methods := range h.methods {
		if h.file != "" && file != h.file {
			n += methods
		}
	}
	return n
}

// typeHomes contains the types of all packages in the architecture, keyed by package and name.
type typeHomes map[string]*typeHome

func (list typeHomes) of(file, name string) *typeHome {
	key := path.Dir(file) + "." + name
	if list[key] == nil {
		list[key] = &typeHome{methods: map[string]int{}}
	}
	return list[key]
}

func (list typeHomes) add(name string, file *ast.File) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					list.of(name, spec.Name.Name).file = name
				}
			}
		case *ast.FuncDecl:
			if receiver := receiverOf(decl); receiver != "" {
				list.of(name, receiver).methods[name]++
			}
		}
	}
}

// receiverOf returns the receiver type of a method, or "" if the declaration is not a method.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) != 1 {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if index, ok := of.(*ast.IndexExpr); ok {
		of = index.X
	}
	name, _ := of.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// count returns the number of methods outside the file of their type, and the number of types whose
// methods are in four or more files.
func (list typeHomes) count() (away, spread int) {
	for _, h := range list {
		away += h.away()
		if len(h.methods) >= 4 {
			spread++
		}
	}
	return away, spread
}

func TestMethodsStandWithTheirTypes(t *testing.T) {
	list := typeHomes{}
	eachSource(t, func(_ *token.FileSet, name string, file *ast.File) {
		// Code for one operating system must be in a separate file. Examples, the reference
		// harness, and fixtures are not packages of the library.
		if strings.HasSuffix(name, "_linux.go") || strings.HasSuffix(name, "_other.go") || strings.HasPrefix(name, "fixtures/") || strings.HasPrefix(name, "examples/") || strings.HasPrefix(name, "harness/internal/") {
			return
		}
		list.add(name, file)
	})

	away, spread := list.count()
	if len(list) < 500 {
		t.Errorf("found %d types", len(list))
	}
	if away <= mostAway && spread <= mostSpread {
		return
	}

	t.Errorf("%d methods stand in another file than their type, and %d types are spread over four files or more; expected at most %d and %d", away, spread, mostAway, mostSpread)
	for name, h := range list {
		if h.away() > 0 {
			t.Logf("%s of %s has methods in %v", name, h.file, h.methods)
		}
	}
}

// TestHomesAreCounted verifies that a method outside the file of its type is counted as away, and
// that a type with methods in four files is counted as spread.
func TestHomesAreCounted(t *testing.T) {
	list := typeHomes{}
	for _, file := range []string{"x/a.go", "x/b.go", "x/c.go", "x/d.go"} {
		list.of(file, "T").methods[file]++
	}
	list.of("x/a.go", "T").file = "x/a.go"
	list.of("x/a.go", "U").file = "x/a.go"
	list.of("x/a.go", "U").methods["x/a.go"] = 2
	if away, spread := list.count(); away != 3 || spread != 1 {
		t.Errorf("%d away and %d spread, expected 3 and 1", away, spread)
	}
}
