package tlog

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/merkle"
)

// A Proof is a C2SP tlog-proof file, which contains a checkpoint and a proof of inclusion in the
// checkpoint's tree.
//
//	c2sp.org/tlog-proof@v1
//	extra <base64>          optional, opaque, not authenticated
//	index <decimal>
//	<base64 hash>           from the sibling of the leaf to the child of the root
//	                        (an empty line)
//	<the signed checkpoint>
type Proof struct {
	Extra      []byte // nil if absent
	Index      uint64
	Hashes     []merkle.Hash
	Checkpoint []byte // a signed note, verbatim
}

const proofHeader = "c2sp.org/tlog-proof@v1"

// A ProofError describes a malformed line in a proof file.
type ProofError struct {
	Format string // "tlog-proof" or "consistency proof"
	Line   int    // from 1
	Detail string
}

// Error returns the format, the line, and the detail.
func (e *ProofError) Error() string {
	return fmt.Sprintf("merkle: malformed %s, line %d: %s", e.Format, e.Line, e.Detail)
}

// Format returns the content of the file, which ParseProof accepts.
func (p *Proof) Format() []byte {
	b := []byte(proofHeader + "\n")
	if p.Extra != nil {
		b = fmt.Appendf(b, "extra %s\n", base64.StdEncoding.EncodeToString(p.Extra))
	}
	b = fmt.Appendf(b, "index %d\n", p.Index)
	for _, h := range p.Hashes {
		b = fmt.Appendf(b, "%v\n", h)
	}
	return append(append(b, '\n'), p.Checkpoint...)
}

// ParseProof parses the content of a tlog-proof file. It does not open the checkpoint. The error is
// a *[ProofError].
func ParseProof(text []byte) (*Proof, error) {
	malformed := func(line int, what string) (*Proof, error) {
		return nil, &ProofError{"tlog-proof", line, "expected " + what}
	}

	// The first empty line ends the proof, and the checkpoint follows (C2SP tlog-proof).
	head, checkpoint, found := strings.Cut(string(text), "\n\n")
	lines := strings.Split(head, "\n")
	if lines[0] != proofHeader {
		return malformed(1, proofHeader)
	}
	if !found {
		return malformed(len(lines)+1, "an empty line and a signed checkpoint")
	}

	p := &Proof{Checkpoint: []byte(checkpoint)}
	next := 1
	if next < len(lines) && strings.HasPrefix(lines[next], "extra ") {
		extra, ok := strictBase64(strings.TrimPrefix(lines[next], "extra "))
		if !ok {
			return malformed(next+1, "base64 behind extra")
		}
		p.Extra = extra
		next++
	}

	// The index has only one spelling, without leading zeros.
	if next == len(lines) {
		return malformed(next+1, "index and a number")
	}
	digits, ok := strings.CutPrefix(lines[next], "index ")
	index, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || strconv.FormatUint(index, 10) != digits {
		return malformed(next+1, "index and a number")
	}
	p.Index = index
	next++

	const most = 64 // a path in a tree with a 64-bit size is never longer
	if len(lines)-next > most {
		return malformed(next+most+1, "at most 64 hashes")
	}
	for ; next < len(lines); next++ {
		h, err := merkle.ParseHash(lines[next])
		if err != nil {
			return malformed(next+1, "the base64 of a 32-byte hash")
		}
		p.Hashes = append(p.Hashes, h)
	}

	return p, nil
}

func strictBase64(s string) ([]byte, bool) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || base64.StdEncoding.EncodeToString(b) != s {
		return nil, false
	}
	return append([]byte{}, b...), true // present, even if empty
}
