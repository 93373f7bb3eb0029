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

// TestReplay: a task is replayed exactly, twice, and with one answer swapped. The receipts
// are those of these replays, two exact ones are the same, and nothing is done again.
func TestReplay(t *testing.T) {
	asked := 0
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer site.Close()
	var log []byte
	h := &harness{issuer(t), t.TempDir(), site.URL, func(line []byte) error { log = append(log, line...); return nil }}
	if _, err := h.do(t.Context()); err != nil {
		t.Fatal(err)
	}

	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var exact []*receipt.Sealed
	for _, request := range []string{"", "", swapped} {
		sealed, err := h.replay(t.Context(), log, request)
		if err != nil {
			t.Fatal(err)
		}
		if request == "" {
			exact = append(exact, sealed)
		}
		plan, err := planOf(t.Context(), log, request)
		if err != nil {
			t.Fatal(err)
		}
		rep := new(receipt.Report)
		v.Verify(sealed.Document(), rep)
		if err := plan.Check(v, rep, sealed.Document()); err != nil || rep.Verdict != receipt.Verified {
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

// TestReplayFlag: the program replays its last task when it is asked to, and serves both
// receipts.
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
