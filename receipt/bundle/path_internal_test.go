package bundle

import (
	"slices"
	"testing"
)

// TestPaths verifies that formatted paths are parsed, and that other text is rejected.
func TestPaths(t *testing.T) {
	for path, want := range map[string][]step{
		"$":                       nil,
		"$.a":                     {{"a", -1}},
		"$.a_1[0].b":              {{"a_1", -1}, {"", 0}, {"b", -1}},
		`$["a b"]`:                {{"a b", -1}},
		`$["a b"][2]`:             {{"a b", -1}, {"", 2}},
		`$["a\"]"].b`:             {{`a"]`, -1}, {"b", -1}},
		`$["\\"]`:                 {{`\`, -1}},
		`$["é"]`:                  {{"é", -1}},
		`$[2147483647]["[0]"][0]`: {{"", 1<<31 - 1}, {"[0]", -1}, {"", 0}},
	} {
		steps, ok := parsePath(path)
		if !ok || !slices.Equal(steps, want) {
			t.Errorf("%s: %v %v", path, steps, ok)
		}
		written := []byte("$")
		for _, s := range steps {
			written = appendStep(written, s)
		}
		if string(written) != path {
			t.Errorf("%s: written %s", path, written)
		}
	}

	for _, path := range []string{
		"", "a", ".a", "$a", "$[", "$[]", "$[1", "$[01]", "$[-1]", "$[+1]", "$[1.0]", "$[2147483648]", "$.a b", "$.a]", "$.é",
		`$["`, `$["a b`, `$["a b\`, `$["a b\"`, `$["a b"`, `$["a b"x`, `$["a b"x]`, `$["a b".c`, `$["a b"]x`, `$["ab"]`, `$["\u0061 b"]`, `$["a\qb"]`, `$['a b']`,
	} {
		if steps, ok := parsePath(path); ok {
			t.Errorf("%q: %v", path, steps)
		}
	}
}
