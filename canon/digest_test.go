package canon

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// TestDigestDigits verifies, for every byte at every position in a digest, that a string is
// accepted only if encoding/hex accepts it and it is lowercase.
func TestDigestDigits(t *testing.T) {
	good := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	for at := len("sha256:"); at < len(good); at++ {
		for c := range 256 {
			text := []byte(good)
			text[at] = byte(c)
			d, err := ParseDigest(text)
			if ok := strings.IndexByte("0123456789abcdef", byte(c)) >= 0; ok != (err == nil) {
				t.Fatalf("%q: %v", text, err)
			} else if want, _ := hex.DecodeString(string(text[len("sha256:"):])); ok && string(want) != string(d[:]) {
				t.Fatalf("%q: %x", text, d)
			}
		}
	}
	for _, text := range []any{good, []byte(good)} {
		if n := testing.AllocsPerRun(10, func() {
			switch text := text.(type) {
			case string:
				ParseDigest(text)
			case []byte:
				ParseDigest(text)
			}
		}); n != 0 {
			t.Errorf("%T: %v allocations", text, n)
		}
	}
}

// TestSum verifies that hashing in portions does not change the digest.
func TestSum(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for _, n := range []int{0, 1, portion - 1, portion, portion + 1, 2 * portion, len(data) - 1} {
		if got := Sum(data[:n]); got != sha256.Sum256(data[:n]) {
			t.Errorf("%d bytes: %v", n, got)
		}
	}
}
