package journal_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/harness/feed"
	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

func noon() receipt.Time { return receipt.At(time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC)) }

// open opens a journal. The IDs of the events in each commit are appended to applied.
func open(t testing.TB, path string) (j *journal.Journal, applied *[]string) {
	t.Helper()
	applied = new([]string)
	j, err := journal.Open(path, func(c *journal.Commit) error { *applied = append(*applied, ids(c)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j, applied
}

func ids(c *journal.Commit) string {
	var list []string
	for _, e := range c.Events {
		list = append(list, fmt.Sprintf("%s/%d", e.ID, e.Sequence))
	}
	return strings.Join(list, " ")
}

// happened returns an event for a task that has a workspace and a session.
func happened(kind, task string) journal.Event {
	return journal.Event{Kind: kind, Resource: journal.Pointer{Object: "task", ID: task}, Workspace: "garden", Session: "s", Task: task, Payload: json.RawMessage(`{"n":1.50}`)}
}

func add(t testing.TB, j *journal.Journal, events ...journal.Event) *journal.Commit {
	t.Helper()
	c := &journal.Commit{At: noon(), Events: events}
	if err := j.Append(c); err != nil {
		t.Fatal(err)
	}
	return c
}

// after returns the IDs of the events in a view that follow the given ID.
func after(t testing.TB, j *journal.Journal, v journal.View, id string, limit int) (list []string, err error) {
	t.Helper()
	events, err := j.Log(v).After(t.Context(), id, limit)
	for _, e := range events {
		var told struct{ ID, Event string }
		if err := json.Unmarshal(e.JSON, &told); err != nil || told.ID != e.ID || told.Event != e.Kind {
			t.Errorf("%s, %s: %v\n%s", e.ID, e.Kind, err, e.JSON)
		}
		list = append(list, e.ID)
	}
	return list, err
}

// TestReopened verifies that reopening a journal applies the same events in the same order and with
// the same IDs, and that new events get the next numbers.
func TestReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	j, applied := open(t, path)
	add(t, j, happened("task.submitted", "a"), happened("task.started", "a"))
	add(t, j, happened("task.submitted", "b"))
	add(t, j, happened("task.completed", "a"))
	want := "[event_1/1 event_2/2 event_3/1 event_4/3]"
	if got := fmt.Sprint(*applied); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	j.Close()

	j, applied = open(t, path)
	if got := fmt.Sprint(*applied); got != want {
		t.Errorf("opened again: %s, expected %s", got, want)
	}
	if c := add(t, j, happened("task.completed", "b")); c.Events[0].ID != "event_5" || c.Events[0].Previous != "event_3" || c.Events[0].Sequence != 2 {
		t.Errorf("%+v", c.Events[0])
	}
	text, err := j.Event(journal.View{}, "event_1")
	if err != nil || !bytes.Contains(text, []byte(`"payload":{"n":1.50}`)) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestCut verifies that a journal that is truncated at any position keeps its complete commits and
// accepts more.
func TestCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	j, _ := open(t, path)
	add(t, j, happened("task.submitted", "a"))
	add(t, j, happened("task.submitted", "b"), happened("task.started", "b"))
	j.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1

	for n := range len(whole) + 1 {
		if !testsize.Full() && n%7 != 0 && n != first && n != first-1 && n < len(whole)-1 {
			continue // CI tests all positions.
		}
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		want := 0
		if n >= first {
			want++
		}
		if n == len(whole) {
			want++
		}
		headless(t, path)
		j, applied := open(t, path)
		if len(*applied) != want {
			t.Fatalf("%d bytes: %d commits, expected %d", n, len(*applied), want)
		}
		add(t, j, happened("task.submitted", "c"))
		j.Close()
		j, applied = open(t, path)
		if len(*applied) != want+1 {
			t.Fatalf("%d bytes: %d commits after one more", n, len(*applied))
		}
		j.Close()
	}
}

// TestDamage verifies that a line that is unreadable or in the wrong place is reported as damage,
// unless it is the last line.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	j, _ := open(t, path)
	for range 3 {
		add(t, j, happened("task.submitted", "a"))
	}
	j.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for name, bad := range map[string][][]byte{
		"garbled":     {lines[0], []byte("{\"at\n"), lines[2]},
		"left out":    {lines[0], lines[2]},
		"twice":       {lines[0], lines[1], lines[1], lines[2]},
		"no sequence": {lines[0], bytes.Replace(lines[1], []byte(`"sequence":2`), []byte(`"sequence":3`), 1), lines[2]},
		"no status":   {lines[0], bytes.Replace(lines[1], []byte(`"events"`), []byte(`"use":{"actor":"","key":"sha256:`+strings.Repeat("a", 64)+`","body":"sha256:`+strings.Repeat("a", 64)+`"},"events"`), 1), lines[2]},
	} {
		file := summed(bytes.Join(bad, nil)) // the checksums are correct, so they do not reveal this damage
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := journal.Open(path, func(*journal.Commit) error { return nil })
		if damage, ok := errors.AsType[*journal.DamageError](err); !ok || damage.Line != 2 && name != "twice" {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, file) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// TestOneProgram verifies that two programs cannot open the same journal.
func TestOneProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no locks there")
	}
	path := filepath.Join(t.TempDir(), "events.jsonl")
	open(t, path)
	if _, err := journal.Open(path, func(*journal.Commit) error { return nil }); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("%v", err)
	}
}

// TestViews verifies that a view returns its own events in order, starting after any of them.
func TestViews(t *testing.T) {
	j, _ := open(t, filepath.Join(t.TempDir(), "events.jsonl"))
	add(t, j, happened("task.submitted", "a"), happened("task.submitted", "b"))
	other := happened("task.submitted", "c")
	other.Workspace, other.Session = "attic", "s2"
	add(t, j, other, happened("task.completed", "a"))

	ended := false
	for _, test := range []struct {
		view  journal.View
		from  string
		limit int
		want  string
		err   error
	}{
		{journal.View{}, "", 9, "event_1 event_2 event_3 event_4", nil},
		{journal.View{}, "event_1", 2, "event_2 event_3", nil},
		{journal.View{}, "event_4", 2, "", nil},
		{journal.View{Task: "a"}, "", 9, "event_1 event_4", nil},
		{journal.View{Task: "a"}, "event_1", 9, "event_4", nil},
		{journal.View{Task: "a"}, "event_2", 9, "", feed.ErrGone},
		{journal.View{Session: "s"}, "event_1", 1, "event_2", nil},
		{journal.View{Workspace: "attic"}, "", 9, "event_3", nil},
		{journal.View{Workspace: "attic", Task: "a"}, "", 9, "", nil},
		{journal.View{Task: "absent"}, "", 9, "", nil},
		{journal.View{Sees: func(w string) bool { return w == "attic" }}, "", 9, "event_3", nil},
		{journal.View{Sees: func(w string) bool { return w == "attic" }}, "event_1", 9, "", feed.ErrGone},
		{journal.View{Task: "a", Ended: func() bool { return ended }}, "", 9, "event_1 event_4", nil},
		{journal.View{}, "event_5", 9, "", feed.ErrGone},
		{journal.View{}, "event_0", 9, "", feed.ErrGone},
		{journal.View{}, "event_01", 9, "", feed.ErrGone},
		{journal.View{}, "event_99999999999999999999", 9, "", feed.ErrGone},
		{journal.View{}, "1", 9, "", feed.ErrGone},
	} {
		list, err := after(t, j, test.view, test.from, test.limit)
		if got := strings.Join(list, " "); got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%+v after %q: %q, %v; expected %q, %v", test.view, test.from, got, err, test.want, test.err)
		}
	}

	for want, view := range map[int]journal.View{4: {}, 2: {Task: "a"}, 3: {Session: "s"}, 1: {Workspace: "attic"}, 0: {Task: "absent"}} {
		if got := j.Len(view); got != want {
			t.Errorf("%+v: %d events, expected %d", view, got, want)
		}
	}

	ended = true
	over := journal.View{Task: "a", Ended: func() bool { return ended }}
	if list, err := after(t, j, over, "", 1); len(list) != 1 || err != nil {
		t.Errorf("the first of two: %q, %v", list, err)
	}
	if list, err := after(t, j, over, "", 2); len(list) != 2 || err != io.EOF {
		t.Errorf("both: %q, %v", list, err)
	}
	if _, err := j.Event(journal.View{Task: "b"}, "event_1"); !errors.Is(err, feed.ErrGone) {
		t.Errorf("%v", err)
	}
}

// TestRemembered verifies that a request with an Idempotency-Key gets the same response after a
// restart, byte for byte, and that reusing the key with another body is an error.
func TestRemembered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	j, _ := open(t, path)
	var use protocol.Use
	post := func(m *protocol.Memory, body string) *httptest.ResponseRecorder {
		mux, err := protocol.NewMux(protocol.Options{Public: true, Now: func() time.Time { return noon().Time }, Random: rand.Reader, Memory: m, Routes: []protocol.Route{
			{Pattern: "POST /v1/tasks", Serve: func(w http.ResponseWriter, r *protocol.Request) error {
				use = r.Use
				return protocol.Conflict("not remembered")
			}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "/v1/tasks", strings.NewReader(body))
		for name, value := range map[string]string{protocol.VersionHeader: protocol.Version, "Content-Type": protocol.MediaJSON, protocol.IdempotencyHeader: "k"} {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w
	}
	post(new(protocol.Memory), "{}")
	task := journal.Pointer{Object: "task", ID: "a"}
	if err := j.Append(&journal.Commit{At: noon(), Events: []journal.Event{happened("task.submitted", "a")}, Use: use, Status: http.StatusAccepted, Resource: task}); err != nil {
		t.Fatal(err)
	}
	j.Close()

	m := new(protocol.Memory)
	j, err := journal.Open(path, func(c *journal.Commit) error {
		c.Remember(m, noon().Time, func() any { return c.Resource })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if got := post(m, "{}"); got.Code != http.StatusAccepted || got.Body.String() != `{"object":"task","id":"a"}`+"\n" || got.Header().Get("Content-Type") != protocol.MediaJSON {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := post(m, `{"a":1}`); got.Code != http.StatusConflict || !strings.Contains(got.Body.String(), string(protocol.CodeKeyReused)) {
		t.Errorf("another body was taken for the same request: %d %s", got.Code, got.Body)
	}
}

// TestAppliedIsThere verifies that a reader that sees the effect of a commit can also find the
// commit's events.
func TestAppliedIsThere(t *testing.T) {
	var j *journal.Journal
	found := make(chan int, 1)
	j, err := journal.Open(filepath.Join(t.TempDir(), "events.jsonl"), func(*journal.Commit) error {
		go func() {
			list, err := j.Log(journal.View{}).After(t.Context(), "", 10)
			if err != nil {
				t.Error(err)
			}
			found <- len(list)
		}()
		time.Sleep(50 * time.Millisecond) // gives the other goroutine time to read
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	add(t, j, happened("task.submitted", "a"))
	if n := <-found; n != 1 {
		t.Errorf("%d events for the applied change, expected 1", n)
	}
}

// TestRefused verifies that an event that cannot be written as a line changes nothing, and that an
// error from apply is permanent.
func TestRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	broken := false
	j, err := journal.Open(path, func(*journal.Commit) error {
		if broken {
			return errors.New("broken")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	big := happened("task.submitted", "a")
	big.Payload = json.RawMessage(`"` + strings.Repeat("a", journal.MaxLine) + `"`)
	twice := happened("task.submitted", "a")
	twice.Payload = json.RawMessage(`{"a":1,"a":2}`)
	for _, e := range []journal.Event{big, twice} {
		err := j.Append(&journal.Commit{At: noon(), Events: []journal.Event{e}})
		if err == nil {
			t.Error("accepted")
		}
		if long := errors.Is(err, journal.ErrTooLong) && codeOf(err) == protocol.CodeTooLarge; long != (len(e.Payload) > journal.MaxLine) {
			t.Errorf("%d bytes: %v", len(e.Payload), err)
		}
	}
	if err := j.Ready(); err != nil {
		t.Errorf("after commits that were refused: %v", err)
	}
	add(t, j, happened("task.submitted", "a"))
	broken = true
	for range 2 {
		if err := j.Append(&journal.Commit{At: noon(), Events: []journal.Event{happened("task.completed", "a")}}); err == nil {
			t.Error("accepted after an error")
		}
	}
	if err := j.Ready(); err == nil {
		t.Error("ready after an error that is final")
	}
	if list, err := after(t, j, journal.View{}, "", 9); len(list) != 1 || err != nil {
		t.Errorf("%q, %v", list, err)
	}
}

// TestTogether verifies that many goroutines can write and read at the same time. A reader that
// follows the IDs must receive each event once, in the order of the file.
func TestTogether(t *testing.T) {
	j, _ := open(t, filepath.Join(t.TempDir(), "events.jsonl"))
	const writers, each = 4, 25
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for range each {
				if err := j.Append(&journal.Commit{At: noon(), Events: []journal.Event{happened("task.started", fmt.Sprint(w))}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		group.Go(func() {
			log, last, seen := j.Log(journal.View{}), "", 0
			for seen < writers*each {
				appended := log.Appended()
				events, err := log.After(t.Context(), last, 7)
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range events {
					if seen++; e.ID != fmt.Sprint("event_", seen) {
						t.Errorf("%s as the event %d", e.ID, seen)
						return
					}
					last = e.ID
				}
				if len(events) == 0 {
					<-appended
				}
			}
		})
	}
	group.Wait()
}

// TestLongEvents verifies that the log returns a limited amount of data at a time, but eventually
// returns all events.
func TestLongEvents(t *testing.T) {
	j, _ := open(t, filepath.Join(t.TempDir(), "events.jsonl"))
	for range 5 {
		e := happened("task.started", "a")
		e.Payload = json.RawMessage(`{"text":"` + strings.Repeat("a", 600<<10) + `"}`)
		add(t, j, e)
	}
	view, all := journal.View{Task: "a", Ended: func() bool { return true }}, 0
	for last := ""; ; {
		events, err := j.Log(view).After(t.Context(), last, 9)
		if len(events) > 1 {
			t.Errorf("%d long events at a time", len(events))
		}
		for _, e := range events {
			all, last = all+1, e.ID
		}
		if err == io.EOF {
			break
		}
		if err != nil || len(events) == 0 {
			t.Fatalf("%d events, %v", all, err)
		}
	}
	if all != 5 {
		t.Errorf("%d events", all)
	}
}

// FuzzOpen verifies that opening any file either succeeds or fails with an error. A journal that
// was opened must have numbered events, have the same events when it is opened again, and accept
// more.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "events.jsonl")
	j, _ := open(f, path)
	add(f, j, happened("task.submitted", "a"), happened("task.started", "a"))
	use := protocol.Use{Key: canon.Sum([]byte("k"))}
	if err := j.Append(&journal.Commit{At: noon(), Events: []journal.Event{happened("task.completed", "a")}, Use: use, Status: 202, Resource: journal.Pointer{Object: "task", ID: "a"}}); err != nil {
		f.Fatal(err)
	}
	j.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte("{}\n{\"events\":[{}]}\n"))
	f.Add([]byte("{\"events\":{}}\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = summed(data)
		path := filepath.Join(t.TempDir(), "events.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var first []string
		j, err := journal.Open(path, func(c *journal.Commit) error {
			first = append(first, ids(c))
			c.Remember(new(protocol.Memory), noon().Time, func() any { return c.Resource })
			return nil
		})
		if err != nil {
			return
		}
		list, err := after(t, j, journal.View{}, "", 1000)
		if err != nil || j.Len(journal.View{}) > 1000 || len(list) != j.Len(journal.View{}) {
			t.Errorf("%d events, %v", len(list), err)
		}
		add(t, j, happened("task.submitted", "new"))
		j.Close()
		if _, again := open(t, path); len(*again) != len(first) {
			t.Errorf("%q, and then %q", first, *again)
		}
	})
}

// codeOf returns the code of an error that is sent as a response, or "" for other errors.
func codeOf(err error) protocol.Code {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Code
	}
	return ""
}
