package served_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// filled has n receipts of the task task_a, each with bytes of metadata.
func filled(t *testing.T, n, bytes int) *ledger.SQLite {
	t.Helper()
	l, err := ledger.Create(context.Background(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	issuer := &ledger.Issuer{Store: l, KeepSecrets: true, Unsigned: true}
	for i := range n {
		d := storetest.Draft(fmt.Sprintf("receipt_%02d", i), "w")
		d.Identifiers.TaskID = "task_a"
		d.Metadata = receipt.Object{"filling": strings.Repeat("x", bytes)}
		if _, err := issuer.Issue(context.Background(), d); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func hashOf(t *testing.T, text []byte) canon.Digest {
	t.Helper()
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := chain.Hash(doc)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// TestByTask: pages of any limit make the whole, and none is larger than it may be.
func TestByTask(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct{ bytes, limit, pages int }{{1, 200, 1}, {1, 9, 3}, {1, 1, 23}, {1, 23, 1}, {3 << 20, 200, 12}} {
		source := served.New(filled(t, 23, test.bytes))
		pages, n := 0, 0
		q := serve.TaskQuery{Task: "task_a", Limit: test.limit}
		for {
			page, more, err := source.ByTask(ctx, q)
			if err != nil || len(page) == 0 || len(page) > test.limit {
				t.Fatalf("%+v: a page of %d, %v", test, len(page), err)
			}
			for _, s := range page {
				var r struct {
					ID string `json:"receipt_id"`
				}
				if err := json.Unmarshal(s.JSON, &r); err != nil || r.ID != fmt.Sprintf("receipt_%02d", n) {
					t.Fatalf("%+v: receipt %d is %q, %v", test, n, r.ID, err)
				}
				q.After = hashOf(t, s.JSON)
				n++
			}
			pages++
			if !more {
				break
			}
		}
		if pages != test.pages || n != 23 {
			t.Errorf("%+v: %d receipts on %d pages", test, n, pages)
		}
	}
	source := served.New(filled(t, 1, 1))
	for _, task := range []string{"", "task_b"} {
		if page, more, err := source.ByTask(ctx, serve.TaskQuery{Task: task, Limit: 50}); err != nil || len(page) != 0 || more {
			t.Errorf("task %q: %d receipts, %v, %v", task, len(page), more, err)
		}
	}
	if _, _, err := source.ByTask(ctx, serve.TaskQuery{Task: "task_a", After: canon.Sum(nil), Limit: 50}); !errors.Is(err, serve.ErrCursor) {
		t.Errorf("behind a receipt that is not there: %v", err)
	}
	if _, err := source.Get(ctx, "receipt_99", nil); !errors.Is(err, serve.ErrNotFound) {
		t.Errorf("an absent receipt: %v", err)
	}
}

// TestServe gets a receipt over HTTP that was issued after the server began.
func TestServe(t *testing.T) {
	l := filled(t, 1, 1)
	v, err := serve.NewVerifier(nil, receipt.Policy{IntegrityOnly: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := serve.New(serve.Options{Verifier: func() *serve.Verifier { return v }, Source: served.New(l)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	defer server.Close()
	issued, err := (&ledger.Issuer{Store: l, Unsigned: true}).Issue(context.Background(), storetest.Draft("late", "w"))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodGet, server.URL+"/v1/receipts/late", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Harn-Agents-Protocol-Version", "agents-protocol-2026-04-25")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Wire struct {
			Payload json.RawMessage `json:"payload"`
		} `json:"wire"`
	}
	if err := json.Unmarshal(body, &got); err != nil || string(got.Wire.Payload) != string(issued.JSON()) {
		t.Errorf("%s: %v\n%s", resp.Status, err, body)
	}
}

// TestTaskOfSubject: a task's receipts are those that it is the subject of and those
// that name it, each once, in the order of storing.
func TestTaskOfSubject(t *testing.T) {
	ctx := context.Background()
	l, err := ledger.Create(ctx, filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	issuer := &ledger.Issuer{Store: l, KeepSecrets: true, Unsigned: true}
	for i, of := range []struct{ object, subject, task string }{
		{"task", "task_a", "task_a"}, {"task", "task_a", "task_b"}, {"task", "task_b", "task_a"}, {"outcome", "task_a", "task_b"},
		{"task", "task_a", "task_d"}, {"task", "task_b", "task_c"}, {"outcome", "s", "task_a"},
	} {
		d := storetest.Draft(fmt.Sprint("receipt_", i), "w")
		d.Subject = receipt.ResourceRef{Object: of.object, ID: of.subject}
		d.Identifiers.TaskID = of.task
		if _, err := issuer.Issue(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	source := served.New(l)
	for task, want := range map[string]string{"task_a": "0 1 2 4 6", "task_b": "1 2 3 5", "task_c": "5", "s": ""} {
		for _, limit := range []int{1, 2, 50} {
			var got []string
			q := serve.TaskQuery{Task: task, Limit: limit}
			for more := true; more; {
				page, next, err := source.ByTask(ctx, q)
				if err != nil || len(page) > limit {
					t.Fatal(len(page), err)
				}
				more = next
				for _, s := range page {
					r, err := receipt.ParseSealed(s.JSON)
					if err != nil {
						t.Fatal(err)
					}
					got, q.After = append(got, strings.TrimPrefix(r.ID(), "receipt_")), r.Hash()
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s by %d: %v, want %s", task, limit, got, want)
			}
		}
	}
}
