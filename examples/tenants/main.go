// Command tenants is an example of a harness with bearer tokens of its own. Each token belongs to a
// tenant, which issues receipts into the ledger FILE, and sees only its own:
//
//	TOKEN=secret go run ./examples/tenants 127.0.0.1:8080 FILE KEY.private.json
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	routes, end := handler(os.Args[2], os.Args[3], map[[32]byte]string{sha256.Sum256([]byte(os.Getenv("TOKEN"))): "tenant_1"})
	server, listener := &http.Server{Handler: routes}, must(net.Listen("tcp", os.Args[1]))
	go server.Serve(listener)
	<-ctx.Done()
	must(0, errors.Join(server.Shutdown(context.Background()), end()))
}

// handler serves the harness, and the protocol's routes for the receipts in a ledger. End also stores
// the receipts of clients that have left.
func handler(path, keyPath string, tokens map[[32]byte]string) (routes http.Handler, end func() error) {
	store, key := must(sqlite.Open(context.Background(), path)), must(keys.ParsePrivate(must(os.ReadFile(keyPath))))
	h := &harness{&ledger.Issuer{Store: store, Signer: keys.NewSigner(key, time.Now), Now: time.Now}, tokens}
	v := must(serve.NewVerifier(must(keys.NewSet(key.Public())), receipt.Policy{Issuer: issuerID}, nil))

	mux := http.NewServeMux()
	mux.HandleFunc("POST /tasks", h.end)
	mux.Handle("/", must(serve.New(serve.Options{Verifier: func() *serve.Verifier { return v }, Source: served.New(store), Auth: h})))
	return mux, func() error { return errors.Join(h.issuer.Close(context.Background()), store.Close()) }
}

const issuerID = "harness_example_cloud"

// A harness has the tenant of each token, by its SHA-256.
type harness struct {
	issuer *ledger.Issuer
	tokens map[[32]byte]string
}

// Authenticate implements [protocol.Authenticator]. A nil client results in 401.
func (h *harness) Authenticate(r *http.Request) (*protocol.Client, error) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if tenant, known := h.tokens[sha256.Sum256([]byte(token))]; known && token != "" {
		return &protocol.Client{Name: tenant, Actor: sha256.Sum256([]byte(tenant)), AllScopes: true, Reach: protocol.Everything().OfTenants(tenant)}, nil
	}
	return nil, nil
}

// end issues the receipt of a task that has ended. The same draft always has the same receipt.
func (h *harness) end(w http.ResponseWriter, r *http.Request) {
	client, _ := h.Authenticate(r)
	if client == nil {
		http.Error(w, "expected the token of a tenant", http.StatusUnauthorized)
		return
	}
	var draft receipt.Draft
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil || json.Unmarshal(body, &draft) != nil {
		http.Error(w, "expected a draft of at most 1 MiB", http.StatusBadRequest)
		return
	}

	draft.ReceiptID = fmt.Sprintf("receipt_%x", sha256.Sum256(fmt.Appendf(nil, "%q %s", client.Name, body)))
	draft.Issuer.ID, draft.Identifiers.TenantID, draft.IssuedAt.Time = issuerID, client.Name, time.Time{}
	sealed, err := h.issuer.IssueUntilKnown(r.Context(), &draft)
	if invalid := (*receipt.InvalidError)(nil); errors.As(err, &invalid) {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	} else if err != nil {
		log.Print(err)
		http.Error(w, "no receipt was returned: send the draft again", http.StatusServiceUnavailable)
	} else {
		w.Write(sealed.JSON())
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
