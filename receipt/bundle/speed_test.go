package bundle_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// BenchmarkSanitize sanitizes a bundle of 64 MB that contains a few secrets.
func BenchmarkSanitize(b *testing.B) {
	large := largeBundle(b, 64<<20)
	for _, mode := range []bundle.Mode{bundle.Sanitized, bundle.ReplayOnly} {
		b.Run(string(mode), func(b *testing.B) {
			b.SetBytes(int64(len(large)))
			for b.Loop() {
				if _, err := sanitized(b, large, mode, false).WriteTo(discard{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSmall sanitizes a bundle that contains a few messages.
func BenchmarkSmall(b *testing.B) {
	local := file(b, "local.json")
	for b.Loop() {
		sanitized(b, local, bundle.Sanitized, false)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// largeBundle returns a local bundle of at least the given number of bytes.
func largeBundle(t testing.TB, size int) []byte {
	t.Helper()
	small := exported(t, file(t, "run.json"), bundle.Options{Mode: bundle.Local}).Bytes()
	const mark = "\"messages\": ["
	head, tail, _ := bytes.Cut(small[bytes.Index(small, []byte(`"sections"`)):], []byte(mark))
	large := append(make([]byte, 0, size+1<<20), small[:bytes.Index(small, []byte(`"sections"`))]...)
	large = append(large, head...)
	large = append(large, mark...)
	for i := 0; len(large) < size; i++ {
		key := ""
		if i%97 == 0 {
			key = " with " + bundle.Shapes()[i%16].Text[:20]
		}
		large = fmt.Appendf(large, `{"role": "assistant", "content": "%s%s", "tool_calls": [{"id": "call_%d", "name": "soil.read", "arguments": {"path": "beds/%d.txt", "note": "%s", "api_key": "k"}}]},`+"\n",
			prose[:200+i*37%800], key, i, i, prose[:i*13%300])
	}
	return append(large, tail...)
}

var prose = string(bytes.Repeat([]byte("the bed was dry and the tap was open so that water went in for a while: max_tokens=200, see https://example.org/a?page=2 "), 12))
