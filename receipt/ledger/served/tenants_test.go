package served_test

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/served"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// An issued value contains a ledger and a server for this ledger.
type issued struct {
	t      *testing.T
	path   string
	ledger *sqlite.Ledger
	server *serve.Server
	keys   map[string]string // API keys, indexed by name
}

// issuedBy creates a ledger and issues the drafts in it.
func issuedBy(t *testing.T, drafts ...*receipt.Draft) *issued {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := sqlite.Create(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	issuer := &ledger.Issuer{Store: l, KeepSecrets: true, Unsigned: true}
	for _, d := range drafts {
		if _, err := issuer.Issue(context.Background(), d); err != nil {
			t.Fatal(err)
		}
	}
	v, err := serve.NewVerifier(nil, receipt.Policy{IntegrityOnly: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	entries, held := []protocol.APIKey{}, map[string]string{}
	for name, reach := range map[string]protocol.Reach{"a": protocol.Everything().OfTenants("a"), "b": protocol.Everything().OfTenants("b"), "all": protocol.Everything()} {
		key, entry, err := protocol.NewAPIKey(strings.NewReader(fmt.Sprintf("%-32s", name)), name, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		entry.Reach, held[name] = reach, key
		entries = append(entries, entry)
	}
	keys, err := protocol.NewAPIKeys(entries...)
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) }
	s, err := serve.New(serve.Options{Verifier: func() *serve.Verifier { return v }, Source: served.New(l), Now: now, Auth: keys})
	if err != nil {
		t.Fatal(err)
	}
	return &issued{t, path, l, s, held}
}

// execute changes the ledger's file without using the ledger.
func (i *issued) execute(statements string) {
	i.t.Helper()
	db, err := sql.Open("sqlite", i.path)
	if err != nil {
		i.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		i.t.Fatal(err)
	}
}

// ask sends a request with an API key. It returns the status and the body without the request ID.
func (i *issued) ask(key, method, path string) string {
	i.t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, nil)
	r.Header.Set("Harn-Agents-Protocol-Version", protocol.Version)
	r.Header.Set("Authorization", "Bearer "+i.keys[key])
	i.server.ServeHTTP(w, r)
	return fmt.Sprint(w.Code, " ", regexp.MustCompile(`"request_id":"[^"]*"`).ReplaceAllString(w.Body.String(), ""))
}

func tenantDraft(id, tenant, task string) *receipt.Draft {
	d := storetest.Draft(id, "w")
	d.Identifiers.TenantID = tenant
	d.Identifiers.TaskID = task
	d.Metadata = receipt.Object{"of": id}
	return d
}

// TestTenants verifies that a tenant's key gets the same responses as it would from a ledger
// without another tenant's data, even if that data is damaged.
func TestTenants(t *testing.T) {
	const marker = "MARKERB"
	var ours, all []*receipt.Draft
	var ids []string
	for n := range 6 {
		theirs := fmt.Sprint("receipt_", marker, n)
		own := tenantDraft(fmt.Sprint("receipt_a", n), "a", "shared")
		all = append(all, tenantDraft(theirs, "b_"+marker, "shared"), own)
		ours = append(ours, own)
		ids = append(ids, theirs, own.ReceiptID)
	}
	all = append(all, tenantDraft("receipt_"+marker+"_none", "", "shared"), tenantDraft("receipt_"+marker+"_own", "b_"+marker, "task_"+marker))
	ids = append(ids, "receipt_"+marker+"_none", "receipt_"+marker+"_own", "receipt_absent")
	both, alone := issuedBy(t, all...), issuedBy(t, ours...)
	var cursors []string // a cursor after each receipt, regardless of the receipt's tenant
	for entry, err := range both.ledger.Walk(context.Background(), ledger.Query{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		cursors = append(cursors, protocol.FormatCursor("shared", entry.Hash[:]))
	}
	both.execute(`UPDATE receipts SET json = CAST('{' || CAST(json AS TEXT) AS BLOB) WHERE receipt_id = 'receipt_MARKERB3';
UPDATE receipts SET json = (SELECT json FROM receipts WHERE receipt_id = 'receipt_MARKERB1') WHERE receipt_id = 'receipt_MARKERB4';
DELETE FROM receipts WHERE receipt_id = 'receipt_MARKERB2'`)
	var paths, hashes []string
	for entry, err := range both.ledger.Walk(context.Background(), ledger.Query{Sees: func(s chain.Stream) bool { return s.Tenant == "a" }}, 0) {
		if err != nil || strings.Contains(string(entry.JSON), marker) {
			t.Fatalf("%s %v", entry.JSON, err)
		}
		hashes = append(hashes, hex.EncodeToString(entry.Hash[:]))
	}
	for _, id := range ids {
		paths = append(paths, "GET /v1/receipts/"+id, "POST /v1/receipts/"+id+"/verify", "GET /v1/tasks/task_"+id+"/receipts", "GET /v1/receipts/"+strings.ToUpper(id))
	}
	for limit := range 8 {
		path := fmt.Sprintf("/v1/tasks/shared/receipts?limit=%d", limit)
		paths = append(paths, "GET "+path)
		for next := "x"; next != ""; { // read the entire list as the tenant
			var page struct {
				Page struct {
					Next string `json:"next_cursor"`
				}
			}
			_, body, _ := strings.Cut(alone.ask("a", "GET", path), " ")
			if json.Unmarshal([]byte(body), &page); page.Page.Next != "" {
				path = fmt.Sprintf("/v1/tasks/shared/receipts?limit=%d&cursor=%s", limit, page.Page.Next)
				paths = append(paths, "GET "+path)
			}
			next = page.Page.Next
		}
	}
	for _, cursor := range cursors {
		paths = append(paths, "GET /v1/tasks/shared/receipts?cursor="+cursor)
	}
	paths = append(paths, "GET /v1/tasks/task_"+marker+"/receipts", "GET /v1/tasks/shared/receipts", "GET /metrics", "GET /v1")
	found := 0
	for _, line := range paths {
		method, path, _ := strings.Cut(line, " ")
		a, b := both.ask("a", method, path), alone.ask("a", method, path)
		if a != b || strings.Contains(a, marker) {
			t.Errorf("%s: %.300s\nwithout the other tenant: %.300s", line, a, b)
		}
		if strings.HasPrefix(a, "200 ") && strings.Contains(a, `"payload":`) {
			found++
		}
	}
	if found < 20 || len(hashes) != 6 {
		t.Errorf("%d answers with receipts, %d receipts", found, len(hashes))
	}
	if got := both.ask("all", "GET", "/v1/receipts/receipt_MARKERB0"); !strings.HasPrefix(got, "200 ") {
		t.Errorf("without limits: %s", got)
	}
}

// TestSubjects verifies that a list of a task's receipts contains the receipts that have the task
// as their subject and the receipts that name the task, each of them once.
func TestSubjects(t *testing.T) {
	draft := func(id, subject, task string) *receipt.Draft {
		d := storetest.Draft(id, "w")
		d.Subject.ID, d.Identifiers.TaskID = subject, task
		return d
	}
	artifact := draft("receipt_artifact", "t", "other")
	artifact.Subject.Object = "artifact"
	i := issuedBy(t, draft("receipt_both", "t", "t"), draft("receipt_subject", "t", "other"), draft("receipt_named", "other", "t"), artifact)
	for task, want := range map[string]string{"t": "receipt_both receipt_subject receipt_named", "other": "receipt_subject receipt_named receipt_artifact"} {
		var list struct{ Data []struct{ ID string } }
		_, body, _ := strings.Cut(i.ask("all", "GET", "/v1/tasks/"+task+"/receipts"), " ")
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatal(err, body)
		}
		var ids []string
		for _, r := range list.Data {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %s, expected %s", task, got, want)
		}
	}
}

// TestFork writes a fork into the file without using the ledger. The fork must be refuted, but the
// receipt from which it forks must not.
func TestFork(t *testing.T) {
	fork := func(i *issued, id, position string) {
		t.Helper()
		other := issuedBy(t, storetest.Draft("receipt_0", "w"), storetest.Draft(id, "w"))
		other.ledger.Close()
		i.execute(fmt.Sprintf(`DROP INDEX receipts_place; DROP INDEX receipts_previous; ATTACH %q AS o;
INSERT INTO main.receipts (stream, position, receipt_id, task, session, issued_at, hash, previous, json, subject)
	SELECT stream, %s, receipt_id, task, session, issued_at, hash, previous, json, subject FROM o.receipts WHERE position = 2`, other.path, position))
	}
	for _, position := range []string{"2", "3", "4"} {
		i := issuedBy(t, storetest.Draft("receipt_0", "w"), storetest.Draft("receipt_1", "w"), storetest.Draft("receipt_2", "w"))
		fork(i, "receipt_fork", position)
		got := i.ask("all", "POST", "/v1/receipts/receipt_fork/verify")
		if !strings.HasPrefix(got, `200 {"valid":false,`) || !strings.Contains(got, `"reason":"refuted: chain_fork: names a predecessor that another stored receipt also names"`) {
			t.Errorf("at %s: %s", position, got)
		}
		if got := i.ask("all", "GET", "/v1/receipts/receipt_fork"); !strings.HasPrefix(got, "200 ") {
			t.Errorf("at %s: %s", position, got)
		}
	}
	i := issuedBy(t, storetest.Draft("receipt_0", "w"), storetest.Draft("receipt_1", "w"), storetest.Draft("receipt_2", "w"))
	i.execute("DELETE FROM receipts WHERE receipt_id = 'receipt_1'")
	for id, want := range map[string]string{"receipt_0": `"check":"link","status":"passed"`, "receipt_2": `"reason":"refuted: chain_break: names a predecessor that is not the receipt stored before it`} {
		if got := i.ask("all", "POST", "/v1/receipts/"+id+"/verify"); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, want) {
			t.Errorf("%s, one is missing: %s", id, got)
		}
	}
}
