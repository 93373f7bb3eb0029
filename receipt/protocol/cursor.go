package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
)

// A cursor names the last item of a page, as unpadded base64url.
//
//	1 byte    0x02, of this form
//	16 bytes  the first half of the SHA-256 of the name of the list
//	n bytes   what names the item in the list, 1 to 255
//
// It holds no position, so that it means the same after a restart and when there are more
// items then; and it tells a client of nothing but an item that the client was given.
const (
	cursorForm = 0x02
	cursorList = 16
	cursorLast = 255
)

// maxCursor is how many characters a cursor has at most.
const maxCursor = ((1+cursorList+cursorLast)*8 + 5) / 6

// usedForm is of cursors that were given out before: their places are gone.
const usedForm = 0x01

// FormatCursor returns the cursor behind an item of a list: what names the item there, 1 to
// 255 bytes; for none or more there is no cursor, "". The name of the list is all that makes
// it another list: the task whose receipts it holds, the path and the filters. What is asked
// with the cursor of another list is refused.
func FormatCursor(list string, last []byte) string {
	if len(last) == 0 || len(last) > cursorLast {
		return ""
	}
	name := sha256.Sum256([]byte(list))
	b := append([]byte{cursorForm}, name[:cursorList]...)
	return base64.RawURLEncoding.EncodeToString(append(b, last...))
}

// ParseCursor returns what names the item that a cursor is behind; nil without a cursor, and
// with every error. Each cursor has one spelling.
func ParseCursor(list, cursor string) (last []byte, err error) {
	if cursor == "" {
		return nil, nil
	}

	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// encoding/base64 skips line ends
	strange := err != nil || len(b) == 0 || len(cursor) > maxCursor || len(cursor) != base64.RawURLEncoding.EncodedLen(len(b))

	// A cursor of the earlier form was honestly given out: it is gone, not malformed.
	name := sha256.Sum256([]byte(list))
	switch {
	case !strange && b[0] == usedForm:
		return nil, Expired("cursor")
	case strange || len(b) <= 1+cursorList || b[0] != cursorForm || !bytes.Equal(b[1:1+cursorList], name[:cursorList]):
		return nil, BadCursor()
	}
	return b[1+cursorList:], nil
}

// BadCursor is for a cursor that no list gave out.
func BadCursor() *Error {
	return Invalid("cursor", "this cursor is none of this list; begin without one")
}
