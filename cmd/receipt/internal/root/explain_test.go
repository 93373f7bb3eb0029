package root

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestCodesPage verifies that docs/codes.md matches the output of "go generate".
func TestCodesPage(t *testing.T) {
	var want bytes.Buffer
	codesPage(&want)
	got, err := os.ReadFile("../../../../docs/codes.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/codes.md is stale; run: go generate ./cmd/receipt")
	}
	for _, info := range receipt.Codes() {
		if !strings.Contains(want.String(), "\n| `"+string(info.Code)+"` | ") {
			t.Errorf("%s is not on the page", info.Code)
		}
	}
}

// TestNearest verifies that every code is suggested if two adjacent letters are swapped, and that
// nothing is suggested for a dissimilar word.
func TestNearest(t *testing.T) {
	for _, info := range receipt.Codes() {
		code := string(info.Code)
		typed := code[:1] + code[2:3] + code[1:2] + code[3:]
		if got := nearest(typed); !strings.Contains(got, code) {
			t.Errorf("nearest(%q) = %q, expected %s", typed, got, code)
		}
	}
	for _, typed := range []string{"", "z", "zzz", strings.Repeat("hash_", 1000)} {
		if got := nearest(typed); got != "" {
			t.Errorf("nearest(%.20q) = %q", typed, got)
		}
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}}
	for _, test := range tests {
		if got := cli.Distance(test.a, test.b); got != test.want {
			t.Errorf("cli.Distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
