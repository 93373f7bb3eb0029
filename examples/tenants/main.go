// Command tenants is an example of a harness with bearer tokens of its own. Each token belongs to
// a tenant, which sees only its own tasks, and its own receipts in the ledger FILE:
//
//	TOKEN=secret go run ./examples/tenants FILE
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

func main() {
	h := &harness{tokens: map[[32]byte]string{sha256.Sum256([]byte(os.Getenv("TOKEN"))): "tenant_1"}}
	store := must(sqlite.Open(context.Background(), os.Args[1]))
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", h.mux(store)))
}

// A harness has the tenant of each token, by its SHA-256, and the owner of each task.
type harness struct {
	tokens map[[32]byte]string
	owners sync.Map
}

// Authenticate implements [protocol.Authenticator].
func (h *harness) Authenticate(r *http.Request) (*protocol.Client, error) {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	tenant, known := h.tokens[sha256.Sum256([]byte(token))]
	if !bearer || !known {
		return nil, &protocol.Error{Code: protocol.CodeAuth, Message: "expected the token of a tenant"}
	}
	return &protocol.Client{Name: tenant, Actor: sha256.Sum256([]byte(tenant)), AllScopes: true, Reach: protocol.Everything().OfTenants(tenant)}, nil
}

// submit accepts a task. The Mux answers a repeated Idempotency-Key.
func (h *harness) submit(w http.ResponseWriter, r *protocol.Request) error {
	id := "task_" + rand.Text()
	h.owners.Store(id, chain.Stream{Tenant: r.Client.Name, HasTenant: true})
	return protocol.WriteJSON(w, http.StatusAccepted, map[string]string{"object": "task", "id": id})
}

// task answers with a task within reach of the client.
func (h *harness) task(w http.ResponseWriter, r *protocol.Request) error {
	id := r.PathValue("task_id")
	if owner, known := h.owners.Load(id); !known || !r.Client.Reach.Sees(owner.(chain.Stream)) {
		return protocol.NotFound()
	}
	return protocol.WriteJSON(w, http.StatusOK, map[string]string{"object": "task", "id": id})
}

// mux serves the tasks of the harness and the receipts of a ledger to the same clients.
func (h *harness) mux(store *sqlite.Ledger) *protocol.Mux {
	verifier := must(serve.NewVerifier(nil, receipt.Policy{IntegrityOnly: true}, nil))
	receipts := must(serve.New(serve.Options{Verifier: func() *serve.Verifier { return verifier }, Source: served.New(store), Auth: h}))
	submit := protocol.Route{Pattern: "POST /v1/tasks", Scope: protocol.TasksWrite, Serve: h.submit}
	routes := append(receipts.Routes(), submit, protocol.Route{Pattern: "GET /v1/tasks/{task_id}", Scope: protocol.TasksRead, Serve: h.task})
	return must(protocol.NewMux(protocol.Options{Routes: routes, Auth: h, Now: time.Now, Random: rand.Reader}))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
