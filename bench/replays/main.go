// Command replays measures how fast the log of a task is read for a replay and its events are
// repeated, and how much of the log stays in memory. See ../README.md.
//
//	go run ./replays -least 100 -most-kept 64
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

func main() {
	megabytes := flag.Int("mb", 100, "the `size` of a log, in MB")
	rounds := flag.Int("rounds", 3, "interleaved `rounds`, of which the median counts")
	least := flag.Float64("least", 0, "exit 1 when a log is read slower than so many `MB/s` of processor time")
	most := flag.Float64("most-kept", 0, "exit 1 when more than so many `MiB` are kept of a log; 0: never")
	flag.Parse()
	if flag.NArg() > 0 || *rounds < 1 || *megabytes < 1 {
		flag.Usage()
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1)
	if err := table(os.Stdout, *megabytes, *rounds, *least, *most); err != nil {
		fmt.Fprintf(os.Stderr, "replays: error: %v\n", err)
		os.Exit(1)
	}
}

// table writes a line for each shape of a log.
func table(w io.Writer, megabytes, rounds int, least, most float64) error {
	fmt.Fprintf(w, "logs of %d MB, one core, %s, median of %d rounds\n\n", megabytes, runtime.Version(), rounds)
	fmt.Fprintf(w, "%-8s %9s %10s %10s %11s %12s %12s %9s\n", "answers", "events", "read MB/s", "tell MB/s", "SHA-256 ×", "json.Valid ×", "kept MiB", "of log %")
	var bad error
	for _, s := range shapes() {
		r, err := measure(s, megabytes, rounds)
		if err != nil {
			return fmt.Errorf("answers of %s: %w", s.name, err)
		}
		fmt.Fprintf(w, "%-8s %9d %10.0f %10.0f %11.1f %12.2f %12.1f %9.1f\n", s.name, r.events, r.read, r.tell, r.hash, r.valid, r.kept, 100*r.kept*(1<<20)/float64(r.bytes))
		switch {
		case least > 0 && r.read < least:
			bad = errors.Join(bad, fmt.Errorf("a log with answers of %s is read at %.0f MB/s, expected %.0f", s.name, r.read, least))
		case most > 0 && r.kept > most:
			bad = errors.Join(bad, fmt.Errorf("for a log with answers of %s, %.1f MiB are kept, expected at most %.1f", s.name, r.kept, most))
		}
	}
	return bad
}

// A shape specifies the size and number of the answers in a log. A task has at most 262,144
// events, so the events of a log of 100 MB have at least 400 bytes on average.
type shape struct {
	name  string
	lines int // of text in an answer
	notes int // between two answers: events of 400 bytes that answer nothing
}

func shapes() []shape { return []shape{{"200 B", 3, 20}, {"4 KB", 60, 1}, {"500 KB", 7500, 1}} }

// logOf returns the log of a task that calls tools until the log has the given size.
func logOf(s shape, megabytes int) []byte {
	line := []byte(`"It rained in the night, so that the beds \"by the wall\" are wet.\n` + "\u00f6" + `",`)
	answer := bytes.Repeat(line, s.lines)
	answer = answer[:len(answer)-1]
	var b bytes.Buffer
	n := 0
	event := func(kind, payload string) {
		fmt.Fprintf(&b, `{"id":"event_%d","object":"event","event":"%s","resource":{"object":"task","id":"task_1"},"task_id":"task_1","session_id":"session_1","workspace_id":"garden","created_at":"2026-01-01T00:00:00Z","sequence":%[1]d,"payload":%[3]s}`+"\n", n, kind, payload)
		n++
	}
	event("task.submitted", `{"autonomy_tier":"act_auto"}`)
	event("task.started", `{}`)
	for call := 0; b.Len() < megabytes*1_000_000; call++ {
		for range s.notes {
			event("agent.message_delta", fmt.Sprintf(`{"message_id":"message_%d","delta":{"type":"text","text":"wet by the wall, and dry where the beans are; the peas were not looked at, as it is dark there"}}`, call))
		}
		event("tool.requested", fmt.Sprintf(`{"tool_call_id":"call_%d","name":"soil.read","input":{"bed":%[1]d,"depth":0.25}}`, call))
		event("tool.completed", fmt.Sprintf(`{"tool_call_id":"call_%d","output":[%s],"status":"succeeded"}`, call, answer))
	}
	event("task.completed", `{}`)
	return b.Bytes()
}

// A result contains the measurements for one log. Speeds are in MB of the log per second of
// processor time. Ratios compare reading with a plain pass over the same bytes.
type result struct {
	bytes, events     int
	read, tell        float64
	hash, valid, kept float64
}

func measure(s shape, megabytes, rounds int) (r result, err error) {
	text := logOf(s, megabytes)
	before := inUse()
	plan, err := planOf(text)
	if err != nil {
		return r, err
	}
	r.kept = (inUse() - before) / (1 << 20)

	lines := bytes.SplitAfter(text, []byte("\n"))
	times, err := race.Rounds(context.Background(), rounds,
		race.Once(func(int) error { _, err := replay.ReadLog(bytes.NewReader(text), ""); return err }),
		race.Once(func(int) error { return tell(plan) }),
		race.Once(func(int) error { _, err := io.Copy(sha256.New(), bytes.NewReader(text)); return err }),
		race.Once(func(int) error { return valid(lines) }),
	)
	if err != nil {
		return r, err
	}
	speed := func(turn int) float64 { return float64(len(text)) / 1e6 / times.Median(turn) }
	r.bytes, r.events = len(text), plan.Log().Events
	r.read, r.tell, r.hash, r.valid = speed(0), speed(1), times.Ratio(0, 2).Median, times.Ratio(0, 3).Median
	runtime.KeepAlive(plan)
	return r, nil
}

func planOf(text []byte) (*replay.Plan, error) {
	log, err := replay.ReadLog(bytes.NewReader(text), "")
	if err != nil {
		return nil, err
	}
	return replay.NewPlan(context.Background(), log, &replay.Request{Mode: replay.Exact}, nil)
}

// tell repeats all events.
func tell(p *replay.Plan) error {
	for _, err := range p.Events(replay.Run{TaskID: "task_2"}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// valid does the minimum that any JSON reader does.
func valid(lines [][]byte) error {
	for _, line := range lines {
		if len(line) > 0 && !json.Valid(line) {
			return errors.New("a line is no JSON")
		}
	}
	return nil
}

// inUse returns the number of bytes in use on the heap.
func inUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
