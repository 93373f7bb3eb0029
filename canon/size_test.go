package canon

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestSize verifies that parsing uses no more memory than Size returns, and that Size returns
// no more than documented.
func TestSize(t *testing.T) {
	if unsafe.Sizeof(node{}) != nodeBytes || unsafe.Sizeof(span{}) != spanBytes || unsafe.Sizeof(rankedName{}) != rankedBytes {
		t.Fatal("the constants are not the sizes")
	}
	length := 2 << 20
	if testsize.Full() {
		length = 4 << 20
	}
	fill := func(head, unit, tail string) string {
		return head + strings.TrimSuffix(strings.Repeat(unit, (length-len(head)-len(tail))/len(unit)), ",") + tail
	}
	var names strings.Builder
	for i := range length / 12 {
		fmt.Fprintf(&names, `"%x":1,`, length-i)
	}
	for name, c := range map[string]struct {
		src  string
		most int64 // times the source
		step bool  // some parts of the index grow in steps
	}{
		"digits":            {fill(`[`, `1,`, `]`), 11, false},
		"objects":           {fill(`[`, `{},`, `]`), 14, false},
		"arrays":            {fill(`[`, `[],`, `]`), 14, false},
		"unsorted":          {fill(`[`, `{"b":1,"a":1},`, `]`), 16, true},
		"escapes":           {fill(`[`, `"\n",`, `]`), 14, true},
		"many unsorted":     {"{" + names.String() + `"a":1}`, 12, true},
		"one string":        {`["` + strings.Repeat("x", length) + `"]`, 1, false},
		"commas in strings": {fill(`[`, `",,,,,,,,,,,,,,,:::::[[[[[[[{{{{{{",`, `]`), 2, false},
		"escaped quotes":    {fill(`[`, `"\\\",,\\",`, `]`), 11, true},
		"white space":       {strings.Repeat(" ", length) + "1", 1, false},
		"an error":          {strings.Repeat("1,", length/2), 11, false},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var d Document
		err := d.Parse([]byte(c.src), Limits{})
		runtime.ReadMemStats(&after)
		if (err != nil) != (name == "an error") {
			t.Fatalf("%s: %v", name, err)
		}
		// The copy of the source is subtracted. The slack is for the memory that append allocates
		// before the remaining nodes are counted.
		took, size := int64(after.TotalAlloc-before.TotalAlloc)-int64(len(c.src)), Size([]byte(c.src))
		if c.step { // all steps together allocate five times as much memory as the last step
			took /= 2
		}
		if slack := int64(5 * largeIndex * nodeBytes); took > size+slack || size > c.most*int64(len(c.src))+slack {
			t.Errorf("%s: parsing %d bytes took %d, Size returns %d", name, len(c.src), took, size)
		}
		if nodes := mostNodes([]byte(c.src)); len(d.nodes) > nodes {
			t.Errorf("%s: %d nodes, counted %d", name, len(d.nodes), nodes)
		}
	}
}

// TestMostNodes verifies that no document has more nodes than mostNodes returns, regardless of
// where strings begin and end.
func TestMostNodes(t *testing.T) {
	for _, src := range []string{`1`, `[]`, `[1]`, `{}`, `{"a":1}`, `["\\"]`, `["\\\"","\\",1]`, `{"\"":["\\\\",{"a":"\""}]}`, `"a`, `"\`, `"\"`, `["\\\\\""]`} {
		var d Document
		if err := d.Parse([]byte(src), Limits{}); err == nil && len(d.nodes) > mostNodes([]byte(src)) {
			t.Errorf("%s: %d nodes, counted %d", src, len(d.nodes), mostNodes([]byte(src)))
		}
	}
}
