package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"

	"github.com/receiptkit/receiptkit/canon"
)

// A cursor names the last receipt of a page: 49 bytes as unpadded base64url, 66
// characters.
//
//	1 byte    0x02, of this form
//	16 bytes  the first half of the SHA-256 of the task
//	32 bytes  the receipt's hash
//
// It holds no position, so that it means the same after a restart and when there are
// more receipts then; and it tells a client of nothing but a receipt that the client
// was given.
const (
	cursorForm  = 0x02
	cursorTask  = 16
	cursorBytes = 1 + cursorTask + len(canon.Digest{})
)

// usedForm is of cursors that were given out before: their places are gone.
const usedForm = 0x01

func cursorBehind(task string, last canon.Digest) string {
	list := sha256.Sum256([]byte(task))
	b := append([]byte{cursorForm}, list[:cursorTask]...)
	return base64.RawURLEncoding.EncodeToString(append(b, last[:]...))
}

// parseCursor returns the hash of the last receipt of the page before, zero without a
// cursor.
func parseCursor(task, cursor string) (after canon.Digest, err error) {
	if cursor == "" {
		return after, nil
	}

	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// encoding/base64 skips line ends
	strange := err != nil || len(b) == 0 || len(cursor) != base64.RawURLEncoding.EncodedLen(len(b))

	// A cursor of the earlier form was honestly given out: it is gone, not malformed.
	list := sha256.Sum256([]byte(task))
	switch {
	case !strange && b[0] == usedForm:
		return after, expired()
	case strange || len(b) != cursorBytes || b[0] != cursorForm || !bytes.Equal(b[1:1+cursorTask], list[:cursorTask]):
		return after, invalid("cursor", "this cursor is none of this list; begin without one")
	}

	// The zero hash would be the beginning of the list.
	if after = canon.Digest(b[1+cursorTask:]); after.IsZero() {
		return after, invalid("cursor", "this cursor is none of this list; begin without one")
	}
	return after, nil
}
