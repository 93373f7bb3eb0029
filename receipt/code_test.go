package receipt_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
)

// TestCodesAreListed verifies that Codes explains each constant of type Code exactly once, and
// nothing else.
func TestCodesAreListed(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var constants, listed []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Code" {
				text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				constants = append(constants, text)
			}
		}
		return true
	})
	for _, info := range receipt.Codes() {
		listed = append(listed, string(info.Code))
	}

	slices.Sort(constants)
	slices.Sort(listed)
	if len(constants) < 90 || !slices.Equal(constants, listed) {
		t.Errorf("the constants are %q, and Codes lists %q", constants, listed)
	}
}
