package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/replay"
)

// TestLargeLog: of a log what answered the task is kept, not the answers.
func TestLargeLog(t *testing.T) {
	s := &source{task: "task_1"}
	s.add("0", "task.started", 1, members{})
	for i := range 64 {
		s.add(fmt.Sprint("r", i), "tool.completed", 2, members{"tool_call_id": fmt.Sprint("c", i), "name": "read", "output": strings.Repeat("a line of a file\n", 30_000)})
	}
	s.add("end", "task.completed", 3, members{})
	text := s.bytes()
	if len(text) < 32<<20 {
		t.Fatalf("%d bytes", len(text))
	}

	before := inUse()
	log := readLog(t, text)
	p := plan(t, log, ``)
	if kept := inUse() - before; kept > 8<<20 {
		t.Errorf("%d bytes are kept of a log of %d", kept, len(text))
	}
	a, err := p.Take(context.Background(), "host:read:c63")
	if err != nil || len(a.Value) < 30_000*len("a line of a file") {
		t.Errorf("%d bytes, %v", len(a.Value), err)
	}
	n := 0
	for line, err := range p.Events(replay.Run{TaskID: "task_2"}) {
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(line, []byte("\n"))
	}
	if n != 66+2+2 {
		t.Errorf("%d events", n)
	}
	runtime.KeepAlive(log)
	runtime.KeepAlive(text)
}

func inUse() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
