package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// TestKilled kills the program repeatedly while four clients use it. All acknowledged data must be
// present exactly once, no other data may be present, and streams must continue where they stopped.
func TestKilled(t *testing.T) {
	kills := testsize.Of(4, 30, 100)
	w := &world{t: t, dir: t.TempDir(), tasks: map[string]string{}}
	w.begin()
	workspace := w.ask("GET", "/v1/workspaces", "", nil)["data"].([]any)[0].(map[string]any)["id"].(string)

	var clients sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var seen []*follower
	var readers sync.WaitGroup
	for n := range 4 {
		session := w.ask("POST", "/v1/sessions", fmt.Sprint("session-", n), object{"workspace_id": workspace})["id"].(string)
		f := &follower{w: w, session: session}
		seen = append(seen, f)
		readers.Go(func() { f.follow(ctx) })
		clients.Go(func() {
			for round := 0; !w.over.Load(); round++ {
				w.work(session, n, round)
			}
		})
	}

	for range kills {
		time.Sleep(time.Duration(30+mathrand.IntN(120)) * time.Millisecond)
		w.kill()
		w.begin()
	}
	w.over.Store(true)
	clients.Wait()
	w.settle()
	for _, f := range seen {
		f.until(w.last(f.session))
	}
	stop()
	readers.Wait()
	w.check(seen)
	w.interrupt()
	w.checkLedger()
	if kills == 100 {
		w.checkCommand()
	}
	t.Logf("%d kills, %d tasks, %d streams begun", kills, len(w.tasks), w.streams.Load())
}

type object map[string]any

// A world consists of the running program and the data that clients have received from it.
type world struct {
	t         *testing.T
	dir, file string // the directory of the program, and the file that contains its clients' keys
	key       string
	over      atomic.Bool
	streams   atomic.Int64

	mu      sync.Mutex
	process *process
	tasks   map[string]string // task IDs that clients received, indexed by the idempotency keys of their requests
}

// begin starts the program with the data from the previous run.
func (w *world) begin() {
	w.t.Helper()
	if w.key == "" {
		text, entry, err := protocol.NewAPIKey(rand.Reader, "clients", time.Now())
		if err != nil {
			w.t.Fatal(err)
		}
		line, err := json.Marshal(entry)
		if err != nil {
			w.t.Fatal(err)
		}
		w.key, w.file = text, filepath.Join(w.dir, "keys.jsonl")
		if err := os.WriteFile(w.file, line, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	p := start(w.t, "-data", filepath.Join(w.dir, "data"), "-api-keys", w.file)
	w.mu.Lock()
	w.process = p
	w.mu.Unlock()
}

// kill ends the program with SIGKILL, like a crash.
func (w *world) kill() {
	w.process.cmd.Process.Kill()
	w.process.cmd.Wait()
	if w.process.errors.Len() > 0 {
		w.t.Errorf("it complained:\n%s", &w.process.errors)
	}
}

func (w *world) interrupt() {
	w.process.cmd.Process.Signal(os.Interrupt)
	if err := w.process.cmd.Wait(); err != nil || w.process.errors.Len() > 0 {
		w.t.Errorf("%v\n%s", err, &w.process.errors)
	}
}

func (w *world) url() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.process.url
}

func (w *world) request(ctx context.Context, method, path string, body []byte) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, w.url()+path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set(protocol.VersionHeader, protocol.Version)
	r.Header.Set("Content-Type", protocol.MediaJSON)
	r.Header.Set("Authorization", "Bearer "+w.key)
	return r
}

// ask repeats a request until the program responds, even across restarts. A request that must take
// effect only once has the same key on each attempt.
func (w *world) ask(method, path, key string, body any) (answer object) {
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		r := w.request(w.t.Context(), method, path, text)
		if key != "" {
			r.Header.Set(protocol.IdempotencyHeader, key)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			continue
		}
		data, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode == http.StatusServiceUnavailable {
			continue
		}
		answer = object{}
		if err := json.Unmarshal(data, &answer); err != nil || response.StatusCode >= 300 {
			w.t.Errorf("%s %s: %d %v\n%s", method, path, response.StatusCode, err, data)
			return answer
		}
		if answer["object"] != "request.in_flight" {
			return answer
		}
	}
	w.t.Errorf("%s %s: no answer", method, path)
	return object{}
}

// note records the ID that a client received. If the client already received an ID for the same
// key, the IDs must be equal.
func (w *world) note(key string, answer object) string {
	id, _ := answer["id"].(string)
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, known := w.tasks[key]; known && before != id {
		w.t.Errorf("the key %s is the task %s, and then %s", key, before, id)
	}
	w.tasks[key] = id
	return id
}

// words returns the text of the task that is submitted in a round.
func words(round int) string {
	return []string{"water the beans", "/ask how many?", "/wait", "look at the beans"}[round%4]
}

func message(text string) object {
	return object{"role": "user", "parts": []object{{"type": "text", "text": text, "visibility": "public"}}}
}

// submit submits the task for a round. The task may already have been submitted.
func (w *world) submit(session string, client, round int) (id string) {
	key := fmt.Sprintf("%d-%d", client, round)
	return w.note(key, w.ask("POST", "/v1/sessions/"+session+"/tasks", key, object{"input": message(words(round))}))
}

// work submits one task, and repeats the request for an earlier task.
func (w *world) work(session string, client, round int) {
	id := w.submit(session, client, round)
	w.submit(session, client, mathrand.IntN(round+1)) // The response for the earlier task must be the same after any number of kills.
	key := fmt.Sprintf("%d-%d", client, round)

	switch round % 4 {
	case 1:
		w.reach(id, "INPUT_REQUIRED")
		w.ask("POST", "/v1/tasks/"+id+"/messages", key, object{"kind": "input", "message": message("seven")})
	case 2:
		w.ask("POST", "/v1/tasks/"+id+"/cancel", key, object{"reason": "enough"})
	case 3:
		w.reach(id, "COMPLETED")
		for range 2 {
			w.note(key+"-replay", w.ask("POST", "/v1/tasks/"+id+"/replay", key, nil))
		}
	}
}

// reach waits until a task has the given status.
func (w *world) reach(id, status string) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if w.ask("GET", "/v1/tasks/"+id, "", nil)["status"] == status {
			return
		}
	}
	w.t.Errorf("the task %s does not get to %s", id, status)
}

// settle waits until all tasks have ended.
func (w *world) settle() {
	for _, id := range w.tasks {
		for end := time.Now().Add(time.Minute); w.ask("GET", "/v1/tasks/"+id, "", nil)["receipt_id"] == nil; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				w.t.Fatalf("the task %s does not end", id)
			}
		}
	}
}

// all returns all items in a list.
func (w *world) all(path string) (items []object) {
	for cursor := ""; ; {
		page := w.ask("GET", path+cursor, "", nil)
		for _, item := range page["data"].([]any) {
			items = append(items, item.(map[string]any))
		}
		rest := page["page"].(map[string]any)
		if rest["has_more"] != true {
			return items
		}
		cursor = "&cursor=" + rest["next_cursor"].(string)
		if strings.Contains(path, "/events") {
			cursor = "&after_event_id=" + rest["next_cursor"].(string)
		}
	}
}

// last returns the ID of the last event in a session.
func (w *world) last(session string) string {
	events := w.all("/v1/sessions/" + session + "/events?limit=200")
	return events[len(events)-1]["id"].(string)
}

// check compares the data that the program reports now with the data that it reported earlier.
func (w *world) check(followers []*follower) {
	tasks := w.all("/v1/tasks?limit=200")
	told := map[string]bool{}
	for _, id := range w.tasks {
		told[id] = true
	}
	if len(tasks) != len(told) || len(told) != len(w.tasks) {
		w.t.Errorf("%d tasks are there, %d were acknowledged for %d keys", len(tasks), len(told), len(w.tasks))
	}
	for _, task := range tasks {
		id := task["id"].(string)
		if !told[id] {
			w.t.Errorf("no client received the task %s", id)
		}
		receipts := w.all("/v1/tasks/" + id + "/receipts?limit=200")
		if len(receipts) != 1 || receipts[0]["id"] != task["receipt_id"] {
			w.t.Errorf("the task %s has %d receipts", id, len(receipts))
		}
		issued := 0
		for n, e := range w.all("/v1/tasks/" + id + "/events?limit=200") {
			if e["sequence"] != float64(n+1) {
				w.t.Errorf("the event %d of the task %s has the sequence %v", n+1, id, e["sequence"])
			}
			if e["event"] == "receipt.issued" {
				issued++
			}
		}
		if issued != 1 {
			w.t.Errorf("%d times receipt.issued of the task %s", issued, id)
		}
	}
	for _, f := range followers {
		var want []string
		for _, e := range w.all("/v1/sessions/" + f.session + "/events?limit=200") {
			want = append(want, e["id"].(string))
		}
		if got := f.told(); !slices.Equal(got, want) {
			w.t.Errorf("a stream reported %d events, the range has %d", len(got), len(want))
		}
	}
}

// checkLedger checks that each task has a receipt, and that all receipts form one complete chain.
func (w *world) checkLedger() {
	l, err := sqlite.OpenReadOnly(w.t.Context(), filepath.Join(w.dir, "data", "ledger.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer l.Close()
	set, err := read("../../../fixtures/keys/trust.json", keys.ParseSet)
	if err != nil {
		w.t.Fatal(err)
	}
	v, err := receipt.NewVerifier(set, receipt.Policy{})
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := ledger.Check(w.t.Context(), l, v, func(f ledger.Fault) { w.t.Errorf("%+v", f) }, nil)
	if err != nil || c.Verified != len(w.tasks) || len(c.Streams) != 1 {
		w.t.Errorf("%+v, %v; expected %d receipts", c, err, len(w.tasks))
	}
}

// checkCommand exports the ledger and verifies the export with the command "receipt".
func (w *world) checkCommand() {
	out := filepath.Join(w.dir, "receipts.jsonl")
	for _, args := range [][]string{
		{"ledger", "export", filepath.Join(w.dir, "data", "ledger.db"), "-o", out},
		{"verify", out, "--keys", "fixtures/keys/trust.json", "--quiet"},
	} {
		cmd := exec.Command("go", append([]string{"run", "./cmd/receipt"}, args...)...)
		cmd.Dir = "../../.."
		if text, err := cmd.CombinedOutput(); err != nil {
			w.t.Errorf("receipt %s: %v\n%s", args[0], err, text)
		}
	}
}

// A follower reads the event stream of a session, and reconnects with the last event ID that it
// received.
type follower struct {
	w       *world
	session string

	mu  sync.Mutex
	ids []string
}

func (f *follower) follow(ctx context.Context) {
	for ctx.Err() == nil {
		f.read(ctx)
		time.Sleep(5 * time.Millisecond)
	}
}

// read reads until the stream ends. An incomplete frame is not recorded as received.
func (f *follower) read(ctx context.Context) {
	r := f.w.request(ctx, "GET", "/v1/sessions/"+f.session+"/events/stream", nil)
	if ids := f.told(); len(ids) > 0 {
		r.Header.Set("Last-Event-ID", ids[len(ids)-1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return
	}
	defer response.Body.Close()
	f.w.streams.Add(1)
	id := ""
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		switch label, value, _ := strings.Cut(lines.Text(), ": "); {
		case label == "id":
			id = value
		case label == "event" && value == "error":
			f.w.t.Errorf("the stream of %s ends with an error", f.session)
		case lines.Text() == "" && id != "":
			f.mu.Lock()
			f.ids = append(f.ids, id)
			f.mu.Unlock()
			id = ""
		}
	}
}

func (f *follower) told() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ids)
}

// until waits until the given event is received.
func (f *follower) until(id string) {
	for end := time.Now().Add(time.Minute); !slices.Contains(f.told(), id); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			f.w.t.Fatalf("the stream of %s does not tell %s", f.session, id)
		}
	}
}
