package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// maxNoteBytes bounds checkpoints and proofs, as package note does.
const maxNoteBytes = 1_000_000

// plainMerkle is the text of an error without what the message says already.
func plainMerkle(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "merkle: "), "checkpoint: ")
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

// A head is a checkpoint in a file.
type head struct {
	*tlog.Signed
	path string
	note []byte // verbatim
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

// logs returns the keys of the file that sign checkpoints.
func (f *keyFile) logs() (logs []*tlog.Log, byLog map[*tlog.Log]*receipt.Key) {
	byLog = map[*tlog.Log]*receipt.Key{}
	for _, k := range f.set.NoteKeys() {
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
