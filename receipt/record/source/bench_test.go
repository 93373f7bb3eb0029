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

// BenchmarkRead measures the bytes of a log of each kind that are read per second.
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
