package bundle_test

import (
	"bytes"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// FuzzPaths verifies that text without absolute paths is not changed, and that a few passes remove
// all paths from other text.
func FuzzPaths(f *testing.F) {
	for _, a := range surroundings {
		for _, path := range []string{"/home/ada", "//a/b", "file:///a", `C:\x`, `\\a\b`, "%2Fa%2Fb", `\/a\/b`, "a://b/c", "/"} {
			f.Add([]byte(a.before + path + a.after))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		left, found := bundle.WithoutPaths(text)
		if found == bytes.Equal(left, text) {
			t.Fatalf("%q: %v, left is %q", text, found, left)
		}
		for range 8 {
			if left, found = bundle.WithoutPaths(left); !found {
				return
			}
		}
		t.Fatalf("%q: paths are found again and again: %q", text, left)
	})
}
