package files

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// TestIndexSize: the number that the documentation gives.
func TestIndexSize(t *testing.T) {
	if n := unsafe.Sizeof(entry{}) + 2*unsafe.Sizeof(place{}); n != 136 {
		t.Errorf("a receipt takes %d bytes of index", n)
	}
}

// TestLocator: documents are found in their order, wherever the reads end.
func TestLocator(t *testing.T) {
	var file bytes.Buffer
	var docs []string
	var offsets []int64
	for i := range 60 {
		doc := fmt.Sprintf("<%d%s>", i, strings.Repeat("ab", i*i*40%90000))
		file.WriteString(strings.Repeat(" ", i*977%300000))
		docs, offsets = append(docs, doc), append(offsets, int64(file.Len()))
		file.WriteString(doc)
	}
	l := &locator{r: bytes.NewReader(file.Bytes())}
	for i, doc := range docs {
		if at, err := l.find([]byte(doc)); err != nil || at != offsets[i] {
			t.Errorf("%d: at %d, expected %d: %v", i, at, offsets[i], err)
		}
	}
	if cap(l.buf) > 3*locateBytes {
		t.Errorf("%d bytes held", cap(l.buf))
	}
	if at, err := l.find([]byte(docs[0])); err != errMoved || at != 0 {
		t.Errorf("what lies before: %d, %v", at, err)
	}
}
