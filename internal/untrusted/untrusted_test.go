package untrusted_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// TestCut verifies that no incomplete character is kept and that nothing else is lost.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		text             string
		most             int
		head, cut, quote string
	}{
		{"", 3, "", "", `""`},
		{"abc", 3, "abc", "abc", `"abc"`},
		{"abcd", 3, "abc", "abc…", `"abc"…`},
		{"abé", 3, "ab", "ab…", `"ab"…`},
		{"aé", 3, "aé", "aé", `"a\u00e9"`},
		{"a🎉", 4, "a", "a…", `"a"…`},
		{"\xff\x80\x80\x80", 2, "", "…", `""…`},
		{"\xffab\x1b[", 3, "\xffab", "\xffab…", `"\xffab"…`},
		{"\x1b", 1, "\x1b", "\x1b", `"\x1b"`},
	} {
		head, cut, quote := untrusted.Head(c.text, c.most), untrusted.Cut([]byte(c.text), c.most), untrusted.Quote(c.text, c.most)
		if head != c.head || cut != c.cut || quote != c.quote {
			t.Errorf("%q, %d: %q, %q, %s; want %q, %q, %s", c.text, c.most, head, cut, quote, c.head, c.cut, c.quote)
		}
	}
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "",
		"plain é 🎉":          "plain é 🎉",
		"a\nb":               `a\nb`,
		"\x1b[2J\u009b":      `\x1b[2J\u009b`,
		"\u202eabc":          `\u202eabc`,
		"a\u3164\U000e0041":  `a\u3164\U000e0041`,
		"bad \xff\xc3":       `bad \xff\xc3`,
		"replaced \ufffd":    `replaced \ufffd`,
		`quoted " and \ too`: `quoted " and \ too`,
	} {
		if got := untrusted.Escape(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}

	// These are all single-byte characters and their neighbors.
	for r := range rune(0x101) {
		if text := "a" + string(r) + "b"; (untrusted.Escape(text) == text) == untrusted.Unsafe(r) {
			t.Errorf("%q becomes %s", text, untrusted.Escape(text))
		}
	}
}
