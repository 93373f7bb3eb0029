package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/receiptkit/receiptkit/canon"
)

// A head describes the journal after the last write. It is stored in FILE-head, because the journal
// itself cannot show that lines at its end are missing.
type head struct {
	size   int64        // length of the file in bytes
	events int          // number of events
	sum    canon.Digest // checksum of the last line
}

const headSuffix = "-head"

// The file has two slots of one sector each, which are written alternately, so that a torn write
// leaves the previous head intact. A head is written after its line is on disk, but the head itself
// is not synced. After a power failure, the file may contain an older head, which is still correct.
// A head is never ahead of the journal.
const (
	headPlaces = 2
	headFormat = "receipt journal head 1\nbytes %d\nevents %d\nsum %v\n"
)

// text formats the head with its checksum, padded with line feeds to the size of a sector.
func (h head) text() []byte {
	body := fmt.Sprintf(headFormat, h.size, h.events, h.sum)
	text := make([]byte, 0, sector)
	text = fmt.Appendf(text, "%scheck %v\n", body, canon.Sum([]byte(body)))
	return append(text, bytes.Repeat([]byte{'\n'}, sector-len(text))...)
}

// parseHead parses a head in the format that text returns.
func parseHead(text []byte) (h head, ok bool) {
	var sum string
	_, err := fmt.Fscanf(bytes.NewReader(text), "receipt journal head 1\nbytes %d\nevents %d\nsum %71s\n", &h.size, &h.events, &sum)
	if err != nil {
		return head{}, false
	}
	if h.sum, err = canon.ParseDigest(sum); err != nil || !bytes.Equal(h.text(), text) {
		return head{}, false
	}
	return h, true
}

// A headFile is an open FILE-head.
type headFile struct {
	file *os.File
	turn int64 // offset of the slot for the next head
	was  head  // the head that was found when the file was opened; zero if there was none
}

// openHead opens the head file of a journal. A journal from an earlier version does not have a head
// file.
func openHead(path string) (*headFile, error) {
	file, err := os.OpenFile(path+headSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	text := make([]byte, headPlaces*sector)
	n, err := file.ReadAt(text, 0)
	if err != nil && err != io.EOF {
		return nil, errors.Join(err, file.Close())
	}

	f := &headFile{file: file}
	for at := 0; at+sector <= n; at += sector {
		if h, ok := parseHead(text[at : at+sector]); ok && h.size >= f.was.size {
			f.was, f.turn = h, int64(1-at/sector)
		}
	}
	return f, nil
}

// write replaces the older head.
func (f *headFile) write(h head) error {
	_, err := f.file.WriteAt(h.text(), f.turn*sector)
	f.turn = (f.turn + 1) % headPlaces
	return err
}

// sumOf returns the checksum of a line.
func sumOf(line []byte) canon.Digest {
	line = bytes.TrimSuffix(line, []byte("\n"))
	at := len(line) - len(sumEnd) - len("sha256:") - 64
	if at < 0 {
		return canon.Digest{}
	}
	sum, _ := canon.ParseDigest(string(line[at : len(line)-len(sumEnd)]))
	return sum
}

// lost returns the error that reports missing lines at the end of a journal.
func (h head) lost() error {
	return fmt.Errorf("the file ends here, or continues differently, and had %d bytes and %d events before: acknowledged events are missing", h.size, h.events)
}
