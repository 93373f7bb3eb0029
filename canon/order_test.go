package canon

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestManyNames verifies the order of many names that are as similar as an attacker can make them.
// The names are composed of a few pieces and share long prefixes. Some names end where others
// continue with U+0000, some contain characters on different sides of the surrogates, and some are
// repeated.
func TestManyNames(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 785))
	pieces := []string{"\x00", "a", "b", "é", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff", "aaaaaaaa", "\x00\x00\x00\x00\x00\x00\x00\x00"}
	for n := range 2_000 {
		many := 2 + random.IntN(80)
		few := pieces
		if n%2 == 0 {
			few = pieces[:1+random.IntN(3)]
		}
		begin := strings.Repeat(pieces[random.IntN(len(pieces))], random.IntN(5))
		var names []string
		for range many {
			name := begin
			for range random.IntN(12) {
				name += few[random.IntN(len(few))]
			}
			names = append(names, name)
		}
		checkNames(t, names)
	}
	var long []string // each name is a prefix of the next name
	for i := range 500 {
		long = append(long, strings.Repeat("a", i), strings.Repeat("\x00", i+1))
	}
	random.Shuffle(len(long), func(i, j int) { long[i], long[j] = long[j], long[i] })
	checkNames(t, long)
}

// checkNames verifies that an object's members are sorted by the UTF-16 code units of their names
// (RFC 8785 section 3.2.3), and that duplicates are reported correctly.
func checkNames(t *testing.T, names []string) {
	t.Helper()
	var src []byte
	for _, name := range names {
		src = append(AppendString(append(src, ','), name), ":0"...)
	}
	src[0] = '{'
	src = append(src, '}')
	d, err := Parse(src)
	if at := duplicateAt(names); at >= 0 {
		// The error refers to the first name that repeats an earlier one.
		if syntax, ok := err.(*SyntaxError); !ok || syntax.Code != codeDuplicateName || at != countMembers(src[:syntax.Offset]) {
			t.Fatalf("%q: %v", names, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%q: %v", names, err)
	}
	slices.SortFunc(names, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	want := []byte{}
	for _, name := range names {
		want = append(AppendString(append(want, ','), name), ":0"...)
	}
	want[0] = '{'
	want = append(want, '}')
	if got := d.AppendCanonical(nil); string(got) != string(want) {
		t.Fatalf("got\n%q, want\n%q", got, want)
	}
}

func duplicateAt(names []string) int {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return i
		}
	}
	return -1
}

// countMembers returns the number of complete members in src.
func countMembers(src []byte) int { return strings.Count(string(src), ":0") }
