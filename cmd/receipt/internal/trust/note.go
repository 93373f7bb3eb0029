package trust

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// MaxNoteBytes bounds checkpoints and proofs, as package note does.
const MaxNoteBytes = 1_000_000

// PlainMerkle is the text of an error without what the message says already.
func PlainMerkle(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "merkle: "), "checkpoint: ")
}

// ReadHead reads a checkpoint and verifies the signatures of those logs and witnesses.
func ReadHead(e *cli.Env, path string, logs []*tlog.Log, witnesses ...*tlog.Witness) (*Head, error) {
	note, err := input.ReadBounded(e, path, MaxNoteBytes+1)
	if err != nil {
		return nil, err
	}
	signed, err := tlog.OpenSigned(note, logs, witnesses)
	if err != nil {
		hint := "receipt batch checkpoint writes checkpoints"
		if falsified := (*tlog.SignatureError)(nil); errors.As(err, &falsified) {
			hint = "the checkpoint was changed after it was signed"
		}
		return nil, cli.Refuted(hint, "%q: %s: %s", cli.SourceName(path), receipt.CodeCheckpointInvalid, PlainMerkle(err))
	}
	return &Head{signed, path, note}, nil
}

// A Head is a checkpoint in a file.
type Head struct {
	*tlog.Signed
	Path string
	Note []byte // verbatim
}

// String is the head as messages show it.
func (h *Head) String() string { return fmt.Sprintf("%s, root %v", LeavesText(h.Size), h.Root) }

// LeavesText is the size of a tree; a forged checkpoint can state any.
func LeavesText(n uint64) string {
	if n == 1 {
		return "1 receipt"
	}
	return cli.Group3(strconv.FormatUint(n, 10)) + " receipts"
}

// Logs returns the keys of the file that sign checkpoints.
func (f *KeyFile) Logs() (logs []*tlog.Log, byLog map[*tlog.Log]*receipt.Key) {
	byLog = map[*tlog.Log]*receipt.Key{}
	for _, k := range f.Set.NoteKeys() {
		if !k.Has(receipt.RoleCheckpoint) || k.Origin == "" {
			continue
		}
		if log, err := tlog.NewLog(k.Origin, k.Public); err == nil {
			logs = append(logs, log)
			byLog[log] = k.Key
		}
	}
	return logs, byLog
}

// Over checks that a checkpoint is over the first of the leaves.
func (h *Head) Over(leaves []merkle.Hash) error {
	if n := uint64(len(leaves)); n < h.Size {
		return h.TooLarge(n)
	}
	return h.CheckRoot(merkle.Root(leaves[:h.Size]))
}

// TooLarge is the failure for a checkpoint over more receipts than there are.
func (h *Head) TooLarge(n uint64) error {
	return cli.Refuted("give all receipts that it is over, in their order", "%s: %q is over %s, the input has %d",
		receipt.CodeTruncated, cli.SourceName(h.Path), LeavesText(h.Size), n)
}

// CheckRoot compares the root over as many receipts as the checkpoint is over.
func (h *Head) CheckRoot(root merkle.Hash) error {
	if root == h.Root {
		return nil
	}
	return cli.Refuted("give the receipts that it is over, in their order", "%s: the root over the first %s is %v, %q states %v",
		receipt.CodeMerkleRootMismatch, LeavesText(h.Size), root, cli.SourceName(h.Path), h.Root)
}
