package serve_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// TestIdempotency verifies that a client cannot reuse a key with another body for the same receipt
// within a day, and that a failed request releases its key.
func TestIdempotency(t *testing.T) {
	var clock atomic.Int64
	o := shelved(t)
	o.Now = func() time.Time { return noon().Add(time.Duration(clock.Load())) }
	mine, first := narrowKey(t, "mine", "")
	yours, second := narrowKey(t, "yours", "")
	keys, err := serve.ParseAPIKeys([]byte(first + second))
	if err != nil {
		t.Fatal(err)
	}
	o.Auth, o.Public = keys, false
	h := start(t, o)
	ask := func(secret, id, body string, headers ...string) string {
		t.Helper()
		got := h.post("/v1/receipts/"+id+"/verify", "application/json", []byte(body), append(append(version(), "Authorization", "Bearer "+secret), headers...)...)
		return fmt.Sprint(got.status, " ", got.code())
	}
	const at, other = `{"at_time":"2026-05-01T00:00:00Z"}`, `{"at_time":"2026-05-02T00:00:00Z"}`
	for i, c := range []struct{ secret, id, body, key, want string }{
		{mine, "good", at, "k", "200 "},
		{mine, "good", " {\"at_time\" : \"2026-05-01T00:00:00\\u005a\"}", "k", "200 "}, // the same body with another spelling
		{mine, "good", other, "k", "409 idempotency_key_reused"},
		{mine, "good", "", "k", "409 idempotency_key_reused"},
		{mine, "good", at, "k", "200 "},
		{mine, "good", other, "K", "200 "},
		{mine, "corrupted", other, "k", "200 "}, // another receipt
		{yours, "good", other, "k", "200 "},     // another client
		{mine, "good", "", "empty", "200 "},
		{mine, "good", "{}", "empty", "200 "},
		{mine, "absent", at, "failed", "404 resource_not_found"},
		{mine, "absent", other, "failed", "404 resource_not_found"},
		{mine, "good", `{"trust_anchor":"none"}`, "bad", "400 invalid_request"},
		{mine, "good", at, "bad", "200 "},
	} {
		if got := ask(c.secret, c.id, c.body, "Idempotency-Key", c.key); got != c.want {
			t.Errorf("%d: %s %s: %s, expected %s", i, c.id, c.body, got, c.want)
		}
	}
	if got := h.post("/v1/receipts/good/verify", "application/json", []byte(other), append(version(), "Authorization", "Bearer "+mine, "Idempotency-Key", "k")...); !strings.Contains(string(got.body), `"type":"conflict_error","param":"Idempotency-Key"`) {
		t.Errorf("%s", got.body)
	}
	if got := ask(mine, "good", at, "Idempotency-Key", "a", "Idempotency-Key", "b"); got != "400 invalid_request" {
		t.Errorf("two keys: %s", got)
	}
	clock.Store(int64(25 * time.Hour))
	if got := ask(mine, "good", other, "Idempotency-Key", "k"); got != "200 " {
		t.Errorf("the day after: %s", got)
	}
	for i := range 1100 { // other keys of the same client evict this key, but the keys of another client do not
		ask(mine, "good", at, "Idempotency-Key", fmt.Sprint("many", i))
	}
	for key, want := range map[string]string{"many1": "200 ", "many1099": "409 idempotency_key_reused"} {
		if got := ask(mine, "good", other, "Idempotency-Key", key); got != want {
			t.Errorf("%s, with another body: %s, expected %s", key, got, want)
		}
	}
	if got := ask(yours, "good", at, "Idempotency-Key", "many1099"); got != "200 " {
		t.Errorf("another client: %s", got)
	}
}

// TestAgentCard verifies that the card is served to clients that send neither a version nor a key.
func TestAgentCard(t *testing.T) {
	o := shelved(t)
	_, keys := apiKeysOf(t, "ci")
	o.Auth, o.Public = keys, false
	got := start(t, o).get("/v1/agent-card")
	v := got.object(t)
	if got.status != 200 || v["object"] != "harn_agent_card" || v["protocol_version"] != protocol.Version || fmt.Sprint(v["auth_schemes"], v["capabilities"]) != "[bearer] [receipts]" {
		t.Errorf("%d %s", got.status, got.body)
	}
	again := start(t, options(t)).get("/v1/agent-card", slices.Concat(version(), []string{"Authorization", "Bearer nonsense"})...)
	if v := again.object(t); again.status != 200 || fmt.Sprint(v["auth_schemes"], v["capabilities"]) != "[] []" {
		t.Errorf("%d %s", again.status, again.body)
	}
}
