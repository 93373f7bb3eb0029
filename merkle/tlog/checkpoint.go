package tlog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/merkle"
)

// A Checkpoint is a statement by a log about its tree at a point in time (C2SP tlog-checkpoint).
// Its string form is the text of a signed note, in which each line ends with LF:
//
//	origin           one line, the name of the log, which is also the name of its key
//	size             decimal, no leading zeros
//	root             base64, 44 characters
//	extensions       further lines, opaque, not recommended
//
// A log must never sign two checkpoints unless the tree of one of them extends the tree of the
// other.
type Checkpoint struct {
	Origin     string
	Size       uint64
	Root       merkle.Hash
	Extensions []string
}

// A CheckpointError describes how a checkpoint or its note is malformed.
type CheckpointError struct {
	Line   int // line number, from 1; 0 if the error concerns the entire note or its signatures
	Detail string
}

// Error returns the line number, if known, and the detail.
func (e *CheckpointError) Error() string {
	if e.Line == 0 {
		return "merkle: checkpoint: " + e.Detail
	}
	return fmt.Sprintf("merkle: checkpoint, line %d: %s", e.Line, e.Detail)
}

// String returns the note text.
func (c *Checkpoint) String() string {
	lines := append([]string{c.Origin, strconv.FormatUint(c.Size, 10), c.Root.String()}, c.Extensions...)
	return strings.Join(lines, "\n") + "\n"
}

// ParseCheckpoint parses the text of a note, without its signatures. It accepts exactly the strings
// that String returns. The error is a *[CheckpointError].
func ParseCheckpoint(text string) (*Checkpoint, error) {
	c, err := parseText(text)
	// The hash of an empty list is the hash of an empty string (RFC 9162 section 2.1.1).
	if err == nil && c.Size == 0 && c.Root != merkle.EmptyRoot() {
		return nil, &CheckpointError{3, "a tree of size 0 has another root"}
	}
	return c, err
}

// parseText parses the text of a note, without comparing the size and the root.
func parseText(text string) (*Checkpoint, error) {
	body, ended := strings.CutSuffix(text, "\n")
	lines := strings.Split(body, "\n")
	if !ended || len(lines) < 3 {
		return nil, &CheckpointError{len(lines), "expected an origin, a size and a root, each on a line"}
	}

	// Lines are not empty (C2SP tlog-checkpoint). They contain no control characters (C2SP
	// signed-note).
	for i, line := range lines {
		if line == "" {
			return nil, &CheckpointError{i + 1, "the line is empty"}
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '\ufffd' }) {
			return nil, &CheckpointError{i + 1, "the line holds a control character"}
		}
	}

	size, err := strconv.ParseUint(lines[1], 10, 64)
	if err != nil || strconv.FormatUint(size, 10) != lines[1] { // one spelling only
		return nil, &CheckpointError{2, fmt.Sprintf("expected a decimal size without leading zeros, found %.40q", lines[1])}
	}

	root, err := merkle.ParseHash(lines[2])
	if err != nil {
		return nil, &CheckpointError{3, fmt.Sprintf("expected the base64 of 32 bytes, found %.60q", lines[2])}
	}

	c := &Checkpoint{Origin: lines[0], Size: size, Root: root}
	if len(lines) > 3 {
		c.Extensions = lines[3:]
	}

	return c, nil
}
