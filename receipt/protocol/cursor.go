package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
)

// A cursor identifies the last item on a page, and is encoded as unpadded base64url.
//
//	1 byte    0x02, of this form
//	16 bytes  the first half of the SHA-256 of the name of the list
//	n bytes   what names the item in the list, 1 to 255
//
// A cursor contains no position, so it stays valid after a restart and when items are added. A
// cursor reveals only the name of an item that the client has already seen.
const (
	cursorForm = 0x02
	cursorList = 16
	cursorLast = 255
)

// maxCursor is the maximum length of a cursor in characters.
const maxCursor = ((1+cursorList+cursorLast)*8 + 5) / 6

// usedForm is the first byte of cursors from earlier versions, which contained positions. These
// positions no longer exist.
const usedForm = 0x01

// FormatCursor returns a cursor for the position after an item in a list. last is the name of the
// item, which must have 1 to 255 bytes. For any other length, the cursor is "". Lists with
// different names are distinct. The name of a list includes the path and the filters, or the task
// whose receipts are listed. ParseCursor rejects a cursor from a different list.
func FormatCursor(list string, last []byte) string {
	if len(last) == 0 || len(last) > cursorLast {
		return ""
	}
	name := sha256.Sum256([]byte(list))
	b := append([]byte{cursorForm}, name[:cursorList]...)
	return base64.RawURLEncoding.EncodeToString(append(b, last...))
}

// ParseCursor returns the name of the item that a cursor refers to; the page begins after this
// item. The result is nil if cursor is "", and also if there is an error. Each cursor has exactly
// one accepted spelling.
func ParseCursor(list, cursor string) (last []byte, err error) {
	if cursor == "" {
		return nil, nil
	}

	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// encoding/base64 ignores line breaks
	strange := err != nil || len(b) == 0 || len(cursor) > maxCursor || len(cursor) != base64.RawURLEncoding.EncodedLen(len(b))

	// A cursor in the earlier format was once valid, so it is reported as expired, not as
	// malformed.
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
