package serve_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

func ExampleNew() {
	trust, _ := fixtures.Read("keys/trust.json")
	text, _ := fixtures.Read("valid/minimal.json")
	set, err := keys.ParseSet(trust)
	if err != nil {
		panic(err)
	}
	v, err := serve.NewVerifier(set, receipt.Policy{}, nil)
	if err != nil {
		panic(err)
	}
	s, err := serve.New(serve.Options{Verifier: func() *serve.Verifier { return v }, Public: true, Now: time.Now})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/receipts/", http.StripPrefix("/receipts", s))

	r := httptest.NewRequest("POST", "/receipts/v1/verify", strings.NewReader(string(text)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Body.String()[:41])
	// Output: 200 {"report_version":1,"verdict":"verified",
}
