package file

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/receiptkit/receiptkit/canon"
)

// A Mark describes the state of a ledger after its last write. It is stored next to the ledger, in
// FILE-head, because the ledger itself does not show whether its end was cut off or was lost
// together with the -wal file.
type Mark struct {
	Ledger   string       // name of the ledger, which consists of 32 random hexadecimal digits
	Commits  int64        // number of writes
	Sequence int64        // sequence number of the newest receipt, or 0
	Hash     canon.Digest // of that receipt
}

// HeadSuffix is appended to the path of a ledger to form the path of FILE-head.
const HeadSuffix = "-head"

// FILE-head has two slots of markBytes, which are written alternately, so that the previous mark
// remains intact if a write is torn. A mark is written after the log has been synced, but the mark
// itself is not synced. After a power failure, FILE-head may therefore contain an older mark, which
// is also correct, but it never contains a mark that is ahead of the ledger.
const (
	markBytes  = 512
	markPlaces = 2
	markFormat = "receipt ledger head 1\nledger %s\ncommits %d\nnewest %d %v\n"
)

// text returns a mark, followed by the beginning of its digest and padded to markBytes with line
// feeds.
func (m Mark) text() []byte {
	body := fmt.Sprintf(markFormat, m.Ledger, m.Commits, m.Sequence, m.Hash)
	text := make([]byte, 0, markBytes)
	text = fmt.Appendf(text, "%scheck %s\n", body, checkOf(body))
	return append(text, bytes.Repeat([]byte{'\n'}, markBytes-len(text))...)
}

func checkOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:8])
}

// parseMark is the inverse of text. A damaged mark is treated as absent.
func parseMark(text []byte) (m Mark, ok bool) {
	var hash string
	if _, err := fmt.Fscanf(bytes.NewReader(text), "receipt ledger head 1\nledger %32s\ncommits %d\nnewest %d %71s\n", &m.Ledger, &m.Commits, &m.Sequence, &hash); err != nil {
		return Mark{}, false
	}
	var err error
	if m.Hash, err = canon.ParseDigest(hash); err != nil || !bytes.Equal(m.text(), text) {
		return Mark{}, false
	}
	return m, true
}

// ReadMark returns the newer of the marks in a file, and reports whether there is one. A file that
// is absent, damaged, or unreadable contains no mark.
func ReadMark(path string) (newest Mark, ok bool) {
	f, err := os.Open(path + HeadSuffix)
	if err != nil {
		return Mark{}, false
	}
	defer f.Close()

	text := make([]byte, markPlaces*markBytes)
	n, err := io.ReadFull(f, text)
	if err != nil && err != io.ErrUnexpectedEOF {
		return Mark{}, false
	}

	// If a write was torn, the mark in the other slot is intact.
	for text = text[:n]; len(text) >= markBytes; text = text[markBytes:] {
		if m, good := parseMark(text[:markBytes]); good && (!ok || m.Commits > newest.Commits) {
			newest, ok = m, true
		}
	}

	return newest, ok
}

// openHead opens the FILE-head of a ledger for writing. FILE-head has the permissions of the
// ledger, so that every process that may write to the ledger may also write to FILE-head.
func openHead(path string) (*os.File, error) {
	f, err := os.OpenFile(path+HeadSuffix, os.O_RDWR, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}

	// A new file gets the permissions of the ledger, regardless of the umask.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if f, err = os.OpenFile(path+HeadSuffix, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if err := f.Chmod(info.Mode().Perm()); err != nil {
		return nil, errors.Join(err, f.Close())
	}

	return f, nil
}

// Touch creates FILE-head if it does not exist.
func Touch(path string) error {
	f, err := openHead(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// Write writes a mark to the next slot.
func (m Mark) Write(path string) error {
	f, err := openHead(path)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(m.text(), m.Commits%markPlaces*markBytes)
	return errors.Join(err, f.Close())
}

// A RolledBackError indicates that a ledger lacks data that its mark records, because its end was
// cut off, its -wal file is lost, or it is an older copy or a different ledger.
type RolledBackError struct {
	Path   string
	Detail string // recorded and actual state
}

func (e *RolledBackError) Error() string {
	return fmt.Sprintf("ledger: %q %s; restore the file or its -wal from the copy that has the rest; to continue without the rest, remove %q", e.Path, e.Detail, e.Path+HeadSuffix)
}

// Reached checks that the ledger at path contains everything that the mark m records. The second
// argument is the current mark of the ledger. stored looks up the hash of a receipt by sequence
// number, and reports whether the receipt is stored. The error is a *[RolledBackError], or an error
// from stored.
func (m Mark) Reached(path string, is Mark, stored func(sequence int64) (canon.Digest, bool, error)) error {
	if is.Ledger != m.Ledger {
		return &RolledBackError{path, "is another ledger than the one that was here"}
	}
	if is.Commits < m.Commits {
		return &RolledBackError{path, fmt.Sprintf("was written into %d times, and has what it had after %d; its newest receipt was number %d of all, with the hash %v, and is now number %d, with the hash %v",
			m.Commits, is.Commits, m.Sequence, m.Hash, is.Sequence, is.Hash)}
	}
	if is.Sequence == m.Sequence && is.Hash == m.Hash || m.Sequence == 0 {
		return nil
	}

	// Other processes have written to the ledger since then. The receipt that the mark records must
	// still be stored.
	hash, ok, err := stored(m.Sequence)
	switch {
	case err != nil:
		return err
	case !ok:
		return &RolledBackError{path, fmt.Sprintf("no longer contains the receipt with the hash %v, number %d of all", m.Hash, m.Sequence)}
	case hash != m.Hash:
		return &RolledBackError{path, fmt.Sprintf("had the receipt with the hash %v, number %d of all, and has another one there", m.Hash, m.Sequence)}
	}
	return nil
}
