package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// TestReplay verifies that a task can be replayed twice exactly, and once with one answer replaced.
// Each replay has its own receipt, the receipts of the two exact replays are equal, and no action
// is repeated.
func TestReplay(t *testing.T) {
	asked := 0
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer site.Close()
	h := &harness{issuer: issuer(t), folder: t.TempDir(), site: site.URL}
	done, err := h.do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	source := done.Document().Root().Member("subject").Member("id").String()

	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var exact []*receipt.Sealed
	for _, request := range []string{"", "", swapped} {
		asked, err := replay.ParseRequest([]byte(request))
		if err != nil {
			t.Fatal(err)
		}
		sealed, _, err := h.replay(t.Context(), source, asked)
		if err != nil {
			t.Fatal(err)
		}
		if request == "" {
			exact = append(exact, sealed)
		}
		plan, err := h.planOf(t.Context(), source, asked)
		if err != nil {
			t.Fatal(err)
		}
		rep := new(receipt.Report)
		v.Verify(sealed.Document(), rep)
		if err := plan.Check(v, rep, sealed.Document(), nil); err != nil || rep.Verdict != receipt.Verified {
			t.Errorf("%q: %v, %+v", request, err, rep.Finding())
		}
		var d receipt.Draft
		if err := json.Unmarshal(sealed.JSON(), &d); err != nil {
			t.Fatal(err)
		}
		if (len(d.Deltas) == 1) != (request == swapped) || request == swapped && (d.Deltas[0].Operation != "replace" || d.Deltas[0].BeforeSHA256.Digest.IsZero()) {
			t.Errorf("%q: %+v", request, d.Deltas)
		}
	}
	if diff := replay.Compare(exact[0].Document(), exact[1].Document(), replay.Projection); diff != nil {
		t.Error(diff)
	}
	files, err := os.ReadDir(h.folder)
	if err != nil || len(files) != 1 || asked != 1 {
		t.Errorf("%d files, asked %d times, %v", len(files), asked, err)
	}
}

// TestReplayFlag verifies that, with -replay, the program replays its last task and serves the
// receipts for both replays.
func TestReplayFlag(t *testing.T) {
	p := start(t, build(t), "-tasks", "1", "-replay")
	if len(p.replays) != 2 {
		t.Errorf("replays: %q", p.replays)
	}
	for _, id := range p.replays {
		if body := p.do(t, http.MethodGet, "/v1/receipts/"+id, nil); !bytes.Contains(body, []byte(`"replay_segment"`)) {
			t.Errorf("%s: %.300s", id, body)
		}
	}
	p.interrupt(t)
}

// TestReplayOverHTTP verifies that a client can request the replay of a task over HTTP, and can
// then read the receipt for the replay.
func TestReplayOverHTTP(t *testing.T) {
	p := start(t, build(t), "-tasks", "2")
	var first struct {
		Subject struct{ ID string }
	}
	if err := json.Unmarshal(p.do(t, http.MethodGet, "/v1/receipts/"+p.receipts[0], nil), &first); err != nil {
		t.Fatal(err)
	}
	path := "/v1/tasks/" + first.Subject.ID + "/replay"
	var task struct {
		ID     string
		Parent string `json:"parent_task_id"`
	}
	status, body := p.ask(t, http.MethodPost, path, []byte(swapped))
	if err := json.Unmarshal(body, &task); err != nil || status != http.StatusAccepted || task.Parent != first.Subject.ID {
		t.Fatalf("%d, %v\n%s", status, err, body)
	}
	list := p.do(t, http.MethodGet, "/v1/tasks/"+task.ID+"/receipts", nil)
	for _, want := range []string{`"replay_segment"`, `"delta_host_http_get_call_2"`, `"source_task_id":"` + first.Subject.ID + `"`} {
		if !bytes.Contains(list, []byte(want)) {
			t.Errorf("no %s in\n%s", want, list)
		}
	}

	for body, want := range map[string]int{`{"mode":"with_overrides","override":{"host:http.get:call_2":{"kind":"time","value":1}}}`: 400, `{"mode":"from_checkpoint","checkpoint_id":"c"}`: 404} {
		if status, answer := p.ask(t, http.MethodPost, path, []byte(body)); status != want {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	if status, answer := p.ask(t, http.MethodPost, "/v1/tasks/task_1/replay", nil); status != 404 {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer := p.ask(t, http.MethodPost, "/v1/tasks/"+task.ID+"/replay", nil); status != 404 {
		t.Errorf("a replay is replayed: %d %s", status, answer)
	}
	p.interrupt(t)
}
