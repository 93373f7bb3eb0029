package tlog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/merkle"
)

// An Extension is a file with a proof that one tree extends another. Each line ends with LF:
//
//	receiptkit/consistency-proof@v1
//	from <size> <base64 root>
//	to <size> <base64 root>
//	<base64 hash>           in the order of RFC 9162 section 2.1.4.1
//
// C2SP does not define a format for such a file. The sizes and roots in the file are not proved. A
// verifier must compare them with checkpoints that a log has signed.
type Extension struct {
	Size1, Size2 uint64
	Root1, Root2 merkle.Hash
	Hashes       []merkle.Hash
}

const extensionHeader = "receiptkit/consistency-proof@v1"

// ProveExtension returns a proof that the tree with the given leaf hashes extends the tree with the
// first size leaf hashes. The error is [merkle.ErrSizes].
func ProveExtension(leaves []merkle.Hash, size uint64) (*Extension, error) {
	hashes, err := merkle.ProveConsistency(leaves, size)
	if err != nil {
		return nil, err
	}
	return &Extension{size, uint64(len(leaves)), merkle.Root(leaves[:size]), merkle.Root(leaves), hashes}, nil
}

// Check checks the proof against the sizes and roots in x. Any error is from
// [merkle.CheckConsistency].
func (x *Extension) Check() error {
	return merkle.CheckConsistency(x.Size1, x.Size2, x.Root1, x.Root2, x.Hashes)
}

// Format returns the content of the file, which ParseExtension accepts.
func (x *Extension) Format() []byte {
	b := fmt.Appendf(nil, "%s\nfrom %d %v\nto %d %v\n", extensionHeader, x.Size1, x.Root1, x.Size2, x.Root2)
	for _, h := range x.Hashes {
		b = fmt.Appendf(b, "%v\n", h)
	}
	return b
}

// ParseExtension parses a file, and accepts exactly the files that Format returns. It does not
// check the proof. The error is a *[ProofError].
func ParseExtension(text []byte) (*Extension, error) {
	malformed := func(line int, what string) (*Extension, error) {
		return nil, &ProofError{"consistency proof", line, "expected " + what}
	}

	body, ended := strings.CutSuffix(string(text), "\n")
	lines := strings.Split(body, "\n")
	if lines[0] != extensionHeader {
		return malformed(1, extensionHeader)
	}
	if !ended || len(lines) < 3 {
		return malformed(len(lines)+1, "from and to, each with a size and a root, and hashes, each on a line that ends")
	}

	// The sizes and roots are not proved. Whether they can be trusted depends on the checkpoints.
	x := new(Extension)
	var ok bool
	if x.Size1, x.Root1, ok = parseHead(lines[1], "from "); !ok {
		return malformed(2, "from, a size and a root")
	}
	if x.Size2, x.Root2, ok = parseHead(lines[2], "to "); !ok {
		return malformed(3, "to, a size and a root")
	}

	const most = 65 // a proof between trees with 64-bit sizes is never longer
	if len(lines)-3 > most {
		return malformed(3+most+1, "at most 65 hashes")
	}
	for i, line := range lines[3:] {
		h, err := merkle.ParseHash(line)
		if err != nil {
			return malformed(i+4, "the base64 of a 32-byte hash")
		}
		x.Hashes = append(x.Hashes, h)
	}

	return x, nil
}

// parseHead parses a line that consists of a word, a size, and a root.
func parseHead(line, word string) (size uint64, root merkle.Hash, ok bool) {
	rest, found := strings.CutPrefix(line, word)
	digits, text, both := strings.Cut(rest, " ")
	size, err := strconv.ParseUint(digits, 10, 64)
	if !found || !both || err != nil || strconv.FormatUint(size, 10) != digits {
		return 0, merkle.Hash{}, false
	}
	root, err = merkle.ParseHash(text)
	return size, root, err == nil
}
