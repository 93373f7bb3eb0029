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
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// filled returns a ledger with n receipts for the task task_a, each of which has the given number
// of bytes of metadata.
func filled(t *testing.T, n, bytes int) *sqlite.Ledger {
	t.Helper()
	l, err := sqlite.Create(context.Background(), filepath.Join(t.TempDir(), "ledger.db"))
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

// TestByTask verifies that pages with any limit add up to the complete list, and that no page
// exceeds its limit.
func TestByTask(t *testing.T) {
	ctx := context.Background()
	large := struct{ receipts, bytes, limit, pages int }{5, 3 << 20, 200, 3}
	if testsize.Full() {
		large.receipts, large.pages = 23, 12
	}
	for _, test := range []struct{ receipts, bytes, limit, pages int }{{23, 1, 200, 1}, {23, 1, 9, 3}, {23, 1, 1, 23}, {23, 1, 23, 1}, large} {
		source := served.New(filled(t, test.receipts, test.bytes))
		pages, n := 0, 0
		q := serve.TaskQuery{Reach: protocol.Everything(), Task: "task_a", Limit: test.limit}
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
		if pages != test.pages || n != test.receipts {
			t.Errorf("%+v: %d receipts on %d pages", test, n, pages)
		}
	}
	source := served.New(filled(t, 1, 1))
	for _, task := range []string{"", "task_b"} {
		if page, more, err := source.ByTask(ctx, serve.TaskQuery{Reach: protocol.Everything(), Task: task, Limit: 50}); err != nil || len(page) != 0 || more {
			t.Errorf("task %q: %d receipts, %v, %v", task, len(page), more, err)
		}
	}
	if _, _, err := source.ByTask(ctx, serve.TaskQuery{Reach: protocol.Everything(), Task: "task_a", After: canon.Sum(nil), Limit: 50}); !errors.Is(err, ledger.ErrCursor) {
		t.Errorf("after an absent receipt: %v", err)
	}
	if _, err := source.Get(ctx, "receipt_99", protocol.Everything()); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("an absent receipt: %v", err)
	}
}

// TestServe verifies that a receipt is served over HTTP even if it is issued after the server has
// started.
func TestServe(t *testing.T) {
	l := filled(t, 1, 1)
	v, err := serve.NewVerifier(nil, receipt.Policy{IntegrityOnly: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := serve.New(serve.Options{Verifier: func() *serve.Verifier { return v }, Source: served.New(l), Public: true})
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

// TestTaskOfSubject verifies that the receipts of a task include the receipts that have the task as
// their subject and the receipts that name it. Each must be listed once, in the order in which the
// receipts were stored.
func TestTaskOfSubject(t *testing.T) {
	ctx := context.Background()
	l, err := sqlite.Create(ctx, filepath.Join(t.TempDir(), "ledger.db"))
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
			q := serve.TaskQuery{Reach: protocol.Everything(), Task: task, Limit: limit}
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

// TestPruned verifies that a pruned receipt is reported as pruned, and that its archive is reported
// only to clients that may see all receipts.
func TestPruned(t *testing.T) {
	s := issuedBy(t, tenantDraft("receipt_1", "a", "task_receipt_1"), tenantDraft("receipt_other", "b", "task_receipt_1"), tenantDraft("receipt_2", "a", "task_receipt_2"))
	note := prunedUnder(t, s.ledger, 2)
	answer := func(method, path, key string) (status int, members map[string]any) {
		t.Helper()
		r := httptest.NewRequest(method, "http://receipts.test"+path, nil)
		r.Header.Set("Harn-Agents-Protocol-Version", "agents-protocol-2026-04-25")
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		w := httptest.NewRecorder()
		s.server.ServeHTTP(w, r)
		if err := json.Unmarshal(w.Body.Bytes(), &members); err != nil {
			t.Fatal(err)
		}
		return w.Code, members
	}

	for _, request := range [][2]string{{"GET", "/v1/receipts/receipt_1"}, {"POST", "/v1/receipts/receipt_1/verify"}} {
		status, members := answer(request[0], request[1], s.keys["all"])
		failure, _ := members["error"].(map[string]any)
		details, _ := failure["details"].(map[string]any)
		if status != http.StatusGone || failure["code"] != "resource_not_found" || failure["type"] != "not_found_error" || details["pruned"] != true ||
			details["checkpoint"] != string(note) || details["archive"] != "old.jsonl" || !strings.HasPrefix(fmt.Sprint(details["receipt_hash"]), "sha256:") || !strings.HasPrefix(fmt.Sprint(details["archive_sha256"]), "sha256:01") {
			t.Errorf("%s: %d, %v", request, status, members)
		}

		// A client that may see only some receipts must not learn how many receipts were pruned.
		status, members = answer(request[0], request[1], s.keys["a"])
		failure, _ = members["error"].(map[string]any)
		details, _ = failure["details"].(map[string]any)
		if status != http.StatusGone || len(details) != 2 || details["pruned"] != true {
			t.Errorf("%s within reach: %d, %v", request, status, members)
		}
		absentStatus, absent := answer(request[0], strings.Replace(request[1], "receipt_1", "receipt_none", 1), s.keys["b"])
		status, members = answer(request[0], request[1], s.keys["b"])
		for _, m := range []map[string]any{absent, members} {
			delete(m["error"].(map[string]any), "request_id")
		}
		if status != http.StatusNotFound || absentStatus != status || fmt.Sprint(members) != fmt.Sprint(absent) {
			t.Errorf("%s out of reach: %d, %v; absent: %v", request, status, members, absent)
		}
	}

	// An incomplete list is reported as incomplete only to clients that may see the missing
	// receipts.
	for _, test := range []struct {
		task, key string
		pruned    any
		data      int
	}{{"task_receipt_1", "all", 2.0, 0}, {"task_receipt_1", "a", 1.0, 0}, {"task_receipt_1", "b", 1.0, 0}, {"task_receipt_2", "all", nil, 1}, {"task_nobody", "all", nil, 0}} {
		status, members := answer("GET", "/v1/tasks/"+test.task+"/receipts", s.keys[test.key])
		if data, _ := members["data"].([]any); status != http.StatusOK || members["pruned"] != test.pruned || len(data) != test.data {
			t.Errorf("%+v: %d, %v", test, status, members)
		}
	}
}

// prunedUnder prunes the first n receipts and returns the checkpoint that covers them.
func prunedUnder(t *testing.T, l *sqlite.Ledger, n int) (note []byte) {
	t.Helper()
	ctx := context.Background()
	files := map[string][]byte{"keys/log_1.private.json": nil, "keys/trust.json": nil}
	for name := range files {
		data, err := fixtures.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	log, err := keys.ParsePrivate(files["keys/log_1.private.json"])
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.ParseSet(files["keys/trust.json"])
	if err != nil {
		t.Fatal(err)
	}

	var tree merkle.Tree
	var archive [][]byte
	for e, err := range l.Walk(ctx, ledger.Query{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		tree.Append(receipt.CheckpointLeaf(e.Hash))
		if archive = append(archive, e.JSON); len(archive) == n {
			break
		}
	}
	if note, err = keys.NewSigner(log, nil).SignCheckpoint(ctx, &tlog.Checkpoint{Origin: "log.example.net/receipts", Size: tree.Size(), Root: tree.Root()}); err != nil {
		t.Fatal(err)
	}
	p, err := ledger.Prunable(ctx, l, set, note, func(yield func([]byte, error) bool) {
		for _, json := range archive {
			if !yield(json, nil) {
				return
			}
		}
	})
	if err == nil {
		_, err = ledger.Prune(ctx, l, p, "old.jsonl", canon.Digest{1})
	}
	if err != nil {
		t.Fatal(err)
	}
	return note
}
