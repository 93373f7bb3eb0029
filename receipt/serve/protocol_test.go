package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// library returns a source that contains receipts of the task "t": a valid receipt, a corrupted
// receipt, a receipt from an unknown signer, and documents that are not receipts.
func library(t testing.TB) *shelf {
	t.Helper()
	s := newShelf()
	s.put("t", "good", signedReceipt(t, receiptDraft("good", "t")))
	s.put("t", "corrupted", bytes.Replace(signedReceipt(t, receiptDraft("corrupted", "t")), []byte(`"USD"`), []byte(`"EUR"`), 1))
	s.put("t", "unknown", strangeReceipt(t, receiptDraft("unknown", "t")))
	s.put("markup", "<script>", signedReceipt(t, receiptDraft("<script>", "markup")))
	s.put("broken", "broken", []byte(`{"receipt_id":"broken"`))
	s.put("broken", "array", []byte("[]"))
	s.put("bare", "bare", []byte(" {\"receipt_id\":\"bare\"}\n"))
	s.put("precise", "precise", bytes.Replace(fixture(t, "malicious/lossy-integer.json"), []byte("receipt_01K0TASK"), []byte("precise"), 1))
	s.put("spelled", "spelled", bytes.Replace(signedReceipt(t, receiptDraft("spelled", "spelled")), []byte(`"total":0`), []byte(`"total":0.0e1`), 1))
	return s
}

func shelved(t testing.TB) serve.Options {
	t.Helper()
	o := options(t)
	o.Source = library(t)
	return o
}

// TestConformance runs the receipt probes of the public conformance runner, with its headers, for
// the configured IDs.
func TestConformance(t *testing.T) {
	o := shelved(t)
	key, keys := apiKeysOf(t, "runner")
	o.Auth, o.Public = keys, false
	h := start(t, o)
	auth := append(version(), "Authorization", "Bearer "+key, "Accept", "application/json")
	t.Run("discovery", func(t *testing.T) {
		d := h.get("/v1", version()...)
		v := d.object(t)
		capabilities, _ := v["capabilities"].(map[string]any)
		versions, _ := v["supported_versions"].([]any)
		if d.status != 200 || v["object"] != "protocol_discovery" || v["protocol_family"] != "harn_agents_protocol" ||
			v["current_version"] != protocol.Version || !slices.Contains(versions, any(protocol.Version)) || capabilities["receipts"] != true {
			t.Errorf("%d %s", d.status, d.body)
		}
	})
	t.Run("task_receipts", func(t *testing.T) {
		list := h.get("/v1/tasks/t/receipts", auth...)
		v := list.object(t)
		data, _ := v["data"].([]any)
		if list.status != 200 || v["object"] == "" || len(data) == 0 {
			t.Fatalf("%d %s", list.status, list.body)
		}
		first, _ := data[0].(map[string]any)
		if first["object"] != "receipt" || first["id"] == "" {
			t.Errorf("%v", first)
		}
		got := h.get("/v1/receipts/good", auth...)
		if v := got.object(t); got.status != 200 || v["object"] != "receipt" || v["format"] != receipt.SchemaMarker {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
	t.Run("receipt_verification", func(t *testing.T) {
		got := h.post("/v1/receipts/good/verify", "application/json", []byte("{}"), append(auth, "Idempotency-Key", "R-receipt-verify")...)
		v := got.object(t)
		if _, isBool := v["valid"].(bool); got.status != 200 || !isBool || v["checked_at"] == "" {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
	t.Run("auth", func(t *testing.T) {
		got := h.get("/v1/tasks", version()...)
		if got.status != 401 || got.code() != "unauthenticated" || bytes.Contains(got.body, []byte(key)) || got.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%d %s", got.status, got.body)
		}
		got = h.get("/v1/tasks", "Harn-Agents-Protocol-Version", "agents-protocol-1900-01-01", "Authorization", "Bearer "+key)
		if got.status != 426 || got.code() != "unsupported_protocol_version" || !strings.Contains(string(got.body), `"supported_versions":["agents-protocol-2026-04-25"]`) {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

// TestStored verifies that a stored receipt is served byte for byte and can be verified, and that
// the member "valid" agrees with the server's verdict.
func TestStored(t *testing.T) {
	o := shelved(t)
	h := start(t, o)
	judge, err := receipt.NewVerifier(trusted(t), receipt.Policy{Now: noon()})
	if err != nil {
		t.Fatal(err)
	}
	for id, text := range library(t).texts {
		path := "/v1/receipts/" + strings.NewReplacer("<", "%3C", ">", "%3E").Replace(id)
		doc, rep := new(canon.Document), new(receipt.Report)
		judge.VerifyBytes(text, doc, rep)
		got := h.get(path, version()...)
		readable := id != "broken" && id != "array"
		switch {
		case readable && got.status != 200, !readable && (got.status != 500 || got.code() != "internal_error"):
			t.Errorf("%s: %d %s", id, got.status, got.body)
		case readable:
			if !bytes.Contains(got.body, bytes.TrimSpace(text)) {
				t.Errorf("%s: the stored bytes are not in the answer: %s", id, got.body)
			}
			again := h.post("/v1/verify", "application/json", got.body) // the verification ignores the envelope
			var rep2 receipt.Report
			if err := json.Unmarshal(again.body, &rep2); err != nil || rep2.Verdict != rep.Verdict || rep2.ReceiptHash != rep.ReceiptHash {
				t.Errorf("%s: again %v %s", id, err, again.body)
			}
		}
		verified := h.do("POST", path+"/verify", nil, version()...)
		if id == "array" { // the document states no ID, so nothing shows that it is the requested receipt
			if verified.status != 500 {
				t.Errorf("%s: %d %s", id, verified.status, verified.body)
			}
			continue
		}
		v := verified.object(t)
		if verified.status != 200 || v["valid"] != (rep.Verdict == receipt.Verified) || v["checked_at"] != "2026-11-01T12:00:00Z" {
			t.Errorf("%s: %d %s", id, verified.status, verified.body)
		}
		reason, _ := v["reason"].(string)
		if want := rep.Finding().Code; !strings.Contains(reason, string(want)) || (reason == "") != (rep.Verdict == receipt.Verified) {
			t.Errorf("%s: reason %q, code %q", id, reason, want)
		}
		details, _ := v["details"].(map[string]any)
		report, _ := details["report"].(map[string]any)
		if report["verdict"] != rep.Verdict.String() {
			t.Errorf("%s: %s", id, verified.body)
		}
	}
}

// TestOutcomeNotTold verifies that the summary of a receipt contains no outcome that its source did
// not report.
func TestOutcomeNotTold(t *testing.T) {
	told, silent := receiptDraft("told", "t"), receiptDraft("silent", "t")
	silent.Metadata = receipt.Object{"unreported": []string{"/lifecycle/final_state"}}
	s := newShelf()
	s.put("t", "told", signedReceipt(t, told))
	s.put("t", "silent", signedReceipt(t, silent))
	o := options(t)
	o.Source = s
	h := start(t, o)

	for id, want := range map[string]string{"told": "SUCCEEDED task t", "silent": "task t"} {
		if got := h.get("/v1/receipts/"+id, version()...).object(t)["summary"]; got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

// TestCorrupted verifies that a corrupted receipt is refuted but still served.
func TestCorrupted(t *testing.T) {
	h := start(t, shelved(t))
	got := h.post("/v1/receipts/corrupted/verify", "application/json", []byte(`{"trust_anchor":null,"at_time":null}`), version()...)
	if v := got.object(t); got.status != 200 || v["valid"] != false || !strings.HasPrefix(fmt.Sprint(v["reason"]), "refuted: hash_mismatch") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := h.get("/v1/receipts/corrupted", version()...); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := h.get("/v1/receipts/bare", version()...); got.status != 200 || got.object(t)["subject"] == nil {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestIntact verifies that a server without keys reports a receipt as intact, never as valid.
func TestIntact(t *testing.T) {
	o := shelved(t)
	v := verifierOf(t, receipt.Policy{IntegrityOnly: true})
	o.Verifier = func() *serve.Verifier { return v }
	got := start(t, o).do("POST", "/v1/receipts/good/verify", nil, version()...)
	if v := got.object(t); got.status != 200 || v["valid"] != false || !strings.Contains(fmt.Sprint(v["reason"]), "intact") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestArchive verifies that a client receives the archive or the bare receipt if it prefers that
// form, and that the form can be verified.
func TestArchive(t *testing.T) {
	o := shelved(t)
	h := start(t, o)
	for accept, want := range map[string]string{
		"":                                  "application/json",
		"*/*":                               "application/json",
		"application/json":                  "application/json",
		"application/vnd.harn.receipt+cbor": archive.MediaType,
		"application/vnd.harn.receipt+cbor, application/json;q=0.5":       archive.MediaType,
		"application/vnd.harn.receipt+cbor, */*":                          archive.MediaType,
		"application/vnd.harn.receipt+cbor;q=0.1, */*":                    "application/json",
		"application/json, application/vnd.harn.receipt+cbor;q=0.9":       "application/json",
		"application/vnd.harn.receipt+cbor;q=0":                           "application/json",
		"application/vnd.harn.receipt+cbor;q=zwei":                        "application/json",
		"application/vnd.harn.receipt+cbor;schema=receipt-2026-04-25;q=1": archive.MediaType,
		"text/html":                                                          "application/json",
		"application/vnd.harn.receipt+json":                                  "application/vnd.harn.receipt+json",
		"application/vnd.harn.receipt+json, */*":                             "application/vnd.harn.receipt+json",
		"application/vnd.harn.receipt+json;q=0.1, */*":                       "application/json",
		"application/vnd.harn.receipt+json;q=0.9, application/json":          "application/json",
		"application/vnd.harn.receipt+json, application/json":                "application/vnd.harn.receipt+json",
		"application/vnd.harn.receipt+json, " + archive.MediaType + ";q=0.5": "application/vnd.harn.receipt+json",
		"application/vnd.harn.receipt+json;q=0.5, " + archive.MediaType:      archive.MediaType,
		"application/vnd.harn.receipt+json;q=0, application/json;q=0.1":      "application/json",
	} {
		headers := version()
		if accept != "" {
			headers = append(headers, "Accept", accept)
		}
		got := h.get("/v1/receipts/good", headers...)
		if got.status != 200 || got.header.Get("Content-Type") != want || got.header.Get("Vary") != "Accept" {
			t.Errorf("%q: %d %q", accept, got.status, got.header.Get("Content-Type"))
		}
		if want == "application/vnd.harn.receipt+json" && !bytes.Equal(got.body, o.Source.(*shelf).texts["good"]) {
			t.Errorf("%q: not the stored bytes: %s", accept, got.body)
		}
		if want == "application/json" {
			continue
		}
		rep := h.post("/v1/verify", want, got.body)
		if rep.object(t)["verdict"] != "verified" {
			t.Errorf("%s", rep.body)
		}
	}
	got := h.get("/v1/receipts/precise", append(version(), "Accept", "application/vnd.harn.receipt+cbor")...)
	if got.status != 500 || got.code() != "internal_error" {
		t.Errorf("a receipt that cannot be encoded as CBOR: %d %s", got.status, got.body)
	}
}

// TestPages verifies how a task's receipts are divided into pages.
func TestPages(t *testing.T) {
	o := options(t)
	source := library(t)
	o.Source = source
	h := start(t, o)
	var ids []string
	path := "/v1/tasks/t/receipts?limit=2"
	for range 5 {
		got := h.get(path, version()...)
		var page struct {
			Object string
			Data   []struct{ ID string }
			Page   struct {
				HasMore    bool    `json:"has_more"`
				NextCursor *string `json:"next_cursor"`
			}
		}
		if err := json.Unmarshal(got.body, &page); err != nil || got.status != 200 || page.Object != "list" || len(page.Data) > 2 {
			t.Fatalf("%d %v %s", got.status, err, got.body)
		}
		for _, r := range page.Data {
			ids = append(ids, r.ID)
		}
		if page.Page.HasMore != (page.Page.NextCursor != nil) {
			t.Errorf("%s", got.body)
		}
		if !page.Page.HasMore {
			break
		}
		path = "/v1/tasks/t/receipts?limit=2&cursor=" + *page.Page.NextCursor
	}
	if len(ids) != 3 {
		t.Errorf("%q", ids)
	}
	for path, want := range map[string]string{
		"/v1/tasks/t/receipts?limit=200":                          "200 ",
		"/v1/tasks/nobody/receipts":                               "200 ",
		"/v1/tasks/t/receipts?limit=0":                            "400 limit",
		"/v1/tasks/t/receipts?limit=201":                          "400 limit",
		"/v1/tasks/t/receipts?limit=01":                           "400 limit",
		"/v1/tasks/t/receipts?limit=two":                          "400 limit",
		"/v1/tasks/t/receipts?limit=1&limit=2":                    "400 limit",
		"/v1/tasks/t/receipts?cursor=other":                       "400 cursor",
		"/v1/tasks/t/receipts?cursor=%0a":                         "400 cursor",
		"/v1/tasks/t/receipts?cursor=":                            "400 cursor",
		"/v1/tasks/t/receipts?cursor=" + strings.Repeat("a", 513): "400 cursor",
		"/v1/tasks/t/receipts?cursor=AQ":                          "410 cursor", // a cursor from an older version
		"/v1/tasks/t/receipts?workspace_id=w":                     "400 workspace_id",
		"/v1/tasks/broken/receipts":                               "500 ",
		"/v1/receipts/good?x=1":                                   "400 x",
	} {
		got := h.get(path, version()...)
		if text := fmt.Sprintf("%d %s", got.status, got.param()); text != want {
			t.Errorf("%.80s: %s, expected %s: %.300s", path, text, want, got.body)
		}
	}
	if got := h.get("/v1/tasks/nobody/receipts", version()...); string(got.body) != `{"object":"list","data":[],"page":{"has_more":false,"next_cursor":null}}`+"\n" {
		t.Errorf("an empty page: %s", got.body)
	}
}

// TestVerifyStored verifies which requests to verify a stored receipt are accepted. A trust anchor
// is a name that the server looks up; nothing is fetched. Reliability 321.
func TestVerifyStored(t *testing.T) {
	o := shelved(t)
	witness := verifierOf(t, receipt.Policy{Witnesses: receipt.Quorum{Threshold: 2}})
	o.Anchors = map[string]func() *serve.Verifier{
		"nine": func() *serve.Verifier { return witness },
		"none": func() *serve.Verifier { return nil },
	}
	h := start(t, o)
	for _, c := range []struct{ body, want string }{
		{``, "200 true"},
		{`{}`, "200 true"},
		{` {"at_time":"2026-05-01T00:00:00Z"}`, "200 true"},
		{`{"trust_anchor":"nine"}`, "200 false"},
		{`{"trust_anchor":"none"}`, "503 "},
		{`{"trust_anchor":"other"}`, "400 trust_anchor"},
		{`{"trust_anchor":"https://127.0.0.1:1/keys.json"}`, "400 trust_anchor"},
		{`{"trust_anchor":"../keys.json"}`, "400 trust_anchor"},
		{`{"trust_anchor":""}`, "400 trust_anchor"},
		{`{"trust_anchor":7}`, "400 trust_anchor"},
		{`{"at_time":"yesterday"}`, "400 at_time"},
		{`{"at_time":true}`, "400 at_time"},
		{`{"at_tme":"2026-05-01T00:00:00Z"}`, "400 at_tme"},
		{`[]`, "400 "},
		{`{"at_time":null,"at_time":null}`, "400 "},
		{`{`, "400 "},
		{`{"` + strings.Repeat("a", 100<<10) + `":null}`, "413 "},
	} {
		got := h.post("/v1/receipts/good/verify", "application/json", []byte(c.body), version()...)
		text := fmt.Sprintf("%d %s", got.status, got.param())
		if got.status == 200 {
			text = fmt.Sprintf("200 %v", got.object(t)["valid"])
		}
		if text != c.want {
			t.Errorf("%.60s: %s, expected %s: %.300s", c.body, text, c.want, got.body)
		}
		if strings.Contains(string(got.body), "application/x-ndjson") { // this route does not accept streams
			t.Errorf("%.60s: %.300s", c.body, got.body)
		}
	}
	for key, want := range map[string]int{"a": 200, strings.Repeat("k", 255): 200, strings.Repeat("k", 256): 400, "": 400} {
		if got := h.do("POST", "/v1/receipts/good/verify", nil, append(version(), "Idempotency-Key", key)...); got.status != want {
			t.Errorf("key of %d characters: %d %s", len(key), got.status, got.body)
		}
	}
	if got := h.post("/v1/receipts/good/verify", "text/plain", []byte("{}"), version()...); got.status != 415 {
		t.Errorf("text: %d %s", got.status, got.body)
	}
}

// TestHidden verifies that the server returns the same response for an absent receipt, an absent
// route, and an absent store. It must reveal nothing to a client that specifies no version or has
// no key.
func TestHidden(t *testing.T) {
	o := shelved(t)
	key, keys := apiKeysOf(t, "ci")
	o.Auth, o.Public = keys, false
	h := start(t, o)
	bare := options(t)
	empty := start(t, bare)
	with := append(version(), "Authorization", "Bearer "+key)
	paths := []string{"/v1/receipts/absent", "/v1/nothing", "/v1/receipts/absent/verify/more", "/v1/receipts/good%2fverify"}
	var bodies []string
	for _, path := range paths {
		got := h.get(path, with...)
		v := got.object(t)
		e, _ := v["error"].(map[string]any)
		delete(e, "request_id")
		bodies = append(bodies, fmt.Sprint(got.status, e))
		if got := h.get(path, version()...); got.status != 401 || got.code() != "unauthenticated" {
			t.Errorf("%s without a key: %d %s", path, got.status, got.body)
		}
		if got := h.get(path); got.status != 426 {
			t.Errorf("%s without anything: %d %s", path, got.status, got.body)
		}
		if got := empty.get(path, version()...); got.status != 404 {
			t.Errorf("%s without a source: %d %s", path, got.status, got.body)
		}
	}
	if slices.Sort(bodies); bodies[0] != bodies[len(bodies)-1] || !strings.HasPrefix(bodies[0], "404") {
		t.Errorf("%q", bodies)
	}
	if v := empty.get("/v1").object(t); !strings.Contains(fmt.Sprint(v["capabilities"]), "receipts:false") {
		t.Errorf("%v", v)
	}
	for _, twice := range [][]string{
		append(with, "Authorization", "Bearer "+key),
		append(version(), "Authorization", key),
		append(version(), "Authorization", "Bearer "+key+" "),
		append(version(), "Authorization", "Basic "+key),
		append(version(), "Authorization", "Bearer "+strings.ToUpper(key)),
	} {
		if got := h.get("/v1/receipts/good", twice...); got.status != 401 && twice[len(twice)-1] != "Bearer "+key+" " {
			t.Errorf("%q: %d", twice, got.status)
		}
	}
	if got := h.get("/v1/receipts/good", append(with, version()...)...); got.status != 426 {
		t.Errorf("two versions: %d", got.status)
	}
	for path, want := range map[string]int{"/v1/verify": 401, "/metrics": 401, "/x/checkpoint": 401} {
		method := "GET"
		if path == "/v1/verify" {
			method = "POST"
		}
		if got := h.do(method, path, nil); got.status != want {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	for _, path := range []string{"/v1", "/healthz", "/readyz", "/openapi.json", "/"} {
		if got := h.get(path); got.status != 200 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

// TestSourceFails verifies that the text of store errors appears only in the log.
func TestSourceFails(t *testing.T) {
	for _, err := range []error{serve.ErrChanged, fmt.Errorf("%w: /secret/path", serve.ErrChanged), errors.New("/secret/path: input/output error"), context.DeadlineExceeded} {
		o := shelved(t)
		s := newShelf()
		s.err = err
		o.Source = s
		h := start(t, o)
		for _, path := range []string{"/v1/receipts/good", "/v1/tasks/t/receipts"} {
			got := h.get(path, version()...)
			if got.status != 500 || got.code() != "internal_error" || bytes.Contains(got.body, []byte("secret")) {
				t.Errorf("%v: %d %s", err, got.status, got.body)
			}
		}
	}
}
