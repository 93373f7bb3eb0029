package tlog

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/merkle"
)

func numberedLeaves(n int) []merkle.Hash {
	leaves := make([]merkle.Hash, n)
	for i := range leaves {
		leaves[i] = merkle.LeafHash(fmt.Append(nil, i))
	}
	return leaves
}

// TestExtension verifies, for every pair of sizes up to 40, that a proof is valid after it has been
// formatted and parsed.
func TestExtension(t *testing.T) {
	leaves := numberedLeaves(40)
	for size2 := 1; size2 <= len(leaves); size2++ {
		for size1 := 1; size1 <= size2; size1++ {
			x, err := ProveExtension(leaves[:size2], uint64(size1))
			if err != nil {
				t.Fatal(err)
			}
			text := x.Format()
			back, err := ParseExtension(text)
			if err != nil || !bytes.Equal(back.Format(), text) || back.Check() != nil {
				t.Fatalf("%d to %d: %v, check %v:\n%s", size1, size2, err, back.Check(), text)
			}
			if back.Root1 != merkle.Root(leaves[:size1]) || back.Root2 != merkle.Root(leaves[:size2]) {
				t.Errorf("%d to %d: other roots", size1, size2)
			}
		}
	}
	if _, err := ProveExtension(leaves, 0); !errors.Is(err, merkle.ErrSizes) {
		t.Errorf("from the empty tree: %v", err)
	}
}

// TestExtensionDamage changes each byte of a file, and verifies that the result is rejected or
// contains a different proof, which must be invalid or apply to other sizes. Only checkpoints
// determine the sizes, because the proofs for trees with 6 and 7 leaves can have the same shape.
func TestExtensionDamage(t *testing.T) {
	x, err := ProveExtension(numberedLeaves(7), 3)
	if err != nil {
		t.Fatal(err)
	}
	text := x.Format()
	for i := range text {
		for _, mask := range []byte{1, 2, 0x10, 0x20, 0x80} {
			bad := bytes.Clone(text)
			bad[i] ^= mask
			if got, err := ParseExtension(bad); err == nil && got.Size1 == x.Size1 && got.Size2 == x.Size2 && got.Check() == nil {
				t.Errorf("byte %d ^ %#x is accepted", i, mask)
			}
		}
	}
	for i := range text {
		if got, err := ParseExtension(text[:i]); err == nil && got.Check() == nil {
			t.Errorf("the first %d bytes are accepted", i)
		}
	}
}

// TestLongestExtension verifies that a proof with the maximum number of hashes is accepted.
func TestLongestExtension(t *testing.T) {
	h := merkle.Hash{}.String()
	text := extensionHeader + "\nfrom 1 " + h + "\nto 2 " + h + "\n" + strings.Repeat(h+"\n", 65)
	if x, err := ParseExtension([]byte(text)); err != nil || len(x.Hashes) != 65 {
		t.Errorf("65 hashes: %v", err)
	}
}

func TestParseExtensionRefuses(t *testing.T) {
	h := merkle.Hash{}.String()
	head := extensionHeader + "\nfrom 1 " + h + "\nto 2 " + h + "\n"
	for text, want := range map[string]string{
		"":                                     "line 1",
		strings.ReplaceAll(head, "\n", "\r\n"): "line 1",
		strings.TrimSuffix(head, "\n"):         "line 4",
		extensionHeader + "\n":                 "line 2",
		extensionHeader + "\nfrom 01 " + h + "\nto 2 " + h + "\n": "line 2",
		extensionHeader + "\nfrom 1 " + h + "\nto -2 " + h + "\n": "line 3",
		extensionHeader + "\nfrom 1 " + h + "\nto 2  " + h + "\n": "line 3",
		extensionHeader + "\n1 " + h + "\nto 2 " + h + "\n":       "line 2",
		head + "\n":                       "line 4",
		head + h:                          "line 5",
		head + h[1:] + "\n":               "line 4",
		head + strings.Repeat(h+"\n", 66): "line 69",
	} {
		x, err := ParseExtension([]byte(text))
		if x != nil || !errors.As(err, new(*ProofError)) || !strings.Contains(err.Error(), want+":") {
			t.Errorf("%.80q: %v, expected %s", text, err, want)
		}
	}
}

func FuzzParseExtension(f *testing.F) {
	x, err := ProveExtension(numberedLeaves(7), 3)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(x.Format())
	f.Fuzz(func(t *testing.T, text []byte) {
		if x, err := ParseExtension(text); err == nil && !bytes.Equal(x.Format(), text) {
			t.Errorf("%q is written as %q", text, x.Format())
		}
	})
}
