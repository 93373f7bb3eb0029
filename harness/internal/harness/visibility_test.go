package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/harness/internal/harness"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// Only clients that have the corresponding scope may see these words.
const (
	internalWord    = "redcurrant"
	receiptOnlyWord = "blackcurrant"
)

// hidden returns a message that contains a part for each combination of visibility and type. One
// name is written with an escape, and one visibility value is unknown.
func hidden(text string) object {
	parts := []any{object{"type": "text", "text": text, "visibility": "public"}}
	parts = append(parts, object{"type": "json", "visibility": "public", "value": object{"visibility": "of_tomorrow", "words": []string{receiptOnlyWord}}})
	for _, word := range []string{internalWord, receiptOnlyWord} {
		visibility := "internal"
		if word == receiptOnlyWord {
			visibility = "receipt_only"
		}
		parts = append(parts,
			object{"type": "text", "text": word, "visibility": visibility},
			object{"type": "json", "value": []string{word}, "visibility": visibility},
			object{"type": "tool_call", "tool_call_id": word, "name": word, "input": object{word: word}, "visibility": visibility},
			object{"type": "file_ref", "uri": "file:///" + word, "mime_type": word, "visibility": visibility},
			json.RawMessage(`{"type":"text","text":"`+word+`","visibilit\u0079":"`+visibility+`"}`))
	}
	return object{"role": "user", "parts": parts}
}

// TestVisibility verifies that, for a client without the required scope, an internal or
// receipt_only word appears in no response, stream, outcome, or artifact. This also applies if the
// model repeats its input, after a restart, and in a replay.
func TestVisibility(t *testing.T) {
	without := func(scopes ...protocol.Scope) func(*protocol.APIKey) {
		return func(k *protocol.APIKey) {
			k.Scopes = slices.DeleteFunc(harness.Scopes(), func(s protocol.Scope) bool { return slices.Contains(scopes, s) })
		}
	}
	texts, parsed := apiKeys(t, func(*protocol.APIKey) {}, without(protocol.ReceiptOnlyRead), without(protocol.InternalRead, protocol.ReceiptOnlyRead))
	dir := t.TempDir()
	o := options(t, dir)
	o.Auth, o.Public = parsed, false
	h, c := start(t, o)
	c.key = texts[2]
	c.begin()

	// A client without the scopes sends values with every kind of restricted visibility.
	said := c.post("/v1/sessions/"+c.session+"/messages", 201, object{"message": hidden("peas")}, "Idempotency-Key", "said")
	message := said["id"].(string)
	task := c.post("/v1/sessions/"+c.session+"/tasks", 202, object{"input": hidden("beans")})["id"].(string)
	c.reach(task, "COMPLETED")
	asked := c.post("/v1/sessions/"+c.session+"/tasks", 202, object{"input": hidden("/ask how many?")})["id"].(string)
	c.reach(asked, "INPUT_REQUIRED")
	c.post("/v1/tasks/"+asked+"/messages", 201, object{"kind": "interrupt", "message": hidden("wait")})
	c.post("/v1/tasks/"+asked+"/messages", 201, object{"kind": "input", "message": hidden("seven")})
	c.reach(asked, "COMPLETED")
	registered := c.post("/v1/artifacts", 201, object{"kind": "log", "mime_type": "text/plain", "uri": "harn://" + receiptOnlyWord, "visibility": "receipt_only",
		"workspace_id": c.workspace, "metadata": object{"word": receiptOnlyWord}})["id"].(string)
	replayed := c.post("/v1/tasks/"+task+"/replay", 202, object{"mode": "exact"})["id"].(string)
	c.reach(replayed, "COMPLETED")

	look := func(when string, c *client) {
		t.Helper()
		paths := []string{"/v1/messages/" + message, "/v1/artifacts", "/v1/artifacts/" + registered, "/v1/artifacts/" + registered + "/content", "/v1/outcomes", "/v1/sessions", "/v1/tasks",
			"/v1/sessions/" + c.session + "/messages", "/v1/sessions/" + c.session + "/tasks", "/v1/sessions/" + c.session + "/events?limit=200", "/v1/events?limit=200",
			"stream /v1/events/stream", "stream /v1/sessions/" + c.session + "/events/stream"}
		for _, task := range []string{task, asked, replayed} {
			paths = append(paths, "/v1/tasks/"+task, "/v1/tasks/"+task+"/events?limit=200", "stream /v1/tasks/"+task+"/stream", "/v1/outcomes?task_id="+task, "/v1/tasks/"+task+"/receipts")
		}
		for _, e := range c.list("/v1/events?limit=200") {
			paths = append(paths, "/v1/events/"+e["id"].(string))
		}

		seen := map[string]int{}
		for i, key := range texts {
			c.key = key
			for _, path := range paths {
				var body []byte
				if stream, is := strings.CutPrefix(path, "stream "); is {
					body = c.streamed(stream)
				} else {
					_, body = c.do("GET", path, nil)
				}
				for word, most := range map[string]int{internalWord: 1, receiptOnlyWord: 0} {
					if bytes.Contains(body, []byte(word)) {
						if seen[word]++; i > most {
							t.Errorf("%s: key %d sees %s in %s:\n%.2000s", when, i, word, path, body)
						}
					}
				}
			}
		}
		if seen[internalWord] < 20 || seen[receiptOnlyWord] < 10 {
			t.Errorf("%s: clients with the scopes see %v", when, seen)
		}
		c.key = texts[2]
	}
	look("running", c)
	if again := c.post("/v1/sessions/"+c.session+"/messages", 201, object{"message": hidden("peas")}, "Idempotency-Key", "said"); again["id"] != message {
		t.Errorf("%v", again)
	}

	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	_, later := start(t, o)
	later.session, later.workspace, later.key = c.session, c.workspace, texts[2]
	look("after a restart", later)
	_, again := later.do("POST", "/v1/sessions/"+c.session+"/messages", object{"message": hidden("peas")}, "Idempotency-Key", "said")
	if !bytes.Contains(again, []byte(message)) || bytes.Contains(again, []byte("currant")) {
		t.Errorf("the remembered answer: %s", again)
	}
}

// streamed returns the events that arrive on a stream within a short time after the response began.
func (c *client) streamed(path string) []byte {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", c.url+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set(protocol.VersionHeader, protocol.Version)
	r.Header.Set("Authorization", "Bearer "+c.key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	time.AfterFunc(300*time.Millisecond, cancel)
	text, _ := io.ReadAll(answer.Body)
	return text
}
