package source_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// longSession returns a transcript of many calls, each with a long result, as in real logs.
func longSession(calls int) []byte {
	var b bytes.Buffer
	result := strings.Repeat(`the \"quick\" brown fox\tjumps over the lazy dog\n`, 80)
	for i := range calls {
		at := fmt.Sprintf("2026-04-25T%02d:%02d:%02d.%03dZ", i/3_600_000%24, i/60_000%60, i/1000%60, i%1000)
		fmt.Fprintf(&b, `{"type":"assistant","sessionId":"s","version":"2.1.39","cwd":"/w","timestamp":"%s","uuid":"a%d","message":{"role":"assistant","id":"msg_%d","model":"claude-opus-4-6","content":[{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"make %d"}}],"stop_reason":null,"usage":{"input_tokens":3,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":9}}}`+"\n", at, i, i/2, i, i)
		fmt.Fprintf(&b, `{"type":"user","sessionId":"s","timestamp":"%s","uuid":"u%d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]},"toolUseResult":{"stdout":"%s","interrupted":false}}`+"\n", at, i, i, result, result)
	}
	return b.Bytes()
}

// BenchmarkRead measures the bytes of a log that are read per second.
func BenchmarkRead(b *testing.B) {
	log := longSession(2500)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := source.Read([]source.Input{{Name: "log", Reader: bytes.NewReader(log)}}, options()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMemory verifies that the memory for a long log is proportional to its statements, not to
// its bytes.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a long log")
	}
	read := func(calls int) (kept uint64) {
		log := longSession(calls)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := source.Read([]source.Input{{Name: "log", Reader: bytes.NewReader(log)}}, options())
		if err != nil || len(got.Draft.SideEffects.ToolCalls) != calls {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / uint64(calls)
	}
	few, many := read(300), read(3000)
	if many > 2*few+16<<10 {
		t.Errorf("%d bytes for each call of a long log, %d for each of a short one", many, few)
	}
}
