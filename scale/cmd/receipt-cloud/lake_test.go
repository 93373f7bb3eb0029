package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A lake is an S3 bucket that is served on the loopback interface.
type lake struct {
	t      *testing.T
	store  gofakes3.Backend
	server *httptest.Server

	mu    sync.Mutex
	watch func(w http.ResponseWriter, r *http.Request, times int) http.ResponseWriter // called for each GET of an object before it is answered
	gets  map[string]int
}

const bucket = "lake"

// newLake creates an empty bucket, and sets the credentials for its client.
func newLake(t *testing.T) *lake {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "nobody")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "nothing")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	l := &lake{t: t, store: s3mem.New(), gets: map[string]int{}}
	if err := l.store.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(l.store).Server()
	l.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key, ok := strings.CutPrefix(r.URL.Path, "/"+bucket+"/"); ok && r.Method == http.MethodGet && key != "" {
			l.mu.Lock()
			l.gets[key]++
			if l.watch != nil {
				w = l.watch(w, r, l.gets[key])
			}
			l.mu.Unlock()
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(l.server.Close)
	return l
}

func (l *lake) put(key string, lines ...[]byte) {
	l.t.Helper()
	data := bytes.Join(lines, nil)
	if _, err := l.store.PutObject(bucket, key, nil, bytes.NewReader(data), int64(len(data)), nil); err != nil {
		l.t.Fatal(err)
	}
}

// address returns an address that matches keys in the bucket.
func (l *lake) address(key string) string {
	return "s3://" + bucket + "/" + key + "?region=us-east-1&use_path_style=true&disable_https=true&endpoint=" + l.server.URL
}

// receipts returns n linked receipts as lines.
func receipts(t *testing.T, n int) (lines [][]byte) {
	t.Helper()
	head := chain.Head{}
	for i := range n {
		at := receipt.At(time.Date(2026, 4, 25, 19, 0, i, 0, time.UTC))
		sealed, err := receipt.Seal(&receipt.Draft{
			ReceiptID:   fmt.Sprintf("receipt_%d", i),
			Subject:     receipt.ResourceRef{Object: "task", ID: "task_1"},
			Issuer:      receipt.Issuer{ID: "harness_example", Kind: "harness"},
			IssuedAt:    at,
			Identifiers: receipt.Identifiers{WorkspaceRef: "w", SessionID: "s", TaskID: "task_1"},
			Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: receipt.StateSucceeded},
			Trust:       receipt.TrustTiers{StartTier: "suggest", EndTier: "suggest"},
			ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
			ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "none", Model: "none"}, RoutePolicyReason: "none needed"},
			Cost:        receipt.Cost{Currency: "USD"},
		}, head)
		if err != nil {
			t.Fatal(err)
		}
		head = sealed.Head()
		lines = append(lines, append(sealed.JSON(), '\n'))
	}
	return lines
}

// verify runs a verification that checks only integrity.
func verify(t *testing.T, args ...string) (code int, out, messages string) {
	t.Helper()
	return verifyBy(t, append([]string{"--integrity-only"}, args...)...)
}

// verifyBy runs a command line and returns its output.
func verifyBy(t *testing.T, args ...string) (code int, out, messages string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	s := &surroundings{out: &stdout, err: &stderr, getenv: func(string) string { return "" }, now: func() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) }}
	code = run(context.Background(), append([]string{"verify"}, args...), s)
	return code, stdout.String(), stderr.String()
}

// summaryOf parses the summary from a run with --format json.
func summaryOf(t *testing.T, out string) *stream.Summary {
	t.Helper()
	var report struct {
		Reports []json.RawMessage
		Summary *stream.Summary
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Summary == nil {
		t.Fatalf("%v: %s", err, out)
	}
	return report.Summary
}

func fileSource(name string) stream.Source {
	return stream.Source{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
}
