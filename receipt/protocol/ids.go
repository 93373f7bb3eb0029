package protocol

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon/foreign"
)

// ids makes names for requests. It is safe for concurrent use.
type ids struct {
	mu     sync.Mutex
	random *bufio.Reader
}

// newIDs returns names out of a source of randomness.
func newIDs(random io.Reader) *ids {
	const ahead = 512 // bytes that are read at once
	return &ids{random: bufio.NewReaderSize(random, ahead)}
}

// next returns 16 hexadecimal digits, and "unnamed" when there is no randomness: a name
// matters less than an answer.
func (d *ids) next() string {
	var id [8]byte
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := io.ReadFull(d.random, id[:]); err != nil {
		return "unnamed"
	}
	return fmt.Sprintf("%x", id)
}

// Clean takes out of a text what would begin a new line, and bounds it: for a log.
func Clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if foreign.Unsafe(r) {
			return '?'
		}
		return r
	}, text)
	return foreign.Cut(text, 1000)
}
