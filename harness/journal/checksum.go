package journal

import (
	"bytes"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
)

// Each line ends with the SHA-256 of what is before it, so that no bit of what was acknowledged
// can become another one unnoticed: {"at":…,"events":[…],"sum":"sha256:…"}
const (
	lineBegin = `{"at":"`
	sumBegin  = `,"sum":"`
	sumEnd    = `"}`
	sumLength = len(sumBegin) + len("sha256:") + 64 + len(sumEnd)
)

// appendSum puts the checksum into a line, which is an object.
func appendSum(text []byte) []byte {
	text = text[:len(text)-1]
	sum := canon.Sum(text).String()
	return append(append(append(text, sumBegin...), sum...), sumEnd...)
}

var errSum = errors.New("expected a commit with the checksum of what it says, found another or none")

// checkSum compares the checksum of a line with what the line says.
func checkSum(text []byte) error {
	at := len(text) - sumLength
	if at < 0 || !bytes.Equal(appendSum(append(bytes.Clone(text[:at]), '}')), text) {
		return errSum
	}
	return nil
}

// sector is how much of a file a disk writes at least, or not at all.
const sector = 512

// lostSector reports whether of a text, which begins at a place of the file, a sector was never
// written: there it is zero. It was not synced then, so that nobody was told of it.
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

// cutOff reports whether a text at the end of the file, without a line feed, is the begin of a
// line: not something else, and not a whole line whose line feed became another character.
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
