package trust

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// MaxNoteBytes is the maximum size of checkpoints and proofs, in bytes. It is the same as in
// package note.
const MaxNoteBytes = 1_000_000

// PlainMerkle formats an error about a checkpoint or a proof for a message that already contains
// the file and the code.
func PlainMerkle(err error) string {
	var (
		checkpoint *tlog.CheckpointError
		signature  *tlog.SignatureError
		proof      *tlog.ProofError
		name       *tlog.NameError
		policy     *tlog.PolicyError
		length     *merkle.LengthError
		root       *merkle.RootError
	)

	switch {
	case errors.As(err, &checkpoint) && checkpoint.Line > 0:
		return fmt.Sprintf("checkpoint, line %d: %s", checkpoint.Line, checkpoint.Detail)
	case errors.As(err, &checkpoint):
		return checkpoint.Detail
	case errors.As(err, &signature):
		return fmt.Sprintf("the signature of %q (key id %08x) is invalid", signature.Name, signature.KeyHash)
	case errors.As(err, &proof):
		return fmt.Sprintf("malformed %s, line %d: %s", proof.Format, proof.Line, proof.Detail)
	case errors.As(err, &policy) && policy.Line > 0:
		return fmt.Sprintf("policy, line %d: %s", policy.Line, policy.Detail)
	case errors.As(err, &policy):
		return "policy: " + policy.Detail
	case errors.As(err, &name):
		return fmt.Sprintf("the name %.80q of a note key is empty, or has a space or a plus", name.Name)
	case errors.As(err, &length):
		return fmt.Sprintf("a proof of %d hashes, expected %d", length.Found, length.Want)
	case errors.As(err, &root):
		return fmt.Sprintf("the proof leads to the root %v of the tree of size %d, expected %v", root.Computed, root.Size, root.Want)
	}
	return err.Error()
}

// ReadHead reads a checkpoint, and verifies the signatures of the given logs and witnesses.
func ReadHead(e *cli.Env, path string, logs []*tlog.Log, witnesses ...*tlog.Witness) (*Head, error) {
	note, err := input.ReadBounded(e, path, MaxNoteBytes+1)
	if err != nil {
		return nil, err
	}
	if err := notCheckpoint(path, note); err != nil {
		return nil, err
	}

	signed, err := tlog.OpenSigned(note, logs, witnesses)
	if err != nil {
		hint := "create a checkpoint with receipt batch checkpoint"
		if falsified := (*tlog.SignatureError)(nil); errors.As(err, &falsified) {
			hint = "the checkpoint was changed after it was signed"
		}
		return nil, cli.Refuted(hint, "%q: %s: %s", cli.SourceName(path), receipt.CodeCheckpointInvalid, PlainMerkle(err))
	}
	return &Head{signed, path, note}, nil
}

// A Head is a checkpoint from a file.
type Head struct {
	*tlog.Signed
	Path string
	Note []byte // unchanged
}

// String formats the head for messages.
func (h *Head) String() string { return fmt.Sprintf("%s, root %v", LeavesText(h.Size), h.Root) }

// LeavesText formats the size of a tree. A forged checkpoint can contain any size, so n is not
// limited.
func LeavesText(n uint64) string {
	if n == 1 {
		return "1 receipt"
	}
	return cli.Group3(strconv.FormatUint(n, 10)) + " receipts"
}

// Over returns a failure unless the checkpoint has the root of the first h.Size leaves.
func (h *Head) Over(leaves []merkle.Hash) error {
	if n := uint64(len(leaves)); n < h.Size {
		return h.TooLarge(n)
	}

	return h.CheckRoot(merkle.Root(leaves[:h.Size]))
}

// TooLarge returns the failure for a checkpoint that covers more receipts than exist.
func (h *Head) TooLarge(n uint64) error {
	return cli.Refuted("specify all receipts that it covers, in their order", "%s: %q covers %s, but the input has %d",
		receipt.CodeTruncated, cli.SourceName(h.Path), LeavesText(h.Size), n)
}

// CheckRoot compares the checkpoint's root with the root of the same number of receipts.
func (h *Head) CheckRoot(root merkle.Hash) error {
	if root == h.Root {
		return nil
	}
	return cli.Refuted("specify the receipts that it covers, in their order", "%s: the root of the first %s is %v, but %q states %v",
		receipt.CodeMerkleRootMismatch, LeavesText(h.Size), root, cli.SourceName(h.Path), h.Root)
}
