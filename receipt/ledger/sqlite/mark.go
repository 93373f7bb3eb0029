package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/receiptkit/receiptkit/canon"
)

// A mark is the state of a ledger after its last write. It is stored next to the ledger, in
// FILE-head, because the ledger itself does not show that its end was cut off, or was only in a
// lost -wal.
type mark struct {
	ledger   string       // its name, 32 random hex digits
	commits  int64        // the number of writes
	sequence int64        // of the newest receipt, 0: none
	hash     canon.Digest // of that receipt
}

const headSuffix = "-head"

// The file has two places of markBytes, which are written in turn, so a torn write leaves the
// previous mark. A mark is written after the log was synced, and is not synced itself. After a
// power failure it may therefore be an older mark, which is also correct, and never one that is
// ahead of the ledger.
const (
	markBytes  = 512
	markPlaces = 2
	markFormat = "receipt ledger head 1\nledger %s\ncommits %d\nnewest %d %v\n"
)

// text returns a mark and the beginning of its digest, with line feeds up to its size.
func (m mark) text() []byte {
	body := fmt.Sprintf(markFormat, m.ledger, m.commits, m.sequence, m.hash)
	text := make([]byte, 0, markBytes)
	text = fmt.Appendf(text, "%scheck %s\n", body, checkOf(body))
	return append(text, bytes.Repeat([]byte{'\n'}, markBytes-len(text))...)
}

func checkOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:8])
}

// parseMark is the inverse of text. A damaged mark is not a mark.
func parseMark(text []byte) (m mark, ok bool) {
	var hash string
	if _, err := fmt.Fscanf(bytes.NewReader(text), "receipt ledger head 1\nledger %32s\ncommits %d\nnewest %d %71s\n", &m.ledger, &m.commits, &m.sequence, &hash); err != nil {
		return mark{}, false
	}
	var err error
	if m.hash, err = canon.ParseDigest(hash); err != nil || !bytes.Equal(m.text(), text) {
		return mark{}, false
	}
	return m, true
}

// readMark returns the newer mark of a file, and whether there is one. A file that is absent,
// damaged, or unreadable has none.
func readMark(path string) (newest mark, ok bool) {
	f, err := os.Open(path + headSuffix)
	if err != nil {
		return mark{}, false
	}
	defer f.Close()

	text := make([]byte, markPlaces*markBytes)
	n, err := io.ReadFull(f, text)
	if err != nil && err != io.ErrUnexpectedEOF {
		return mark{}, false
	}

	// A torn write leaves the mark in the other place intact.
	for text = text[:n]; len(text) >= markBytes; text = text[markBytes:] {
		if m, good := parseMark(text[:markBytes]); good && (!ok || m.commits > newest.commits) {
			newest, ok = m, true
		}
	}

	return newest, ok
}

// openHead opens FILE-head of a ledger for writing. Whoever may write to the ledger may write to
// that file.
func openHead(path string) (*os.File, error) {
	f, err := os.OpenFile(path+headSuffix, os.O_RDWR, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}

	// The new file has the ledger's permissions, regardless of the umask.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if f, err = os.OpenFile(path+headSuffix, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if err := f.Chmod(info.Mode().Perm()); err != nil {
		return nil, errors.Join(err, f.Close())
	}

	return f, nil
}

// write writes a mark into the place whose turn it is.
func (m mark) write(path string) error {
	f, err := openHead(path)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(m.text(), m.commits%markPlaces*markBytes)
	return errors.Join(err, f.Close())
}

// A RolledBackError indicates that a ledger has less than its mark records: its end was cut off,
// its -wal is lost, or it is an older copy or another ledger.
type RolledBackError struct {
	Path   string
	Detail string // the recorded and the actual state
}

func (e *RolledBackError) Error() string {
	return fmt.Sprintf("ledger: %q %s; find the file, or the -wal, that has the rest; who goes on with what is left removes %q", e.Path, e.Detail, e.Path+headSuffix)
}

// markOf returns the current mark of a ledger, and the version of its tables.
func markOf(ctx context.Context, q querier) (m mark, version int, err error) {
	var hash []byte
	err = q.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version), lower(hex(ledger)), commits, ifnull(r.seq, 0), r.hash
FROM state LEFT JOIN (SELECT seq, hash FROM receipts ORDER BY seq DESC LIMIT 1) r`).Scan(&version, &m.ledger, &m.commits, &m.sequence, &hash)

	copy(m.hash[:], hash)
	return m, version, err
}

// reached makes sure that the ledger at path, whose current mark is is, has everything that a mark
// records. The error is a *RolledBackError, or one of reading.
func (m mark) reached(ctx context.Context, q querier, path string, is mark) error {
	if is.ledger != m.ledger {
		return &RolledBackError{path, "is another ledger than the one that was here"}
	}
	if is.commits < m.commits {
		return &RolledBackError{path, fmt.Sprintf("was written into %d times, and has what it had after %d; its newest receipt was number %d of all, with the hash %v, and is now number %d, with the hash %v",
			m.commits, is.commits, m.sequence, m.hash, is.sequence, is.hash)}
	}
	if is.sequence == m.sequence && is.hash == m.hash {
		return nil
	}
	if m.sequence == 0 {
		return nil
	}

	// Others have written since. The receipt that the mark names must still be stored.
	var hash []byte
	err := q.QueryRowContext(ctx, "SELECT hash FROM receipts WHERE seq = ?", m.sequence).Scan(&hash)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return &RolledBackError{path, fmt.Sprintf("had the receipt with the hash %v, number %d of all, and has it no more", m.hash, m.sequence)}
	case err == nil && !bytes.Equal(hash, m.hash[:]):
		return &RolledBackError{path, fmt.Sprintf("had the receipt with the hash %v, number %d of all, and has another one there", m.hash, m.sequence)}
	}

	return err
}
