package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct{ line, want string }{
		{"short", "short"},
		{"a line of words that is too long for its", "a line of words that is too long for its"},
		{"a line of words that is too long for them", "a line of words that is too long for\nthem"},
		{"  label    text of words that is too long", "  label    text of words that is too\n           long"},
		{"  hash     " + digest, "  hash     sha256:012345678…9abcdef"},
		{"  next     receipt verify a.jsonl --keys keys.json", "  next     receipt verify a.jsonl \\\n           --keys keys.json"},
		{strings.Repeat("x", 90), strings.Repeat("x", 40) + "\n" + strings.Repeat("x", 40) + "\n" + strings.Repeat("x", 10)},
		{"\x1b[31m" + strings.Repeat("x", 40) + "\x1b[0m", "\x1b[31m" + strings.Repeat("x", 40) + "\x1b[0m"},
		{strings.Repeat("é", 40), strings.Repeat("é", 40)},
		{"receipt: error: a line that is too long for it", "receipt: error: a line that is too long\n  for it"},
		{"receipt: hint: keep it secret: receipt seal DRAFT --key k", "receipt: hint: keep it secret:\n  receipt seal DRAFT --key k"},
		{"receipt: hint: receipt seal draft.json -o RECEIPT", "receipt: hint:\n  receipt seal draft.json -o RECEIPT"},
		{"receipt: hint: receipt seal /" + strings.Repeat("x", 40), "receipt: hint: receipt seal \\\n  /" + strings.Repeat("x", 40)},
		{"receipt: hint: receipt serve FILE serves all of them", "receipt: hint: receipt serve FILE serves\n  all of them"},
		{"receipt: hint: receipt --help lists all; receipt verify", "receipt: hint: receipt --help lists all;\n  receipt verify"},
	} {
		got := fold(c.line, 40)
		if strings.HasPrefix(c.line, "  hash") {
			if Columns(got) > 40 || !strings.Contains(got, "…") || !strings.HasPrefix(got, "  hash     sha256:0123") || !strings.HasSuffix(got, "cdef") {
				t.Errorf("%q", got)
			}
		} else if got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// TestFitter verifies that lines that are written in pieces are folded on a terminal and remain
// unchanged elsewhere.
func TestFitter(t *testing.T) {
	long := strings.Repeat("word ", 20) + "end\nnext\n"
	var out bytes.Buffer
	w := (&Env{Out: &out, Terminal: true, Width: 50}).Text()
	for _, piece := range strings.SplitAfter(long, " ") {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	for line := range strings.Lines(out.String()) {
		if len(line) > 51 {
			t.Errorf("%q", line)
		}
	}
	if strings.Join(strings.Fields(out.String()), " ") != strings.Join(strings.Fields(long), " ") {
		t.Errorf("%q", out.String())
	}

	for _, e := range []*Env{{Width: 50}, {Terminal: true}} {
		out.Reset()
		e.Out = &out
		if _, err := e.Text().Write([]byte(long)); err != nil || out.String() != long {
			t.Errorf("%+v: %q", e, out.String())
		}
	}
}

// TestFoldDigest verifies that a digest is printed in full if it fits on a line, even after a label
// on 80 columns.
func TestFoldDigest(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct {
		width      int
		line, want string
	}{
		{80, "  hash         " + digest, "  hash\n        " + digest},
		{84, "  hash         " + digest, "  hash\n            " + digest},
		{86, "  hash         " + digest, "  hash         " + digest},
		{80, "stream       harness / garden: 3 receipts, head " + digest, "stream       harness / garden: 3 receipts, head\n        " + digest},
		{80, "stream       a / b: 3 receipts in one long stream of receipts with its last head " + digest + " and more", "stream       a / b: 3 receipts in one long stream of receipts with its last head\n        " + digest + "\n             and more"},
		{80, "~ /chain/receipt_hash  \"" + digest + "\" → \"" + digest + "\",", "~ /chain/receipt_hash\n      \"" + digest + "\"\n                       →\n      \"" + digest + "\","},
		{80, "a.jsonl:5: refuted: stated " + digest + ", computed " + digest, "a.jsonl:5: refuted: stated\n" + digest + ",\ncomputed " + digest},
		{72, "  hash         " + digest, "  hash         sha256:0123456789abcdef01234567…89abcdef0123456789abcdef"},
	} {
		got := fold(c.line, c.width)
		for line := range strings.Lines(got) {
			if Columns(strings.TrimSuffix(line, "\n")) > c.width {
				t.Errorf("%d: %q", c.width, line)
			}
		}
		if got != c.want {
			t.Errorf("%d:\ngot  %q\nwant %q", c.width, got, c.want)
		}
	}
}
