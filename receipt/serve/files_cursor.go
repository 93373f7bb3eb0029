package serve

import (
	"bytes"
	"encoding/base64"
	"slices"
)

// A cursor names the last receipt of a page: 33 bytes as unpadded base64url, 44
// characters.
//
//	1 byte    0x01, of this form
//	16 bytes  the fingerprint of the task
//	16 bytes  the first half of the receipt's digest in the index
//
// It holds no position, so that it means the same after a restart, and also when
// there are more files then.
const (
	cursorForm  = 0x01
	cursorBytes = 1 + 2*len(fingerprint{})
)

func (f *Files) cursor(task fingerprint, number int32) string {
	b := append([]byte{cursorForm}, task[:]...)
	b = append(b, f.entries[number].digest[:len(fingerprint{})]...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// behind returns what follows a cursor in the list of a task.
func (f *Files) behind(list []place, task fingerprint, cursor string) ([]place, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// encoding/base64 skips line ends
	if err != nil || len(b) != cursorBytes || len(cursor) != base64.RawURLEncoding.EncodedLen(cursorBytes) ||
		b[0] != cursorForm || !bytes.Equal(b[1:1+len(task)], task[:]) {
		return nil, ErrCursor
	}
	half := b[1+len(task):]
	i := slices.IndexFunc(list, func(p place) bool { return bytes.Equal(f.entries[p.entry].digest[:len(half)], half) })
	if i < 0 {
		return nil, ErrCursor
	}
	return list[i+1:], nil
}
