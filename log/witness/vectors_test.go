package witness_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/log/internal/durable"
	"github.com/receiptkit/receiptkit/log/witness"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// newConfig returns the configuration for a witness of the given logs, with a key that is derived
// from a constant.
func newConfig(t testing.TB, logs ...*tlog.Log) witness.Config {
	t.Helper()
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	key, err := tlog.NewWitness("witness.example", private.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	cosigner := &tlog.Cosigner{Witness: key, SignMessage: func(_ context.Context, message []byte) ([]byte, error) {
		return ed25519.Sign(private, message), nil
	}}
	return witness.Config{Logs: logs, Key: key, Cosign: cosigner.Cosign, Now: func() time.Time { return time.Unix(1790000000, 0) }}
}

// A script is a sequence of requests from the vectors to one witness.
type script struct {
	VKey       string `json:"log_vkey"`
	OriginHash string `json:"origin_hash"`
	Steps      []struct {
		Request, Body, Why string
		Status             int
		ContentType        string `json:"content_type"`
	}
}

// TestExchanges verifies that a witness responds to the requests in the vectors with the stated
// statuses and bodies, and that each cosignature verifies.
func TestExchanges(t *testing.T) {
	for _, file := range []struct {
		name    []string
		atLeast int
	}{
		{[]string{"transparency", "made", "witness.json"}, 24},
		{[]string{"transparency", "torchwood-litewitness", "litewitness.json"}, 11},
		{[]string{"transparency", "torchwood-litewitness", "mldsa.json"}, 1},
	} {
		var s script
		if err := json.Unmarshal(vectors.File(t, file.name...), &s); err != nil {
			t.Fatal(err)
		}
		if len(s.Steps) < file.atLeast {
			t.Fatalf("%v: %d steps, expected at least %d", file.name, len(s.Steps), file.atLeast)
		}
		s.run(t)
	}
}

func (s *script) run(t *testing.T) {
	t.Helper()
	v, err := tlog.ParseVerifier(s.VKey)
	if err != nil {
		t.Fatal(err)
	}
	log, err := tlog.NewLog(v.Name(), v.Public())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	config := newConfig(t, log)
	w, err := witness.New(config, dir)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.Handler(func(err error) { t.Error(err) }))
	defer server.Close()

	if status, _, _ := get(t, server.URL+"/"+witness.OriginHash(v.Name())+"/checkpoint"); status != http.StatusNotFound {
		t.Errorf("a log that was not cosigned: status %d", status)
	}
	for i, step := range s.Steps {
		response, err := http.Post(server.URL+"/add-checkpoint", "", strings.NewReader(step.Request))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != step.Status {
			t.Fatalf("step %d: status %d, expected %d: %s (%s)", i, response.StatusCode, step.Status, step.Why, body)
		}
		if kind := response.Header.Get("Content-Type"); step.ContentType != "" && kind != step.ContentType {
			t.Errorf("step %d: content type %q", i, kind)
		}
		if step.Body != "" && string(body) != step.Body {
			t.Errorf("step %d: body %q, expected %q", i, body, step.Body)
		}
		if step.Status == http.StatusOK {
			_, note, _ := strings.Cut(step.Request, "\n\n")
			signed, err := tlog.OpenSigned([]byte(note+string(body)), nil, []*tlog.Witness{config.Key})
			if err != nil || len(signed.Cosignatures) != 1 || !strings.HasPrefix(string(body), "— ") {
				t.Errorf("step %d: %q: %v", i, body, err)
			}
		}
	}

	status, _, note := get(t, server.URL+"/"+witness.OriginHash(v.Name())+"/checkpoint")
	signed, err := tlog.OpenSigned(note, []*tlog.Log{log}, []*tlog.Witness{config.Key})
	if status != http.StatusOK || err != nil || len(signed.Logs) == 0 || len(signed.Cosignatures) != 1 || len(signed.Unknown) > 0 {
		t.Errorf("checkpoint for monitors: status %d, %q, %v", status, note, err)
	}
}

func get(t *testing.T, url string) (status int, header http.Header, body []byte) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, body
}
