package protocol

import (
	"strings"
	"testing"
)

// TestZeroParameters verifies that a zero value with a valid form is not reported as malformed.
func TestZeroParameters(t *testing.T) {
	zeros := "sha256:" + strings.Repeat("0", 64)
	q := Query{"head": zeros, "short": zeros[:70], "at": "0001-01-01T00:00:00Z", "later": "0001-01-01T00:00:00.001Z", "word": "now"}
	_, zeroHash := q.Digest("head")
	_, shortHash := q.Digest("short")
	_, zeroTime := q.Time("at")
	_, word := q.Time("word")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"zeros":             {zeroHash, "head is the hash of something, found nothing but zeros"},
		"a digit too few":   {shortHash, "short is sha256: and 64 lowercase hexadecimal digits, found "},
		"the first instant": {zeroTime, "at is any time but 0001-01-01T00:00:00Z"},
		"a word":            {word, "word is an RFC 3339 time such as "},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", name, c.err, c.want)
		}
	}
	if _, err := q.Time("later"); err != nil {
		t.Error(err)
	}
}
