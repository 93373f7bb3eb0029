package serve_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
)

// TestMistakenBodies verifies the report on a body that is not a receipt, or whose form does not
// match its Content-Type. The report must name the form and suggest what to send. The verdict must
// still be refuted.
func TestMistakenBodies(t *testing.T) {
	h := start(t, options(t))
	good := fixture(t, "valid/minimal.json")
	indented := fixture(t, "edge/pretty.json")
	doc, err := canon.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	item, err := archive.NewCodec().Append(nil, doc)
	if err != nil {
		t.Fatal(err)
	}
	list := servetest.Receipts(t, 3)
	note := servetest.Checkpoint(t, list...)

	const (
		lines, sequence     = "application/x-ndjson", "application/cbor"
		several             = "several receipts are sent as application/x-ndjson, one a line"
		onlyReceipts, asked = "; only receipts are sent here", ": ask the sender for the receipt itself"
	)
	for _, c := range []struct{ name, media, body, hint string }{
		{"a PDF", "application/json", "%PDF-1.7\n", "this is a PDF document" + asked},
		{"a PDF as lines", lines, "%PDF-1.7\n1 0 obj\n", "this is a PDF document" + asked},
		{"a picture as CBOR", sequence, "\x89PNG\r\n\x1a\n\x00", "this is a PNG image" + asked},
		{"a web page", "application/json", "<!DOCTYPE html><html></html>", "this is a web page (HTML)" + asked},
		{"a private key", "application/json", string(fixture(t, "keys/key_2026_04.private.json")), "this is a private key: keep it secret"},
		{"keys", "application/json", string(fixture(t, "keys/trust.json")), "this is a set of keys: "},
		{"a checkpoint", "application/json", string(note), "this is a signed checkpoint of a log: pass it together with the receipts that it covers" + onlyReceipts},
		{"a log", "application/json", `{"id":"e1","object":"event","event":"task.started","resource":{"object":"task","id":"t"},"sequence":1,"payload":{}}` + "\n" + `{"id":"e2"}` + "\n", "this is a log of events: "},
		{"lines", "application/json", string(servetest.Lines(list...)), several},
		{"an array", "application/json", "[" + string(good) + "]", several},
		{"a page", "application/json", `{"object": "list", "data":[` + string(good) + "," + string(good) + `]}`, several},
		{"gzip", "application/json", string(servetest.Gzip(t, good)), "this is compressed: send it decompressed"},
		{"CBOR as JSON", "application/json", string(item), "this looks like CBOR: send it as application/cbor"},
		{"JSON as CBOR", sequence, string(good), "the input looks like JSON text"},
		{"one receipt of several lines", lines, string(indented), "this is one document of several lines: send it as application/json"},
		{"nothing", "application/json", "", "it is empty"},

		// A document that may be a receipt must not be reported as anything else.
		{"a cut receipt", "application/json", string(good[:len(good)/2]), ""},
		{"a changed receipt", "application/json", strings.Replace(string(good), `"schema"`, `"scheme"`, 1), ""},
		{"a cut line", lines, string(good[:len(good)/2]) + "\n", ""},
		{"some JSON", "application/json", `{"a":1}`, ""},
	} {
		got := h.post("/v1/verify", c.media, []byte(c.body))
		var rep receipt.Report
		first, _, _ := bytes.Cut(got.body, []byte("\n"))
		if err := json.Unmarshal(first, &rep); err != nil || got.status != 200 {
			t.Errorf("%s: %d %v %s", c.name, got.status, err, got.body)
			continue
		}
		hint := rep.Finding().Hint
		if rep.Verdict != receipt.Refuted || !strings.HasPrefix(hint, c.hint) || (hint == "") != (c.hint == "") {
			t.Errorf("%s: %v, %q, expected %q", c.name, rep.Verdict, hint, c.hint)
		}
		if strings.HasSuffix(c.hint, onlyReceipts) && hint != c.hint {
			t.Errorf("%s: %q", c.name, hint)
		}
	}
}
