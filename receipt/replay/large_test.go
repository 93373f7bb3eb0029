package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// TestLargeLog verifies that a Log keeps no recorded answers in memory.
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

// A longLog is a task log of 100 MB that is not stored. Each line is generated when it is read.
type longLog struct{ peak uint64 }

const (
	longEvents = 250_000
	longLine   = 400 // bytes
)

func (l *longLog) line(n int64) string {
	kind, payload := "agent.message_delta", `{"message_id":"m"}`
	switch {
	case n == 0:
		kind, payload = "task.submitted", `{"autonomy_tier":"act_auto"}`
	case n == 1:
		kind, payload = "task.started", "{}"
	case n == longEvents-1:
		kind, payload = "task.completed", "{}"
	case n%25 == 0:
		kind, payload = "tool.completed", fmt.Sprintf(`{"tool_call_id":"c%d","name":"read","output":%[1]d}`, n)
	}
	text := fmt.Sprintf(`{"id":"e%d","event":%q,"sequence":%[1]d,"payload":%[3]s,"resource":{"object":"task","id":"t"},"session_id":"s","created_at":"2026-01-01T00:00:00Z"`, n, kind, payload)
	return text + strings.Repeat(" ", longLine-len(text)-2) + "}\n"
}

// ReadAt also records the memory use.
func (l *longLog) ReadAt(p []byte, at int64) (n int, err error) {
	if at/longLine%512 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		l.peak = max(l.peak, m.HeapAlloc)
	}
	for n < len(p) && at < longEvents*longLine {
		c := copy(p[n:], l.line(at / longLine)[at%longLine:])
		n, at = n+c, at+int64(c)
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// TestLongLog verifies the memory use for the longest possible log of small events. Reading keeps
// two digests per event; otherwise, reading, planning, and replaying use little memory.
func TestLongLog(t *testing.T) {
	if !testsize.Full() {
		t.Skip("it takes some seconds; CI=true runs it")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // keeps the amount of garbage on the heap small
	before := inUse()
	in := &longLog{}
	log, err := replay.ReadLog(in, "")
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, log, with("host:read:c100000", `{"kind":"tool_result","value":"x"}`))
	told := 0
	for _, err := range p.Events(replay.Run{TaskID: "task_2"}) {
		if err != nil {
			t.Fatal(err)
		}
		told++
	}
	if told < longEvents || len(log.Dependencies) < longEvents/25 {
		t.Errorf("%d events, %d answers", told, len(log.Dependencies))
	}
	const most = 80 << 20
	if peak := int(in.peak) - before; peak > most {
		t.Errorf("%d MiB were in use, expected at most %d", peak>>20, most>>20)
	}
	if kept := inUse() - before; kept > 16<<20 {
		t.Errorf("%d MiB are kept", kept>>20)
	}
	t.Logf("at most %d MiB in use", (int(in.peak)-before)>>20)
	runtime.KeepAlive(p)
}

func inUse() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
