package redact

import "testing"

// TestAppendArgument verifies that an argument is quoted if a shell would split it, with the
// quotation marks that it does not contain.
func TestAppendArgument(t *testing.T) {
	for text, want := range map[string]string{
		"a":     "a",
		"":      "",
		"a=b/c": "a=b/c",
		"a b":   "'a b'",
		"a'b":   `"a'b"`,
		"'a b":  `"'a b"`,
		`a"b`:   `'a"b'`,
		"a\nb":  ".",
		"a\rb":  ".",
		"$a":    "'$a'",
	} {
		if got := string(appendArgument([]byte("x "), []byte(text))); got != "x "+want {
			t.Errorf("%q: %q, expected %q", text, got, want)
		}
	}
}
