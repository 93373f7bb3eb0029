package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/postgres"
	"github.com/receiptkit/receiptkit/postgres/internal/pgserver"
)

// TestNoPassword verifies that no error contains the password in an address, whether or not the
// address can be parsed.
func TestNoPassword(t *testing.T) {
	server := pgserver.Start(t)
	good := server.Address("postgres")
	u, err := url.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	escaped := url.QueryEscape(pgserver.Marker)
	query := u.RawQuery
	const marker = "MARKER"

	for name, address := range map[string]string{
		"no ledger":         good,
		"no database":       server.Address("nothing"),
		"another user":      strings.Replace(good, "ledger:", "nobody:", 1),
		"a wrong password":  "postgres://ledger:wrong-MARKER@/postgres?" + query,
		"no server":         "postgres://ledger:" + escaped + "@127.0.0.1:1/postgres",
		"no such parameter": good + "&nothing=1",
		"another scheme":    "mysql://ledger:" + escaped + "@localhost/postgres",
		"not escaped":       "postgres://ledger:" + pgserver.Marker + "@localhost/postgres",
		"badly escaped":     "postgres://ledger:%zzMARKER@localhost/postgres",
		"a space":           "postgres://ledger:MARKER x@local host/postgres",
		"a bad port":        "postgres://ledger:MARKER@localhost:x/postgres",
		"a bad parameter":   "postgres://ledger@localhost/postgres?password=MARKER&sslmode=nothing",
		"pairs":             "host=localhost password=MARKER user=ledger",
		"quoted pairs":      "host=localhost password='MARKER",
		"a line end":        "postgres://ledger:MARKER\n@localhost/postgres",
		"nothing else":      marker,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		l, err := postgres.Open(ctx, address)
		cancel()
		if err == nil {
			l.Close()
			t.Errorf("%s: opened, expected an error", name)
			continue
		}
		for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%q", err)} {
			if strings.Contains(text, marker) || strings.Contains(text, "hunter2") {
				t.Errorf("%s: the error contains the password: %s", name, text)
			}
		}
		t.Logf("%s: %v", name, err)
	}

	// Stop the server while it is in use.
	l := open(t, create(t, server))
	server.Kill()
	if _, err := l.Head(t.Context(), chain.Stream{}); err == nil || strings.Contains(err.Error(), marker) {
		t.Errorf("without the server: %v", err)
	}
}
