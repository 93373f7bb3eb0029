package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/receiptkit/receiptkit/canon"
)

// A head is what a journal had when somebody last wrote into it. It is kept in FILE-head, because
// lines that were lost at the end of a file cannot be missed from inside.
type head struct {
	size   int64        // of the file, in bytes
	events int          // how many it had
	sum    canon.Digest // of the last line
}

const headSuffix = "-head"

// The file has two places of a sector, which are written in turn, so that a write that tears leaves
// the head before it. A head is written when its line is on the disk, and is not synced itself: after
// a power cut it may be an older one, which is as true, never one that is ahead of the journal.
const (
	headPlaces = 2
	headFormat = "receipt journal head 1\nbytes %d\nevents %d\nsum %v\n"
)

// text returns the head with its checksum, and line feeds up to the size of a sector.
func (h head) text() []byte {
	body := fmt.Sprintf(headFormat, h.size, h.events, h.sum)
	text := make([]byte, 0, sector)
	text = fmt.Appendf(text, "%scheck %v\n", body, canon.Sum([]byte(body)))
	return append(text, bytes.Repeat([]byte{'\n'}, sector-len(text))...)
}

// parseHead is the inverse of text.
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

// A headFile is FILE-head.
type headFile struct {
	file *os.File
	turn int64 // where the next head is written
	was  head  // when the file was opened; zero: it had none
}

// openHead opens the head of a journal. A journal of an earlier version has none yet.
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

// write replaces the older of the two heads.
func (f *headFile) write(h head) error {
	_, err := f.file.WriteAt(h.text(), f.turn*sector)
	f.turn = (f.turn + 1) % headPlaces
	return err
}

// sumOf returns the checksum that a line has.
func sumOf(line []byte) canon.Digest {
	line = bytes.TrimSuffix(line, []byte("\n"))
	at := len(line) - len(sumEnd) - len("sha256:") - 64
	if at < 0 {
		return canon.Digest{}
	}
	sum, _ := canon.ParseDigest(string(line[at : len(line)-len(sumEnd)]))
	return sum
}

// lost says what is missing after the last line.
func (h head) lost() error {
	return fmt.Errorf("the file ends here, or continues differently, and had %d bytes and %d events before: what was acknowledged is missing", h.size, h.events)
}
