package receiptkit_test

import (
	"fmt"
	"go/ast"
	"testing"
)

// frozen are the packages whose names are promised, and how many names each has at
// most: what `go doc -all` shows. A new name costs one here, so it is weighed.
var frozen = []struct {
	dir  string
	most int
}{
	{"canon", 63},
	{"chain", 19},
	{"merkle", 21},
	{"schemas", 11},
	{"receipt", 210}, // Verifier.Weigh: package replay finds what one receipt cannot show
	{"receipt/keys", 53},
	{"receipt/stream", 57}, // From, Summary.Expect, and Summing took the place of ten fields of Options; Leaves, Records, and Conclude are for engines
}

// TestSurface: what is promised does not grow unseen.
func TestSurface(t *testing.T) {
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	total, allowed := 0, 0
	for _, f := range frozen {
		names := exported(files, f.dir)
		if len(names) == 0 {
			t.Errorf("%s exports nothing", f.dir)
		}

		total, allowed = total+len(names), allowed+f.most
		t.Logf("%-15s %3d of %3d", f.dir, len(names), f.most)
		if len(names) > f.most {
			t.Errorf("%s exports %d names, at most %d are promised; unexport one, or say in surface_test.go why there is one more", f.dir, len(names), f.most)
		}
	}
	t.Logf("%-15s %3d of %3d", "all", total, allowed)
}

// exported lists the names of the package in a folder that go doc shows: types, functions,
// constants, variables, and methods of exported types.
func exported(files []sourceFile, dir string) (names []string) {
	for _, f := range files {
		if f.dir != dir {
			continue
		}
		for _, d := range f.syntax.Decls {
			names = append(names, exportedBy(d)...)
		}
	}
	return names
}

func exportedBy(d ast.Decl) (names []string) {
	add := func(prefix string, id *ast.Ident) {
		if id.IsExported() {
			names = append(names, prefix+id.Name)
		}
	}

	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add("", d.Name)
		} else if of := receiver(d.Recv.List[0].Type); of.IsExported() {
			add(of.Name+".", d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add("", s.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					add("", id)
				}
			}
		}
	}
	return names
}

// receiver is the name of the type that a method is of.
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
