package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// maxCosigned is the maximum size of a witness's state file.
const maxCosigned = 64 << 20

// A claim is a line in a witness's state file. It records a tree that the witness cosigned.
type claim struct {
	Origin string `json:"origin"`
	Size   uint64 `json:"size"`
	Root   string `json:"root"` // base64, as in a checkpoint
}

// ClaimsOf returns the path of the state file for a witness whose key is not in a file. The state
// file is in the user's configuration directory, and its name is the fingerprint of the key.
func ClaimsOf(e *cli.Env, key *keys.PublicKey) (string, error) {
	dir := cli.ConfigFile(e, "cosigned")
	if dir == "" {
		return "", cli.Usage("--state FILE records what the witness cosigned; use the same file every time", "the key %q is not in a file, and the user has no configuration directory", key.ID)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", cli.Usage("specify another file with --state", "%q: %w", dir, cli.Reason(err))
	}
	return filepath.Join(dir, key.Fingerprint()), nil
}

// Claim durably records in a state file that a witness cosigns a checkpoint. For each log, it
// rejects a second tree of the same size, and a tree that is smaller than one that the witness has
// already cosigned.
//
// Claims are only appended and never changed. After a process has appended its claim, it reads the
// file again. Only the first claim for a size is valid. Therefore, if two processes cosign
// different trees of the same size at the same time, one process is rejected.
func Claim(path string, h *Head) error {
	mine := claim{h.Origin, h.Size, h.Root.String()}
	held, err := readClaims(path)
	if err != nil {
		return err
	}
	if known, err := mine.judge(held, path); err != nil || known {
		return err
	}

	// The claim is valid only if no other process has claimed the size in the meantime.
	if err := appendClaim(path, mine); err != nil {
		return cli.Usage("specify another file with --state", "--state %q: %w", path, cli.Reason(err))
	}
	if held, err = readClaims(path); err != nil {
		return err
	}
	_, err = mine.judge(held, path)
	return err
}

// judge compares a claim with earlier claims. The result known reports whether an earlier claim is
// the same as this claim.
func (c *claim) judge(held []claim, path string) (known bool, err error) {
	for _, h := range held {
		switch {
		case h.Origin != c.Origin:
		case h == *c:
			return true, nil
		case h.Size == c.Size:
			return false, cli.Refuted("keep both checkpoints as evidence that the log presented two trees of the same size",
				"%s: the witness cosigned another tree of %s of %q: root %s, not %s (%q); nothing was cosigned",
				receipt.CodeMerkleRootMismatch, LeavesText(c.Size), c.Origin, h.Root, c.Root, path)
		case h.Size > c.Size:
			return false, cli.Refuted("ask the log for its latest checkpoint",
				"%s: the witness cosigned a tree of %s of %q before, but this tree has %d (%q); nothing was cosigned",
				receipt.CodeTruncated, LeavesText(h.Size), c.Origin, c.Size, path)
		}
	}
	return false, nil
}

// readClaims reads a state file. A missing file is treated as empty. A line that was cut off when it
// was written is ignored, because nothing was cosigned for it.
func readClaims(path string) (list []claim, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, cli.Usage("specify another file with --state", "--state %q: %w", path, cli.Reason(err))
	}
	defer f.Close()

	data, err := io.ReadAll(io.LimitReader(f, maxCosigned+1))
	if err == nil && len(data) > maxCosigned {
		err = fmt.Errorf("more than %d bytes", maxCosigned)
	}
	if err != nil {
		return nil, cli.Usage("", "--state %q: %w", path, cli.Reason(err))
	}

	for number := 1; len(data) > 0; number++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(line) == 0 {
			continue
		}

		// After a crash, or on a full disk, the last line may be incomplete. The next claim then
		// follows it without an empty line. Any other invalid line could hide a tree, so it is an
		// error.
		c, ok := parseClaim(line)
		if !ok && (!whole || len(data) > 0 && data[0] != '\n') {
			continue
		}
		if !ok {
			return nil, cli.Usage("use a file from receipt batch cosign", "--state %q, line %d: expected {\"origin\":…,\"size\":…,\"root\":…}", path, number)
		}
		list = append(list, c)
	}
	return list, nil
}

// parseClaim parses one line strictly, because a line that is misread could hide a tree.
func parseClaim(line []byte) (c claim, ok bool) {
	doc, err := canon.Parse(line)
	if err != nil || doc.Root().Len() != 3 {
		return c, false
	}

	// The names must match exactly, because encoding/json ignores case.
	for _, name := range []string{"origin", "size", "root"} {
		if doc.Root().Member(name).IsZero() {
			return c, false
		}
	}
	return c, json.Unmarshal(line, &c) == nil
}

// appendClaim appends a line and syncs the file.
func appendClaim(path string, c claim) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	// The line begins with a line feed, in case the last line of the file lacks one.
	return cli.AppendFile(path, append(append([]byte("\n"), line...), '\n'), 0o600)
}
