package main

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// ask sends a request with a tenant's token, or without a token.
func ask(h http.Handler, method, path, token, body string) (int, map[string]any) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set(protocol.VersionHeader, protocol.Version)
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var answer map[string]any
	_ = json.Unmarshal(w.Body.Bytes(), &answer) // nil: no object
	return w.Code, answer
}

// tenants returns the handler of the program with a new ledger.
func tenants(t *testing.T, names ...string) http.Handler {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	must(0, must(sqlite.Create(t.Context(), path)).Close())
	tokens := map[[32]byte]string{}
	for _, tenant := range names {
		tokens[sha256.Sum256([]byte("token-"+tenant))] = tenant
	}
	routes, end := handler(path, keyFile, tokens)
	t.Cleanup(func() { must(0, end()) })
	return routes
}

const keyFile = "../../fixtures/keys/key_2026_04.private.json"

// TestTenants verifies that each tenant can issue signed receipts, even if the draft names another
// tenant, and that a tenant cannot see another tenant's data, either by ID or in a list.
func TestTenants(t *testing.T) {
	h := tenants(t, "a", "b")
	draft := storetest.Draft("", "w")
	draft.Identifiers.TenantID, draft.Identifiers.TaskID = "a", "task_1"
	body, err := json.Marshal(draft)
	if err != nil {
		t.Fatal(err)
	}

	ids := map[string]string{}
	for _, tenant := range []string{"a", "b"} {
		status, issued := ask(h, "POST", "/tasks", "token-"+tenant, string(body))
		_, again := ask(h, "POST", "/tasks", "token-"+tenant, string(body))
		if ids[tenant], _ = issued["receipt_id"].(string); status != 200 || ids[tenant] == "" || again["receipt_id"] != ids[tenant] {
			t.Fatalf("%s: %d %v, then %v", tenant, status, issued, again)
		}
		if status, report := ask(h, "POST", "/v1/receipts/"+ids[tenant]+"/verify", "token-"+tenant, "{}"); status != 200 || report["valid"] != true {
			t.Errorf("%s: %d %v", tenant, status, report)
		}
	}

	for _, tenant := range []string{"a", "b"} {
		for _, of := range []string{"a", "b"} {
			want := map[bool]int{true: 200, false: 404}[tenant == of]
			if status, _ := ask(h, "GET", "/v1/receipts/"+ids[of], "token-"+tenant, ""); status != want {
				t.Errorf("%s: the receipt of %s: %d, expected %d", tenant, of, status, want)
			}
		}
		_, list := ask(h, "GET", "/v1/tasks/task_1/receipts", "token-"+tenant, "")
		if data, _ := list["data"].([]any); len(data) != 1 {
			t.Errorf("%s: %v", tenant, list)
		}
	}
	for _, token := range []string{"", "token-c"} {
		for _, path := range []string{"GET /v1/receipts/" + ids["a"], "POST /tasks"} {
			method, path, _ := strings.Cut(path, " ")
			if status, _ := ask(h, method, path, token, string(body)); status != 401 {
				t.Errorf("%s with the token %q: %d", path, token, status)
			}
		}
	}
}

// TestInvalidDrafts verifies that a draft that cannot be sealed is rejected, and that the response
// states the reasons.
func TestInvalidDrafts(t *testing.T) {
	h := tenants(t, "a")
	for body, want := range map[string]int{"{": 400, "{}": 422, strings.Repeat(" ", 1<<20) + "{}": 400} {
		if status, _ := ask(h, "POST", "/tasks", "token-a", body); status != want {
			t.Errorf("%.10q: %d, expected %d", body, status, want)
		}
	}
}
