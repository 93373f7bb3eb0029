package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// answersOf returns the digest of a log and all answers in it.
func answersOf(t testing.TB, text []byte, task string) (list []string) {
	t.Helper()
	log, err := replay.ReadLog(bytes.NewReader(text), task)
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, log, ``)
	list = append(list, log.Digest.String())
	for _, d := range log.Dependencies {
		a, err := p.Take(context.Background(), d.Key)
		var missing *replay.UnavailableError
		if err != nil && !errors.As(err, &missing) {
			t.Errorf("%s: %v", d.Key, err)
		}
		list = append(list, fmt.Sprintf("%s %s %s", d.EventID, d.Key, a.Value))
	}
	for _, line := range events(t, p, replay.Run{TaskID: "task_9"}) {
		list = append(list, string(line))
	}
	return list
}

// TestLogForms verifies that line endings, blank lines, whitespace, and the order of members do not
// affect the result. A byte order mark is rejected, as in a recording.
func TestLogForms(t *testing.T) {
	text := garden().bytes()
	want := answersOf(t, text, "")
	for name, form := range map[string][]byte{
		"CRLF":            bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")),
		"blank lines":     append([]byte("\n \n"), bytes.ReplaceAll(text, []byte("\n"), []byte("\n\r\n\t\n"))...),
		"no last line":    bytes.TrimSuffix(text, []byte("\n")),
		"more space":      bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`,"`), []byte(" ,\t \"")), []byte("{"), []byte("{  ")),
		"delivered twice": append(slices.Clone(text), text[:bytes.LastIndex(text[:len(text)-1], []byte("\n"))+1]...),
	} {
		if got := answersOf(t, form, ""); !slices.Equal(got, want) {
			t.Errorf("%s: %q\nwant %q", name, got, want)
		}
	}

	_, err := replay.ReadLog(bytes.NewReader(append([]byte("\xef\xbb\xbf"), text...)), "")
	var line *event.LineError
	if !errors.As(err, &line) || line.Line != 1 {
		t.Errorf("a byte order mark: %v", err)
	}
}

// TestTwoTasksInALog verifies that each of two tasks in a log can be replayed, regardless of how
// their events are mixed, and even if both tasks use the same names.
func TestTwoTasksInALog(t *testing.T) {
	mine, other := garden(), garden()
	other.task = "task_0"
	var both [][]byte
	for i, line := range mine.lines {
		theirs := bytes.ReplaceAll(bytes.ReplaceAll(other.lines[i], []byte(`"task_1"`), []byte(`"task_0"`)), []byte(`"id":"e`), []byte(`"id":"o`))
		if i%2 == 0 {
			line, theirs = theirs, line
		}
		both = append(both, line, theirs)
	}
	text := append(bytes.Join(both, []byte("\n")), '\n')
	if got, want := answersOf(t, text, "task_1"), answersOf(t, mine.bytes(), ""); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	theirs := answersOf(t, text, "task_0")
	if all := strings.Join(theirs, "\n"); strings.Contains(all, `"task_1"`) || !strings.Contains(all, "o3 llm:main:1 {\"text\":\"look\"}") {
		t.Error(all)
	}
	var refused *event.Error
	if _, err := replay.ReadLog(bytes.NewReader(text), ""); !errors.As(err, &refused) || refused.Code != event.CodeOtherTask {
		t.Error(err)
	}
}

// TestRemappedNames verifies that events with new IDs do not contain the IDs of previous events,
// and that all other events keep these IDs.
func TestRemappedNames(t *testing.T) {
	s := garden()
	for i, line := range s.lines[1:] {
		s.lines[i+1] = bytes.Replace(line, []byte(`"object":"event"`), fmt.Appendf(nil, `"object":"event","previous_event_id":"e%d"`, i+1), 1)
	}
	p := plan(t, readLog(t, s.bytes()), ``)
	for _, remap := range []bool{false, true} {
		lines := bytes.Join(events(t, p, replay.Run{TaskID: "task_2", Remap: remap}), nil)
		if got := bytes.Count(lines, []byte(`"previous_event_id":"e`)); (got == 0) != remap || got > 0 && got != len(s.lines)-1 {
			t.Errorf("remapped %t: %d events name the one before", remap, got)
		}
	}
}

// TestSameAnswerTwice verifies that two model calls with the same result are two answers, each of
// which can be replaced separately. A call that is recorded twice must be one answer.
func TestSameAnswerTwice(t *testing.T) {
	for id, want := range map[string]string{
		"":   "llm:main:1 sha256:391552c099c101b131feaf24c5795a6a15bc8ec82015424e0d2b4274a369a0bf, llm:main:2 sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b",
		"s1": "llm:main:1 sha256:391552c099c101b131feaf24c5795a6a15bc8ec82015424e0d2b4274a369a0bf",
	} {
		s := &source{task: "task_1"}
		s.add("e0", "task.submitted", 1, members{"autonomy_tier": "shadow"})
		s.add("e1", "task.started", 1, members{})
		for i := range 2 {
			s.add(fmt.Sprint("e", i+2), "span.completed", 2, members{"kind": "llm", "span_id": id, "provider": "p", "model": "m", "response": 1})
		}
		s.add("e4", "task.completed", 3, members{})
		p := plan(t, readLog(t, s.bytes()), with("llm:main:1", `{"kind":"llm_provider_response","value":"1"}`))
		var got []string
		for _, m := range recorded(t, events(t, p, replay.Run{TaskID: "task_2"})).ReplayInput.Materials[1:] {
			got = append(got, m.ID+" "+m.SHA256.String())
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("the id %q: %s, want %s", id, text, want)
		}
	}
}

// TestSwappedIntoAnother verifies that an answer remains a separate answer if it is replaced by the
// value of another answer with the same name.
func TestSwappedIntoAnother(t *testing.T) {
	one := "sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b" // digest of 1
	s := &source{task: "task_1"}
	s.add("e0", "task.submitted", 1, members{"autonomy_tier": "shadow"})
	s.add("e1", "task.started", 1, members{})
	for i := range 2 {
		s.add(fmt.Sprint("l", i), "span.completed", 2, members{"kind": "llm", "span_id": "s1", "provider": "p", "model": "m", "response": i})
	}
	s.add("m0", "agent.memory_read", 2, members{"memory_id": "m", "sha256": strings.Repeat("0a", 32)})
	s.add("m1", "agent.memory_read", 2, members{"memory_id": "m", "sha256": one})
	s.add("e2", "task.completed", 3, members{})
	p := plan(t, readLog(t, s.bytes()), `{"mode":"with_overrides","override":{"llm:main:1":{"kind":"llm_provider_response","value":1,"visibility":"public"},"host:memory:m":{"kind":"host_fact","value":1}}}`)

	d := recorded(t, events(t, p, replay.Run{TaskID: "task_2"}))
	var got []string
	for _, m := range d.ReplayInput.Materials[1:] {
		got = append(got, fmt.Sprint(m.ID, " ", m.SHA256 == p.Deltas()[0].AfterSHA256.Digest, " ", m.Metadata["override_key"]))
	}
	const want = "llm:main:1 true llm:main:1, llm:main:2 true <nil>, host:memory:m true host:memory:m, host:memory:m#2 true <nil>"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	if rep, _ := check(t, p, sealed(t, d)); rep.Verdict != receipt.Verified {
		t.Error(findings(rep))
	}
}

// TestAtOnce verifies that a plan returns each answer to only one of many concurrent callers, and
// that it can write events at the same time.
func TestAtOnce(t *testing.T) {
	p := plan(t, readLog(t, garden().bytes()), overrides)
	for _, key := range p.Unmatched() { // the events contain these answers only after they were requested
		if _, err := p.Take(context.Background(), key); err != nil {
			t.Fatal(err)
		}
	}
	want := bytes.Join(events(t, p, replay.Run{TaskID: "task_2"}), nil)
	keys := append(p.Untaken(), "host:label:x", "llm:main:1")
	var mu sync.Mutex
	taken := map[string]int{}
	var done sync.WaitGroup
	for i := range 8 {
		done.Go(func() {
			for j := range keys {
				a, err := p.Take(context.Background(), keys[(i+j)%len(keys)])
				if err == nil {
					mu.Lock()
					taken[a.Key]++
					mu.Unlock()
				}
				p.Untaken()
			}
		})
		done.Go(func() {
			if got := bytes.Join(events(t, p, replay.Run{TaskID: "task_2"}), nil); !bytes.Equal(got, want) {
				t.Error("other events")
			}
			p.Deltas()
		})
	}
	done.Wait()
	for key, n := range taken {
		if n != 1 {
			t.Errorf("%s was taken %d times", key, n)
		}
	}
	if left := strings.Join(p.Untaken(), " "); left != "snap_1 llm:main:2" || len(taken) < 7 {
		t.Errorf("left: %s, taken: %v", left, taken)
	}
}
