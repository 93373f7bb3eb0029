package input

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// TestKept verifies that a piece does not change while later pieces are read if its field Kept is
// set, in any order of large and small pieces, that large pieces are kept, and that all pieces are
// complete and numbered.
func TestKept(t *testing.T) {
	var docs []string
	for i, size := range []int{10, 6 * readBytes, 128<<10 + 100, readBytes + 1, 5 * readBytes, 10, 6 * readBytes, 256 << 10, 10} {
		docs = append(docs, fmt.Sprintf(`{"n":%d,"s":"%s"}`, i, strings.Repeat(string(rune('a'+i)), size)))
	}
	codec := archive.NewCodec()
	var sequence []byte
	for _, text := range docs {
		doc, err := canon.Parse([]byte(text))
		if err == nil {
			sequence, err = codec.Append(sequence, doc)
		}
		if err != nil {
			t.Fatal(err)
		}
	}

	for name, input := range map[string]string{
		"lines": strings.Join(docs, "\n") + "\n", "array": "[" + strings.Join(docs, ",") + "]", "sequence": string(sequence),
		"page": `{"object":"list","data":[` + strings.Join(docs, ",") + `]}`,
	} {
		c, err := cutterFor(bufio.NewReaderSize(strings.NewReader(input), readBytes), Sniffed, name, false, false)
		if err != nil {
			t.Fatal(name, err)
		}
		type held struct{ now, then []byte }
		var list []held
		large := 0
		for n := 0; ; n++ {
			p, err := c.Next()
			if err == io.EOF {
				if n != len(docs) {
					t.Errorf("%s: %d pieces", name, n)
				}
				break
			} else if err != nil || p.fault != nil {
				t.Fatal(name, n, err, p.fault)
			}
			if name != "sequence" && string(p.Data) != docs[n] {
				t.Errorf("%s: piece %d is %d bytes, %.20q", name, n+1, len(p.Data), p.Data)
			}
			if p.Index != n+1 {
				t.Errorf("%s: piece %d has the index %d", name, n+1, p.Index)
			}
			if p.Kept {
				list = append(list, held{p.Data, bytes.Clone(p.Data)})
				if len(p.Data) > 5*readBytes {
					large++
				}
			}
		}
		if name != "sequence" && large != 3 {
			t.Errorf("%s: %d large pieces are kept", name, large)
		}
		for i, h := range list {
			if !bytes.Equal(h.now, h.then) {
				t.Errorf("%s: kept piece %d changed: %.20q, previously %.20q", name, i, h.now, h.then)
			}
		}
	}
}
