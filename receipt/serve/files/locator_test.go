package files

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// TestIndexSize verifies the documented size of an index.
func TestIndexSize(t *testing.T) {
	if n := unsafe.Sizeof(entry{}) + 2*unsafe.Sizeof(place{}); n != 136 {
		t.Errorf("a receipt takes %d bytes of index", n)
	}
}

// TestIndexGrowth verifies that an index uses only as much memory as its receipts need, and that it
// does not move entries as it grows.
func TestIndexGrowth(t *testing.T) {
	var entries pile[entry]
	entries.add(entry{})
	first := entries.at(0)
	const n = 3*pileBlock + 1
	for i := 1; i < n; i++ {
		entries.add(entry{index: int32(i)})
	}
	if entries.at(0) != first || entries.at(n-1).index != n-1 {
		t.Error("entries were moved")
	}
	if held := len(entries.blocks) * pileBlock; held >= n+pileBlock {
		t.Errorf("room for %d entries, %d are in use", held, n)
	}
	if all := entries.flat(); len(all) != n || cap(all) != n || all[n-1].index != n-1 {
		t.Errorf("%d entries in %d places", len(all), cap(all))
	}
}

// TestLocator verifies that documents are found in order, regardless of where individual reads end.
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
		t.Errorf("an earlier document: %d, %v", at, err)
	}
}
