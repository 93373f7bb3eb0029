package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A head is a checkpoint in a file.
type head struct {
	*tlog.Signed
	path string
	note []byte // verbatim
}

// readHead reads a checkpoint and verifies the signatures of those logs and witnesses.
func readHead(e *env, path string, logs []*tlog.Log, witnesses ...*tlog.Witness) (*head, error) {
	note, err := readBounded(e, path, maxNoteBytes+1)
	if err != nil {
		return nil, err
	}
	signed, err := tlog.OpenSigned(note, logs, witnesses)
	if err != nil {
		hint := "receipt batch checkpoint writes checkpoints"
		if falsified := (*tlog.SignatureError)(nil); errors.As(err, &falsified) {
			hint = "the checkpoint was changed after it was signed"
		}
		return nil, refuted(hint, "%q: %s: %s", sourceName(path), receipt.CodeCheckpointInvalid, plainMerkle(err))
	}
	return &head{signed, path, note}, nil
}

// plainMerkle is the text of an error without what the message says already.
func plainMerkle(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "merkle: "), "checkpoint: ")
}

// String is the head as messages show it.
func (h *head) String() string { return fmt.Sprintf("%s, root %v", leavesText(h.Size), h.Root) }

// leavesText is the size of a tree; a forged checkpoint can state any.
func leavesText(n uint64) string {
	if n == 1 {
		return "1 receipt"
	}
	return group3(strconv.FormatUint(n, 10)) + " receipts"
}

// readLeaves returns the leaf hashes of the receipts of the input, at most those
// of a tree of the size, and calls each with all of them.
func readLeaves(ctx context.Context, selected *selection, long bool, size uint64, each func(*stream.Document, canon.Digest)) (leaves []merkle.Hash, err error) {
	err = selected.each(ctx, long, func(d *stream.Document) error {
		hash, err := hashOf(d)
		if err != nil {
			return err
		}
		each(d, hash)
		if uint64(len(leaves)) < size {
			leaves = append(leaves, receipt.CheckpointLeaf(hash))
		}
		return nil
	})
	return leaves, err
}

// hashOf computes the hash of a receipt, which has to be the one that it states.
func hashOf(d *stream.Document) (canon.Digest, error) {
	link, placed := chain.LinkOf(d.Document)
	if d.Root().Member("schema").String() != receipt.SchemaMarker || !placed {
		return canon.Digest{}, refuted("receipt verify --integrity-only shows why", "%q: %s: a tree is over receipts", d.Address(), receipt.CodeNotAReceipt)
	}
	hash, err := chain.Hash(d.Document)
	switch {
	case errors.Is(err, chain.ErrNotObject):
		return hash, refuted("", "%q: %w", d.Address(), err)
	case err == nil && hash != link.Hash:
		err = refuted("receipt show "+shellFile(d.Address())+" shows it", "%q: %s: stated %s, computed %s", d.Address(), receipt.CodeHashMismatch, link.Hash, hash)
	}
	return hash, err
}

// over checks that a checkpoint is over the first of the leaves.
func (h *head) over(leaves []merkle.Hash) error {
	if n := uint64(len(leaves)); n < h.Size {
		return h.tooLarge(n)
	}
	return h.checkRoot(merkle.Root(leaves[:h.Size]))
}

func (h *head) tooLarge(n uint64) error {
	return refuted("give all receipts that it is over, in their order", "%s: %q is over %s, the input has %d",
		receipt.CodeTruncated, sourceName(h.path), leavesText(h.Size), n)
}

// checkRoot compares the root over as many receipts as the checkpoint is over.
func (h *head) checkRoot(root merkle.Hash) error {
	if root == h.Root {
		return nil
	}
	return refuted("give the receipts that it is over, in their order", "%s: the root over the first %s is %v, %q states %v",
		receipt.CodeMerkleRootMismatch, leavesText(h.Size), root, sourceName(h.path), h.Root)
}

// onceStdin refuses - in more than one place.
func onceStdin(places ...string) error {
	n := 0
	for _, p := range places {
		if p == stdinName {
			n++
		}
	}
	if n > 1 {
		return usage("", "- is given twice, but stdin can be read once")
	}
	return nil
}
