package harness_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// again reopens the harness in the same directory, as after a restart.
func again(t testing.TB, dir string, before *client) *client {
	t.Helper()
	_, c := start(t, options(t, dir))
	c.workspace, c.session, c.key = before.workspace, before.session, before.key
	return c
}

// TestLongMessages verifies that messages up to the size limit of a request body are accepted, with
// and without an Idempotency-Key. A repeated request must get the same bytes even after a restart,
// and the harness must be able to write after each message.
func TestLongMessages(t *testing.T) {
	dir := t.TempDir()
	h, c := start(t, options(t, dir))
	c.begin()
	path := "/v1/sessions/" + c.session + "/messages"
	longest := replay.MaxRequest - len(mustJSON(t, object{"message": message("")}))
	const remembered = 2 << 20 // size of the longest response that is remembered, unless a log stores it
	sizes := []int{1, 511, 513, remembered - 400, remembered, longest}
	if testsize.Full() {
		for n := 1; n < longest; n *= 2 {
			sizes = append(sizes, n, n+n/3)
		}
	}
	answers := map[string][]byte{}
	for i, n := range sizes {
		body := object{"message": message(strings.Repeat("x", n))}
		if status, text := c.do("POST", path, body); status != 201 {
			t.Errorf("%d bytes without a key: %d %.100s", n, status, text)
		}
		key := fmt.Sprint("key-", i)
		status, text := c.do("POST", path, body, protocol.IdempotencyHeader, key)
		if status != 201 || len(text) < n {
			t.Errorf("%d bytes with a key: %d %.100s", n, status, text)
		}
		if _, same := c.do("POST", path, body, protocol.IdempotencyHeader, key); !bytes.Equal(same, text) {
			t.Errorf("%d bytes: the repeated request is answered %.100s", n, same)
		}
		answers[key] = text
	}
	if status, text := c.do("POST", path, object{"message": message(strings.Repeat("x", longest+1))}, protocol.IdempotencyHeader, "k"); status != 413 {
		t.Errorf("a body beyond the limit: %d %.100s", status, text)
	}
	c.reach(c.submit("after all of them"), "COMPLETED")
	h.Close()

	c = again(t, dir, c)
	for i, n := range sizes {
		key := fmt.Sprint("key-", i)
		if status, same := c.do("POST", path, object{"message": message(strings.Repeat("x", n))}, protocol.IdempotencyHeader, key); status != 201 || !bytes.Equal(same, answers[key]) {
			t.Errorf("%d bytes, after a restart: %d %.100s", n, status, same)
		}
	}
	seen := 0
	for cursor := ""; ; {
		list := c.get(path + "?limit=200" + cursor)
		if text := mustJSON(t, list); len(text) > 9<<20 {
			t.Errorf("a page has %d bytes", len(text))
		}
		seen += len(list["data"].([]any))
		if list["page"].(map[string]any)["has_more"] != true {
			break
		}
		cursor = "&cursor=" + list["page"].(map[string]any)["next_cursor"].(string)
	}
	if want := 2*len(sizes) + 1; seen != want { // plus the message that belongs to the task
		t.Errorf("%d messages are listed, expected %d", seen, want)
	}
}

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestLongLines verifies that, if escapes would make a request's log line too long, the request is
// rejected with status 413 before anything is written, even if it is repeated with the same key.
func TestLongLines(t *testing.T) {
	dir := t.TempDir()
	_, c := start(t, options(t, dir))
	c.begin()
	path := "/v1/sessions/" + c.session + "/messages"
	body := object{"message": message(strings.Repeat("\x7f", replay.MaxRequest-200))} // six bytes each
	for range 2 {
		if status, text := c.do("POST", path, body, protocol.IdempotencyHeader, "k"); status != 413 {
			t.Errorf("%d %.200s", status, text)
		}
	}
	if status, text := c.do("POST", path, object{"message": message("short")}, protocol.IdempotencyHeader, "k"); status != 201 {
		t.Errorf("the key of a request that was refused: %d %.200s", status, text)
	}
	if status, _ := c.do("GET", "/readyz", nil); status != 200 {
		t.Errorf("%d when everything can be written", status)
	}
}

// TestEarlierJournal verifies that a journal from an earlier version can be opened. The journal has
// no head, and contains a response that was too long to be remembered. The earlier version could
// write such a response but not read it.
func TestEarlierJournal(t *testing.T) {
	dir := t.TempDir()
	h, c := start(t, options(t, dir))
	c.begin()
	h.Close()
	log := filepath.Join(dir, "events.jsonl")
	j, err := journal.Open(log, func(*journal.Commit) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	of := journal.Pointer{Object: "message", ID: "message_long"}
	use := protocol.Use{Key: canon.Sum([]byte("k")), Body: canon.Sum([]byte("b"))}
	long := object{"id": of.ID, "role": "user", "parts": []object{{"type": "text", "text": strings.Repeat("x", 3<<20), "visibility": "public"}}}
	err = j.Append(&journal.Commit{At: receipt.At(time.Now()), Use: use, Status: 201, Resource: of, Events: []journal.Event{{
		Kind: "session.message_appended", Resource: journal.Pointer{Object: "session", ID: c.session}, Workspace: c.workspace, Session: c.session, Payload: mustJSON(t, object{"message": long}),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	if err := os.Remove(log + "-head"); err != nil {
		t.Fatal(err)
	}

	c = again(t, dir, c)
	if status, text := c.do("GET", "/v1/messages/"+of.ID, nil); status != 200 || len(text) < 3<<20 {
		t.Errorf("%d %.200s", status, text)
	}
	c.reach(c.submit("it goes on"), "COMPLETED")
	if _, err := os.Stat(log + "-head"); err != nil {
		t.Error(err)
	}
}

// TestOthersMessages verifies that the cost of listing one session does not depend on the messages
// in other sessions.
func TestOthersMessages(t *testing.T) {
	_, c := start(t, options(t, t.TempDir()))
	c.begin()
	var many []object
	for range 20_000 {
		many = append(many, message("x"))
	}
	c.post("/v1/sessions", 201, object{"workspace_id": c.workspace, "initial_messages": many})
	c.post("/v1/sessions/"+c.session+"/messages", 201, object{"message": message("own")})

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const times = 20
	for range times {
		if list := c.list("/v1/sessions/" + c.session + "/messages"); len(list) != 1 {
			t.Fatal(list)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / times; each > 100<<10 {
		t.Errorf("a list of one message takes %d bytes", each)
	}
}

// TestLongNames verifies that long names are rejected, because names stay in memory, but that other
// values of any length are accepted and read from the log.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	_, c := start(t, options(t, dir))
	c.begin()
	long := strings.Repeat("n", 4097)
	artifact := object{"kind": "log", "mime_type": "text/plain", "visibility": "public", "workspace_id": c.workspace}
	for path, body := range map[string]object{
		"/v1/workspaces":                       {"name": long, "root": "harn://x"},
		"/v1/sessions/" + c.session + "/tasks": {"input": message("x"), "branch_id": long},
		"/v1/artifacts":                        {"kind": "log", "mime_type": long, "visibility": "public", "workspace_id": c.workspace},
	} {
		if status, text := c.do("POST", path, body); status != 400 && status != 422 {
			t.Errorf("%s: %d %.200s", path, status, text)
		}
	}

	value := object{"long": strings.Repeat("v", 100_000)}
	artifact["metadata"] = value
	made := c.post("/v1/artifacts", 201, artifact)
	session := c.ask("PATCH", "/v1/sessions/"+c.session, 200, object{"metadata": value, "summary": long}, protocol.IdempotencyHeader, "k")
	c.ask("PATCH", "/v1/sessions/"+c.session, 200, object{"metadata": object{}, "summary": nil})
	c = again(t, copied(t, dir), c)
	for path, want := range map[string]object{"/v1/artifacts/" + made["id"].(string): value, "/v1/sessions/" + c.session: {}} {
		if got := c.get(path)["metadata"]; fmt.Sprint(got) != fmt.Sprint(map[string]any(want)) {
			t.Errorf("%s: %.100v", path, got)
		}
	}
	if same := c.ask("PATCH", "/v1/sessions/"+c.session, 200, object{"metadata": value, "summary": long}, protocol.IdempotencyHeader, "k"); fmt.Sprint(same) != fmt.Sprint(session) {
		t.Errorf("the repeated request is answered %.300v", same)
	}
}

// copied copies the log of a running harness, as if the harness had crashed.
func copied(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{"events.jsonl", "events.jsonl-head"} {
		write(t, filepath.Join(to, name), read(t, filepath.Join(dir, name)))
	}
	return to
}
