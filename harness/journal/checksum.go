package journal

import (
	"bytes"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
)

// Each line ends with the SHA-256 digest of the preceding bytes, so that any changed bit in an
// acknowledged line is detected: {"at":…,"events":[…],"sum":"sha256:…"}
const (
	lineBegin = `{"at":"`
	sumBegin  = `,"sum":"`
	sumEnd    = `"}`
	sumLength = len(sumBegin) + len("sha256:") + 64 + len(sumEnd)
)

// appendSum adds the checksum to a line, which must be a JSON object.
func appendSum(text []byte) []byte {
	text = text[:len(text)-1]
	sum := canon.Sum(text).String()
	return append(append(append(text, sumBegin...), sum...), sumEnd...)
}

var errSum = errors.New("expected a commit with the checksum of its content, found another or none")

// checkSum verifies the checksum of a line.
func checkSum(text []byte) error {
	at := len(text) - sumLength
	if at < 0 || !bytes.Equal(appendSum(append(bytes.Clone(text[:at]), '}')), text) {
		return errSum
	}
	return nil
}

// sector is the number of bytes that a disk writes either completely or not at all.
const sector = 512

// lostSector reports whether a sector of the given text, which starts at the given offset in the
// file, was never written and is therefore zero. In that case, the text was not synced, so it was
// not acknowledged.
func lostSector(text []byte, at int64) bool {
	for len(text) > 0 {
		n := min(sector-int(at%sector), len(text))
		if len(bytes.Trim(text[:n], "\x00")) == 0 {
			return true
		}
		text, at = text[n:], at+int64(n)
	}
	return false
}

// cutOff reports whether the text at the end of the file, which has no line feed, is the beginning
// of a line. It returns false for other data, and for a complete line whose line feed was changed.
func cutOff(text []byte, at int64) bool {
	n := min(len(text), len(lineBegin))
	switch {
	case lostSector(text, at):
		return true
	case len(text) > MaxLine || string(text[:n]) != lineBegin[:n]:
		return false
	}
	return checkSum(text[:len(text)-1]) != nil
}
