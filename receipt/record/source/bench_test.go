package source_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// longSession returns a transcript with many calls, each of which has a long result, as in real
// logs.
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

// BenchmarkRead measures, for each kind of log, how many bytes are read per second.
func BenchmarkRead(b *testing.B) {
	result := strings.Repeat(`the \"quick\" brown fox\tjumps over the lazy dog\n`, 80)
	repeat := func(n int, each func(i int) string) (all []string) {
		for i := range n {
			all = append(all, each(i))
		}
		return all
	}
	for name, log := range map[string]string{
		"claude": string(longSession(2500)),
		"copilot": events(repeat(5000, func(i int) string {
			if i%2 == 0 {
				return fmt.Sprintf(`tool.execution_start {"toolCallId":"c%d","toolName":"bash","arguments":{"command":"make %d"}}`, i, i)
			}
			return fmt.Sprintf(`tool.execution_complete {"toolCallId":"c%d","success":true,"result":{"content":"%s","detailedContent":"%s"}}`, i-1, result, result)
		})...),
		"opencode": openCode("", repeat(2500, func(i int) string {
			return fmt.Sprintf(`{"type":"tool","callID":"c%d","tool":"bash","state":{"status":"completed","input":{"command":"make"},"output":"%s","metadata":{"exit":0,"output":"%s"}}}`, i, result, result)
		})...),
		"gemini": gemini(repeat(2500, func(i int) string {
			return geminiSaid(fmt.Sprint("g", i), 1, fmt.Sprintf(`{"id":"c%d","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"output":"%s"}],"resultDisplay":"%s"}`, i, result, result))
		})...),
		"atif": atif("", repeat(2500, func(i int) string {
			return fmt.Sprintf(`{"step_id":%d,"source":"agent","tool_calls":[{"tool_call_id":"c%d","function_name":"x","arguments":{}}],"observation":{"results":[{"source_call_id":"c%d","content":"%s%s"}]}}`, i, i, i, result, result)
		})...),
		"pi": pi(repeat(5000, func(i int) string {
			if i%2 == 0 {
				return piSaid("toolUse", fmt.Sprintf(`{"type":"toolCall","id":"c%d","name":"bash","arguments":{"command":"make"}}`, i))
			}
			return fmt.Sprintf(`{"role":"toolResult","toolCallId":"c%d","isError":false,"content":[{"type":"text","text":"%s%s"}]}`, i-1, result, result)
		})...),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := source.Read([]source.Input{{Name: "log", Reader: strings.NewReader(log)}}, options()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A large log consists of head, one body for each call, and tail.
type large struct {
	head, tail string
	body       func(i int) string
}

// reader returns a reader for a log with the given number of calls, without keeping the log in
// memory.
func (l large) reader(calls int) io.Reader {
	i, rest := 0, []byte(l.head)
	return readerFunc(func(b []byte) (int, error) {
		for len(rest) == 0 {
			switch {
			case i < calls:
				rest = []byte(l.body(i))
			case i == calls:
				rest = []byte(l.tail)
			default:
				return 0, io.EOF
			}
			i++
		}
		n := copy(b, rest)
		rest = rest[n:]
		return n, nil
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// TestLargeLogs verifies that every call in a log of 8 MB, or 100 MB at full size, is recorded, and
// that no list is incomplete. Logs of three kinds consist of a single JSON value.
func TestLargeLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large logs")
	}
	size := testsize.Of(8_000_000, 100_000_000)
	const at = `"timestamp":"2026-06-25T10:00:00Z"`
	result := strings.Repeat(`the \"quick\" brown fox\tjumps over the lazy dog\n`, 400)
	between := func(i int) string { return ",\n"[:min(i, 1)*2] }
	for kind, l := range map[string]large{
		"copilot-cli": {events(), "", func(i int) string {
			return fmt.Sprintf(`{"type":"tool.execution_start","data":{"toolCallId":"c%d","toolName":"bash","arguments":{"command":"make"}},"id":"a%[1]d","parentId":null,%[2]s}
{"type":"tool.execution_complete","data":{"toolCallId":"c%[1]d","success":true,"result":{"content":"%[3]s"}},"id":"b%[1]d","parentId":null,%[2]s}
`, i, at, result)
		}},
		"opencode": {`{"info":{"id":"s"},"messages":[{"info":{"id":"m","role":"assistant"},"parts":[`, "]}]}\n", func(i int) string {
			return between(i) + fmt.Sprintf(`{"type":"tool","callID":"c%d","tool":"bash","state":{"status":"completed","input":{},"output":"%s","metadata":{"exit":0}}}`, i, result)
		}},
		"gemini-cli": {`{"sessionId":"s","projectHash":"h","messages":[`, "]}", func(i int) string {
			return between(i) + fmt.Sprintf(`{"id":"m%[1]d",%[2]s,"type":"gemini","tokens":{"input":1,"output":1,"thoughts":0},"toolCalls":[{"id":"c%[1]d","name":"run_shell_command","args":{},"status":"success","result":["%[3]s"]}]}`, i, at, result)
		}},
		"atif": {`{"schema_version":"ATIF-v1.7","session_id":"s","agent":{"name":"a"},"steps":[`, "]}\n", func(i int) string {
			return between(i) + fmt.Sprintf(`{"step_id":%d,"source":"agent","tool_calls":[{"tool_call_id":"c%[1]d","function_name":"x","arguments":{}}],"observation":{"results":[{"source_call_id":"c%[1]d","content":"%[2]s"}]}}`, i, result)
		}},
		"pi": {pi(), "", func(i int) string {
			return fmt.Sprintf(`{"type":"message","id":"a%[1]d",%[2]s,"message":{"role":"assistant","model":"m","stopReason":"toolUse","usage":{"input":1,"output":%[1]d,"cacheRead":0,"cacheWrite":0,"cost":{"total":0}},"content":[{"type":"toolCall","id":"c%[1]d","name":"bash","arguments":{}}]}}
{"type":"message","id":"b%[1]d",%[2]s,"message":{"role":"toolResult","toolCallId":"c%[1]d","isError":false,"content":[{"type":"text","text":"%[3]s"}]}}
`, i, at, result)
		}},
	} {
		calls := size / len(l.body(1))
		got, err := source.Read([]source.Input{{Name: "log", Reader: l.reader(calls)}}, options())
		if err != nil || string(got.Kind) != kind {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		r := read(t, got.Draft)
		if n := len(r.SideEffects.ToolCalls); n != calls || r.untold[callsList] {
			t.Errorf("%s: %d calls of %d, unreported %v", kind, n, calls, r.untold[callsList])
		}
	}
}

// TestMemory verifies that the memory use for a long log depends on the number of statements in the
// log, not on its size in bytes.
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
