package postgres_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/postgres/internal/pgserver"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/sourcetest"
)

func TestSource(t *testing.T) {
	server := pgserver.Start(t)
	sourcetest.Run(t, func(t *testing.T, receipts []*receipt.Sealed) serve.Source {
		l := open(t, create(t, server))
		heads := map[chain.Stream]chain.Head{}
		for _, r := range receipts {
			if err := l.Append(t.Context(), ledger.Run{Stream: r.Stream(), Previous: heads[r.Stream()], Receipts: []*receipt.Sealed{r}}); err != nil {
				t.Fatal(err)
			}
			heads[r.Stream()] = r.Head()
		}
		return served.New(l)
	})
}

// TestServer verifies that the verification server serves, lists, and verifies the receipts in a
// ledger, including a receipt that is issued later. A pruned receipt must no longer be available.
func TestServer(t *testing.T) {
	l := open(t, create(t, pgserver.Start(t)))
	v, err := serve.NewVerifier(nil, receipt.Policy{IntegrityOnly: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := serve.New(serve.Options{Verifier: func() *serve.Verifier { return v }, Source: served.New(l), Public: true})
	if err != nil {
		t.Fatal(err)
	}
	issuer := &ledger.Issuer{Store: l, KeepSecrets: true, Unsigned: true}
	for _, id := range []string{"receipt_1", "receipt_2"} {
		if _, err := issuer.Issue(t.Context(), storetest.Draft(id, "w")); err != nil {
			t.Fatal(err)
		}
	}

	want := func(method, path string, status int, text string) {
		t.Helper()
		r := httptest.NewRequest(method, "http://receipts.test"+path, nil)
		r.Header.Set("Harn-Agents-Protocol-Version", "agents-protocol-2026-04-25")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != status || !strings.Contains(w.Body.String(), text) {
			t.Errorf("%s %s: %d %s, expected %d and %q", method, path, w.Code, w.Body, status, text)
		}
	}
	want("GET", "/v1/receipts/receipt_1", http.StatusOK, `"receipt_id":"receipt_1"`)
	want("GET", "/v1/tasks/task_receipt_2/receipts", http.StatusOK, `"receipt_id":"receipt_2"`)
	want("POST", "/v1/receipts/receipt_2/verify", http.StatusOK, `"check":"link","status":"passed"`)
	want("GET", "/v1/receipts/receipt_3", http.StatusNotFound, "resource_not_found")

	if _, err := issuer.Issue(t.Context(), storetest.Draft("receipt_3", "w")); err != nil {
		t.Fatal(err)
	}
	want("GET", "/v1/receipts/receipt_3", http.StatusOK, `"receipt_id":"receipt_3"`)

	pruned(t, l, 1)
	want("GET", "/v1/receipts/receipt_1", http.StatusGone, `"archive":"old.jsonl"`)
	want("POST", "/v1/receipts/receipt_2/verify", http.StatusOK, `"check":"link","status":"passed"`)
}
