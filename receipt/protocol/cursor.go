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
// It contains no position, so it stays valid after a restart and when items are added. The name
// reveals only an item that the client has already seen.
const (
	cursorForm = 0x02
	cursorList = 16
	cursorLast = 255
)

// maxCursor is the maximum length of a cursor in characters.
const maxCursor = ((1+cursorList+cursorLast)*8 + 5) / 6

// usedForm is the format of cursors that earlier versions returned. The positions in these cursors
// no longer exist.
const usedForm = 0x01

// FormatCursor returns the cursor that follows an item in a list. last is the item's name, which
// has 1 to 255 bytes; for any other length, the cursor is "". Lists with different names are
// different lists. The name includes the path and the filters, or the task whose receipts are
// listed. A cursor for a different list is rejected.
func FormatCursor(list string, last []byte) string {
	if len(last) == 0 || len(last) > cursorLast {
		return ""
	}
	name := sha256.Sum256([]byte(list))
	b := append([]byte{cursorForm}, name[:cursorList]...)
	return base64.RawURLEncoding.EncodeToString(append(b, last...))
}

// ParseCursor returns the name of the item that precedes a cursor. The result is nil if there is no
// cursor, and for every error. Each cursor has one spelling.
func ParseCursor(list, cursor string) (last []byte, err error) {
	if cursor == "" {
		return nil, nil
	}

	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// encoding/base64 skips line ends
	strange := err != nil || len(b) == 0 || len(cursor) > maxCursor || len(cursor) != base64.RawURLEncoding.EncodedLen(len(b))

	// A cursor in the earlier format was once valid, so it is expired, not malformed.
	name := sha256.Sum256([]byte(list))
	switch {
	case !strange && b[0] == usedForm:
		return nil, Expired("cursor")
	case strange || len(b) <= 1+cursorList || b[0] != cursorForm || !bytes.Equal(b[1:1+cursorList], name[:cursorList]):
		return nil, BadCursor()
	}
	return b[1+cursorList:], nil
}

// BadCursor returns a 400 error for a cursor that no list returned.
func BadCursor() *Error {
	return Invalid("cursor", "this cursor is none of this list; begin without one")
}
