package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/replay"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
	"github.com/receiptkit/receiptkit/schemas"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A description represents the parsed file openapi.json.
type description struct {
	tree     any
	compiler *jsonschema.Compiler
	answers  map[string]bool // the method, path, and status of each response that was validated
}

const descriptionURL = "http://receipts.test/openapi.json"

func describe(t testing.TB) *description {
	t.Helper()
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(serve.OpenAPI()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(descriptionURL, tree); err != nil {
		t.Fatal(err)
	}
	// Like a client, the test follows the schema reference to the server.
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(start(t, options(t)).get("/schemas/receipt-2026-04-25.schema.json").body))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("http://receipts.test/schemas/receipt-2026-04-25.schema.json", schema); err != nil {
		t.Fatal(err)
	}
	return &description{tree, c, map[string]bool{}}
}

// at returns the value at the given member names, and follows references within the document.
func (d *description) at(v any, names ...string) any {
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
		if m, ok := v.(map[string]any); ok {
			if ref, ok := m["$ref"].(string); ok && strings.HasPrefix(ref, "#/") && !strings.HasPrefix(ref, "#/components/schemas/") {
				v = d.at(d.tree, strings.Split(ref[2:], "/")...)
			}
		}
	}
	return v
}

// pointer returns the JSON Pointer for a list of names.
func pointer(names ...string) string {
	text := ""
	for _, n := range names {
		text += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(n)
	}
	return text
}

// check validates a response against the description of its route and status.
func (d *description) check(t testing.TB, method, path string, got reply) {
	t.Helper()
	pattern := d.patternOf(path)
	operation := []string{"paths", pattern, strings.ToLower(method), "responses", fmt.Sprint(got.status)}
	response := d.at(d.tree, operation...)
	if response == nil {
		t.Errorf("%s %s: the status %d is not described: %.200s", method, path, got.status, got.body)
		return
	}
	d.answers[method+" "+pattern+" "+fmt.Sprint(got.status)] = true
	media, _, err := mime.ParseMediaType(got.header.Get("Content-Type"))
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return
	}
	if d.at(response, "content", media) == nil {
		t.Errorf("%s %s: %d is not described as %s", method, path, got.status, media)
		return
	}
	schema := d.compile(t, operation, media)
	for _, body := range bodies(media, got.body) {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			t.Errorf("%s %s: %v: %.200s", method, path, err, body)
		} else if err := schema.Validate(v); err != nil {
			t.Errorf("%s %s: %d: %v\n%.500s", method, path, got.status, err, body)
		}
	}
}

// compile compiles the schema of a response, following the reference to a shared response.
func (d *description) compile(t testing.TB, operation []string, media string) *jsonschema.Schema {
	t.Helper()
	place := operation
	parent, _ := d.at(d.tree, operation[:len(operation)-1]...).(map[string]any)
	if m, _ := parent[operation[len(operation)-1]].(map[string]any); m != nil {
		if ref, ok := m["$ref"].(string); ok {
			place = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		}
	}
	s, err := d.compiler.Compile(descriptionURL + "#" + pointer(append(slices.Clone(place), "content", media, "schema")...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bodies returns the JSON values in a response.
func bodies(media string, body []byte) [][]byte {
	switch {
	case media == "application/x-ndjson":
		return bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))
	case strings.HasSuffix(media, "json"):
		return [][]byte{body}
	}
	return nil
}

// patternOf returns the pattern in the description that matches a path.
func (d *description) patternOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	paths, _ := d.at(d.tree, "paths").(map[string]any)
	for pattern := range paths {
		want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
		same := len(want) == len(got)
		for i := 0; same && i < len(want); i++ {
			same = want[i] == got[i] || want[i] == "{id}" && got[i] != ""
		}
		if same {
			return pattern
		}
	}
	return path
}

// TestOpenAPIRoutes verifies that openapi.json and the server have the same routes: the same paths,
// methods, and parameters, and the same requirements for a version and a key.
func TestOpenAPIRoutes(t *testing.T) {
	d := describe(t)
	paths, _ := d.at(d.tree, "paths").(map[string]any)
	described := map[string]bool{}
	for path, item := range paths {
		operations, _ := item.(map[string]any)
		for method, operation := range operations {
			pattern := strings.ToUpper(method) + " " + path
			found, version, key, params := serve.FindRoute(pattern)
			if !found {
				t.Errorf("%s is described, but the server does not have it", pattern)
			}
			described[pattern] = true
			var names []string
			hasVersion := false
			list, _ := d.at(operation, "parameters").([]any)
			for i := range list {
				p := d.at(map[string]any{"p": list[i]}, "p")
				switch name := fmt.Sprint(d.at(p, "name")); d.at(p, "in") {
				case "query":
					names = append(names, name)
				case "header":
					hasVersion = hasVersion || name == "Harn-Agents-Protocol-Version"
				}
			}
			security, _ := d.at(operation, "security").([]any)
			if hasVersion != version || len(security) > 0 != key || !slices.Equal(names, params) {
				t.Errorf("%s %s: version %v, key %v, parameters %q; the server has %v, %v, %q", method, path, hasVersion, len(security) > 0, names, version, key, params)
			}
		}
	}
	for _, r := range serve.Routes() {
		if !described[r[0]+" "+r[1]] {
			t.Errorf("%s %s is not described", r[0], r[1])
		}
	}
	if d.at(d.tree, "openapi") != "3.1.0" || len(paths) < 10 {
		t.Errorf("%v, %d paths", d.at(d.tree, "openapi"), len(paths))
	}
	media, _ := d.at(d.tree, "paths", "/v1/verify", "post", "requestBody", "content").(map[string]any)
	if len(media) != 7 {
		t.Errorf("%d media types of /v1/verify", len(media))
	}
}

// TestOpenAPISchemas verifies that the schemas of reports, summaries, and replay requests match
// those of package schemas.
func TestOpenAPISchemas(t *testing.T) {
	d := describe(t)
	for name, source := range map[string]schemas.Name{"Report": "report", "Summary": "summary", "ReplayRequest": "replay-request"} {
		text, _ := schemas.Source(source)
		var want any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		var all struct {
			Components struct{ Schemas map[string]any }
		}
		if err := json.Unmarshal(serve.OpenAPI(), &all); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(all.Components.Schemas[name]) != fmt.Sprint(want) {
			t.Errorf("components/schemas/%s is not the schema %s; copy it", name, source)
		}
		if d.at(d.tree, "components", "schemas", name) == nil {
			t.Errorf("no schema %s", name)
		}
	}
}

// TestOpenAPIAnswers verifies that actual responses from every route match openapi.json, for each
// possible status.
func TestOpenAPIAnswers(t *testing.T) {
	d := describe(t)
	o := shelved(t)
	staged, harness := staged(t)
	o.Replay = staged.Replay
	key, keys := apiKeysOf(t, "ci")
	o.Auth, o.Public = keys, false
	o.Keys = func() []byte { return fixture(t, "keys/trust.json") }
	text := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "text") }
	o.Proofs, o.Page = shownProofs{servetest.Checkpoint(t, oneLine(t, "valid/minimal.json"))}, http.HandlerFunc(text)
	h := start(t, o)
	auth := []string{"Authorization", "Bearer " + key}
	full := append(version(), auth...)
	good := fixture(t, "valid/minimal.json")
	send := func(method, path string, body []byte, headers ...string) {
		t.Helper()
		d.check(t, method, path, h.do(method, path, bytes.NewReader(body), headers...))
	}
	media := func(m string) []string { return append(slices.Clone(auth), "Content-Type", m) }
	send("POST", "/v1/verify", good, media("application/json")...)
	send("POST", "/v1/verify", []byte("{"), media("application/json")...)
	send("POST", "/v1/verify", ndjson(oneLine(t, "valid/minimal.json"), []byte("{"), oneLine(t, "malicious/changed-cost.json")), media("application/x-ndjson")...)
	send("POST", "/v1/verify?scope=integrity", ndjson(oneLine(t, "valid/minimal.json")), media("application/x-ndjson")...)
	two := h.do("POST", "/v1/verify?expect_count=2", bytes.NewReader(ndjson(oneLine(t, "valid/minimal.json"), oneLine(t, "edge/path-id.json"))), media("application/x-ndjson")...)
	d.check(t, "POST", "/v1/verify", two)
	send("POST", "/v1/verify?x=1", good, media("application/json")...)
	send("POST", "/v1/verify", good, media("text/plain")...)
	send("POST", "/v1/verify", good, "Content-Type", "application/json")
	send("POST", "/v1/verify", make([]byte, 16<<20+1), media("application/json")...)
	for _, path := range []string{"/v1/receipts/good", "/v1/receipts/corrupted", "/v1/receipts/bare", "/v1/receipts/broken", "/v1/receipts/absent", "/v1/receipts/good?x=1",
		"/v1/tasks/t/receipts", "/v1/tasks/t/receipts?limit=1", "/v1/tasks/nobody/receipts", "/v1/tasks/t/receipts?limit=x", "/v1/tasks/broken/receipts"} {
		send("GET", path, nil, full...)
		send("GET", path, nil, version()...)
		send("GET", path, nil, auth...)
	}
	send("GET", "/v1/receipts/good", nil, append(full, "Accept", archive.MediaType)...)
	for _, id := range []string{"good", "corrupted", "bare"} {
		send("GET", "/v1/receipts/"+id, nil, append(full, "Accept", "application/vnd.harn.receipt+json")...)
	}
	verify := func(id, body string, headers ...string) {
		t.Helper()
		send("POST", "/v1/receipts/"+id+"/verify", []byte(body), append(headers, "Content-Type", "application/json")...)
	}
	for _, id := range []string{"good", "corrupted", "unknown", "broken", "absent"} {
		verify(id, "{}", full...)
	}
	verify("good", `{"trust_anchor":"x"}`, full...)
	verify("good", strings.Repeat(" ", 65<<10), full...)
	verify("good", "{}", version()...)
	verify("good", "{}", auth...)
	send("POST", "/v1/receipts/good/verify", []byte("{}"), append(full, "Content-Type", "text/plain")...)
	verify("good", "{}", append(full, "Idempotency-Key", "k")...)
	verify("good", `{"at_time":null}`, append(full, "Idempotency-Key", "k")...)
	send("GET", "/v1/tasks/t/receipts?cursor=AQ", nil, full...)

	again := func(task, body string, headers ...string) {
		t.Helper()
		send("POST", "/v1/tasks/"+task+"/replay", []byte(body), append(headers, "Content-Type", "application/json")...)
	}
	again("t", oneSwap, append(full, "Idempotency-Key", "k")...)
	again("t", "{}", append(full, "Idempotency-Key", "k")...)
	again("t", `{"mode":"from_checkpoint","checkpoint_id":"cp_9"}`, full...)
	again("t", strings.Replace(oneSwap, `"value":{"text":"approved"}`, `"artifact_id":"a_1"`, 1), full...)
	again("t", "[]", full...)
	again("t", strings.Repeat(" ", replay.MaxRequest+1), full...)
	again("absent", "", full...)
	again("t", "", version()...)
	again("t", "", auth...)
	send("POST", "/v1/tasks/t/replay", []byte("{}"), append(full, "Content-Type", "text/plain")...)
	for _, harness.fail = range []error{serve.ErrLogGone, io.ErrUnexpectedEOF} {
		again("t", "", full...)
	}
	for _, path := range []string{"/v1/agent-card", "/schemas/receipt-2026-04-25.schema.json", "/v1", "/.well-known/jwks.json", "/openapi.json", "/healthz", "/readyz", "/metrics", "/", "/x/checkpoint", "/x/receipts/good/proof"} {
		send("GET", path, nil, auth...)
	}
	send("GET", "/v1?x=1", nil)
	send("GET", "/metrics", nil)
	send("GET", "/x/checkpoint", nil)
	send("GET", "/x/receipts/good/proof", nil)
	h.server.Drain()
	send("GET", "/readyz", nil)
	for _, r := range serve.Routes() {
		if r[0] != "" && !d.answers[r[0]+" "+r[1]+" 200"] && !d.answers[r[0]+" "+r[1]+" 202"] {
			t.Errorf("no answer of %s %s was validated", r[0], r[1])
		}
	}
	if len(d.answers) < 45 {
		t.Errorf("%d kinds of answers were validated: %v", len(d.answers), d.answers)
	}
}
