package main

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// ask sends a request with the token of a tenant, or without one.
func ask(mux http.Handler, method, path, token string, headers ...string) (int, map[string]any) {
	r := httptest.NewRequest(method, path, strings.NewReader("{}"))
	r.Header.Set(protocol.VersionHeader, protocol.Version)
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	var answer map[string]any
	_ = json.Unmarshal(w.Body.Bytes(), &answer) // nil: no object
	return w.Code, answer
}

// TestTenants verifies that each tenant sees its own tasks and receipts, and nothing of another
// tenant: neither by ID, nor in a list, nor with the Idempotency-Key of the other.
func TestTenants(t *testing.T) {
	store, err := sqlite.Create(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	issuer := &ledger.Issuer{Store: store, Unsigned: true}
	for _, tenant := range []string{"a", "b"} {
		d := storetest.Draft("receipt_of_"+tenant, "w")
		d.Identifiers.TenantID, d.Identifiers.TaskID, d.Subject.ID = tenant, "task_1", "task_1"
		if _, err := issuer.Issue(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	mux := (&harness{tokens: map[[32]byte]string{sha256.Sum256([]byte("token-a")): "a", sha256.Sum256([]byte("token-b")): "b"}}).mux(store)

	tasks := map[string]string{}
	for _, tenant := range []string{"a", "b"} {
		status, task := ask(mux, "POST", "/v1/tasks", "token-"+tenant, "Idempotency-Key", "same")
		_, again := ask(mux, "POST", "/v1/tasks", "token-"+tenant, "Idempotency-Key", "same")
		if tasks[tenant], _ = task["id"].(string); status != 202 || tasks[tenant] == "" || again["id"] != task["id"] {
			t.Errorf("%s: %d %v, then %v", tenant, status, task, again)
		}
	}
	if tasks["a"] == tasks["b"] {
		t.Error("the tenants share an Idempotency-Key")
	}

	for _, tenant := range []string{"a", "b"} {
		for _, of := range []string{"a", "b"} {
			want := map[bool]int{true: 200, false: 404}[tenant == of]
			for _, path := range []string{"/v1/tasks/" + tasks[of], "/v1/receipts/receipt_of_" + of} {
				if status, _ := ask(mux, "GET", path, "token-"+tenant); status != want {
					t.Errorf("%s: %s: %d, expected %d", tenant, path, status, want)
				}
			}
		}
		_, list := ask(mux, "GET", "/v1/tasks/task_1/receipts", "token-"+tenant)
		if data, _ := list["data"].([]any); len(data) != 1 {
			t.Errorf("%s: %v", tenant, list)
		}
	}
	for _, token := range []string{"", "token-c"} {
		if status, _ := ask(mux, "GET", "/v1/tasks/"+tasks["a"], token); status != 401 {
			t.Errorf("with the token %q: %d", token, status)
		}
	}
}
