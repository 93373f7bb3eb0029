package serve_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/files"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
)

// marker is a part of every value in the other tenant's receipts.
const marker = "MARKERB"

// A tenants value creates receipts for several tenants, each of which has its own chain.
type tenants map[string]canon.Digest

// receipt returns the next receipt of a tenant; "" means no tenant. Both tenants have receipts for
// the task "shared".
func (h tenants) receipt(t testing.TB, id, tenant, task string) []byte {
	t.Helper()
	d := receiptDraft(id, task)
	d.Identifiers.SessionID = "session_of_" + id
	d.Identifiers.TenantID = tenant
	d.Metadata = receipt.Object{"note": "of " + id}
	text := signedBehind(t, d, h[tenant])
	h[tenant] = servetest.HashOf(text)
	return text
}

// twoTenants returns the receipts of tenant a, and the remaining receipts on the server, which
// belong to tenant b or to no tenant.
func twoTenants(t testing.TB) (ours, theirs [][]byte) {
	t.Helper()
	h := tenants{}
	for i := range 5 {
		ours = append(ours, h.receipt(t, fmt.Sprint("receipt_a_", i), "a", "shared"))
		theirs = append(theirs, h.receipt(t, fmt.Sprint("receipt_"+marker+"_", i), "b_"+marker, "shared"))
	}
	theirs = append(theirs, h.receipt(t, "receipt_"+marker+"_own", "b_"+marker, "task_"+marker),
		h.receipt(t, "receipt_"+marker+"_none", "", "shared"),
		h.receipt(t, "receipt_"+marker+"_case", "A", "shared"))
	damaged := bytes.Replace(h.receipt(t, "receipt_"+marker+"_damaged", "b_"+marker, "shared"), []byte(`"USD"`), []byte(`"EUR"`), 1)
	broken := bytes.Replace(h.receipt(t, "receipt_"+marker+"_broken", "b_"+marker, "shared"), []byte(`"USD"`), []byte(`"EUR",`), 1)
	return ours, append(theirs, damaged, broken)
}

// mixed interleaves the receipts of both tenants.
func mixed(ours, theirs [][]byte) (all [][]byte) {
	for i := range max(len(ours), len(theirs)) {
		if i < len(theirs) {
			all = append(all, theirs[i])
		}
		if i < len(ours) {
			all = append(all, ours[i])
		}
	}
	return all
}

// narrowKey creates an API key with the given members of its line in the key file.
func narrowKey(t testing.TB, name, members string) (key string, line string) {
	t.Helper()
	key, entry, err := protocol.NewAPIKey(strings.NewReader(fmt.Sprintf("%-32s", name)), name, noon())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(entry)
	if err != nil {
		t.Fatal(err)
	}
	return key, strings.TrimSuffix(string(text), "}") + members + "}\n"
}

// A question is a request that is sent to both servers.
type question struct {
	method, path string
	body         []byte
	headers      []string
}

// tenantQuestions returns requests to every route for all data of the other tenant. The requests
// contain IDs, tasks, hashes, and cursors, in full and truncated.
func tenantQuestions(ours, theirs [][]byte, cursors []string) (list []question) {
	add := func(method, path string, body []byte, headers ...string) {
		list = append(list, question{method, path, body, headers})
	}
	ids := []string{"receipt_absent"}
	for _, text := range slices.Concat(ours, theirs) {
		ids = append(ids, regexp.MustCompile(`"receipt_id":"([^"]*)"`).FindStringSubmatch(string(text))[1], servetest.HashOf(text).String(), hex.EncodeToString(func() []byte { h := servetest.HashOf(text); return h[:] }()))
	}
	for _, id := range ids {
		for _, id := range []string{id, strings.ToUpper(id)} {
			path := "/v1/receipts/" + url.PathEscape(id)
			add("GET", path, nil)
			add("HEAD", path, nil)
			add("GET", path, nil, "Accept", "application/vnd.harn.receipt+cbor")
			add("GET", path, nil, "Accept", "application/vnd.harn.receipt+json")
			add("POST", path+"/verify", nil)
			add("POST", path+"/verify", []byte(`{"trust_anchor":"x"}`), "Content-Type", "application/json")
			add("POST", path+"/verify", nil, "Idempotency-Key", "one")
			add("GET", "/v1/tasks/"+url.PathEscape(id)+"/receipts", nil)
			add("POST", "/v1/tasks/"+url.PathEscape(id)+"/replay", nil)
			add("GET", "/x/receipts/"+url.PathEscape(id)+"/proof", nil)
		}
	}
	for _, task := range []string{"shared", "task_" + marker, "absent"} {
		for _, query := range []string{"", "?limit=1", "?limit=2", "?limit=3", "?limit=200", "?cursor=x"} {
			add("GET", "/v1/tasks/"+task+"/receipts"+query, nil)
		}
		for _, cursor := range cursors {
			add("GET", "/v1/tasks/"+task+"/receipts?limit=2&cursor="+cursor, nil)
		}
	}
	for _, text := range theirs[:2] {
		add("POST", "/v1/verify", text, "Content-Type", "application/json")
		add("POST", "/v1/verify", servetest.Lines(text, text), "Content-Type", "application/x-ndjson")
	}
	for _, path := range []string{"/v1", "/v1/agent-card", "/.well-known/jwks.json", "/openapi.json", "/schemas/" + receipt.SchemaMarker + ".schema.json", "/healthz", "/readyz", "/metrics", "/", "/v1/nothing", "/v1/receipts", "/x/checkpoint"} {
		add("GET", path, nil)
	}
	return list
}

// unasked returns the patterns of the routes for which there is no question.
func unasked(routes []protocol.Route, questions []question) (missing []string) {
	mux, asked := http.NewServeMux(), map[string]bool{}
	for _, route := range routes {
		mux.Handle(route.Pattern, http.NotFoundHandler())
	}
	for _, q := range questions {
		_, pattern := mux.Handler(httptest.NewRequest(q.method, q.path, nil))
		asked[pattern] = true
	}
	for _, route := range routes {
		if !asked[route.Pattern] {
			missing = append(missing, route.Pattern)
		}
	}
	return missing
}

// cursorsOf follows the list of a task's receipts, and returns every cursor in the responses.
func cursorsOf(h *host, task string, headers []string) (list []string) {
	for _, limit := range []int{1, 2, 3} {
		path := fmt.Sprintf("/v1/tasks/%s/receipts?limit=%d", task, limit)
		for next := nextCursor(h.t, h.get(path, headers...)); next != ""; next = nextCursor(h.t, h.get(path+"&cursor="+next, headers...)) {
			list = append(list, next)
		}
	}
	return list
}

// TestTenants verifies that the responses to requests with one tenant's key are, byte for byte, the
// same as those of a server without data of another tenant. The test sends requests to every route,
// with every ID, hash, and cursor of the other tenant.
func TestTenants(t *testing.T) {
	ours, theirs := twoTenants(t)
	all := mixed(ours, theirs)
	shelfOf := func(list [][]byte) serve.Source {
		s, idOf := newShelf(), regexp.MustCompile(`"receipt_id":"([^"]*)"`)
		for _, text := range list {
			id := idOf.FindStringSubmatch(string(text))[1]
			s.texts[id] = text
		}
		return s
	}
	for name, source := range map[string]func([][]byte) serve.Source{
		"files": func(list [][]byte) serve.Source {
			return openFiles(t, map[string][]byte{"all.jsonl": servetest.Lines(list...)})
		},
		"careless": shelfOf, // returns receipts outside the client's reach, which the server must reject
	} {
		for by, clients := range map[string]admission{
			"tenants":       byKey(t, `,"tenants":["a"]`),
			"several":       byKey(t, `,"tenants":["c","a"],"issuers":["harness_example_cloud"],"workspaces":["w"],"scopes":["receipts:read","receipts:verify"]`),
			"bearer tokens": {auth: bearerTokens{"ours": "a", "theirs": "b_" + marker, "every": ""}, key: "ours", master: "every"},
		} {
			t.Run(name+" by "+by, func(t *testing.T) { sameAnswers(t, source(all), source(ours), ours, theirs, clients) })
		}
	}
}

// An admission is a form of authentication, with the credentials of tenant a and of an operator.
type admission struct {
	auth        protocol.Authenticator
	key, master string
}

// byKey returns an admission that uses API keys. The parameter members restricts the key of tenant
// a.
func byKey(t testing.TB, members string) admission {
	t.Helper()
	key, line := narrowKey(t, "tenant_a", members)
	master, second := narrowKey(t, "master", "")
	keys, err := serve.ParseAPIKeys([]byte(line + second))
	if err != nil {
		t.Fatal(err)
	}
	return admission{keys, key, master}
}

// bearerTokens is an external authentication that maps each token to its tenant, or to "" for an
// operator.
type bearerTokens map[string]string

func (b bearerTokens) Authenticate(r *http.Request) (*protocol.Client, error) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	tenant, known := b[token]
	c := &protocol.Client{Name: token, Actor: sha256.Sum256([]byte(token)), AllScopes: true, Reach: protocol.Everything()}
	switch {
	case !known:
		return nil, &protocol.Error{Code: protocol.CodeAuth, Message: "unknown token"}
	case tenant != "":
		c.Reach = c.Reach.OfTenants(tenant)
	}
	return c, nil
}

func sameAnswers(t *testing.T, all, alone serve.Source, ours, theirs [][]byte, clients admission) {
	serving := func(source serve.Source) *host {
		o := options(t)
		o.Source, o.Auth, o.Public = source, clients.auth, false
		o.Keys = func() []byte { return fixture(t, "keys/trust.json") }
		return start(t, o)
	}
	h, lonely := serving(all), serving(alone)
	headers := append(version(), "Authorization", "Bearer "+clients.key)
	every := append(version(), "Authorization", "Bearer "+clients.master)
	cursors := append(cursorsOf(h, "shared", every), cursorsOf(h, "shared", headers)...)
	if _, files := all.(*files.Index); files && len(cursors) < 20 {
		t.Errorf("only %d cursors", len(cursors))
	}
	traces := tracesOf(theirs)
	seen := 0
	questions := tenantQuestions(ours, theirs, cursors)
	if missing := unasked(h.server.Routes(), questions); len(missing) > 0 {
		t.Errorf("no request for %q", missing)
	}
	for _, q := range questions {
		all, alone := h.do(q.method, q.path, bytes.NewReader(q.body), append(slices.Clone(headers), q.headers...)...), lonely.do(q.method, q.path, bytes.NewReader(q.body), append(slices.Clone(headers), q.headers...)...)
		got, want := plain(all), plain(alone)
		if got != want {
			t.Errorf("%s %s: another answer than without the other tenant\n%.400s\n%.400s", q.method, q.path, got, want)
		}
		if sent := q.path == "/v1/verify"; !sent { // otherwise, the client itself sent the data
			for _, trace := range traces {
				if strings.Contains(got, trace) {
					t.Errorf("%s %s: %q in the answer\n%.400s", q.method, q.path, trace, got)
				}
			}
		}
		if bytes.Contains(all.body, []byte(`"valid":true`)) {
			seen++
		}
	}
	if seen < len(ours) {
		t.Errorf("only %d own receipts are valid", seen)
	}
}

// tracesOf returns strings that occur only in the given receipts.
func tracesOf(list [][]byte) (traces []string) {
	traces = append(traces, marker)
	add := func(d [32]byte) {
		traces = append(traces, hex.EncodeToString(d[:8]), base64.StdEncoding.EncodeToString(d[:])[:20], base64.RawURLEncoding.EncodeToString(d[:])[:20])
	}
	for _, text := range list {
		add(canon.Sum(text))
		add(servetest.HashOf(text))
		add(receipt.CheckpointLeaf(servetest.HashOf(text)))
	}
	return traces
}

// plain returns a response without the parts that differ in every response.
func plain(r reply) string {
	text := fmt.Sprint(r.status, " ", r.header, " ", r.err, "\n", string(r.body))
	return differs().ReplaceAllString(text, "-")
}

var differs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"request_id":"[0-9a-f]{16}"|Date:\[[^\]]*\]|"(started|finished)":"[^"]*"`)
})

// TestTenantProofs verifies that a checkpoint and its proofs are served only to clients that may
// see all receipts. The checkpoint and the proofs reveal the number of receipts and some hashes.
func TestTenantProofs(t *testing.T) {
	ours, theirs := twoTenants(t)
	theirs = theirs[:6] // intact
	key, line := narrowKey(t, "tenant_a", `,"tenants":["a"]`)
	master, second := narrowKey(t, "master", "")
	reader, third := narrowKey(t, "verifier", `,"scopes":["receipts:verify"]`)
	keys, err := serve.ParseAPIKeys([]byte(line + second + third))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		list   [][]byte
		size   int
		status int // for tenant a
	}{
		{"both", mixed(ours, theirs), 11, 404},
		{"both, own first", append(slices.Clone(ours), theirs...), 6, 404},
		{"own alone", append(slices.Clone(ours), theirs...), 5, 200},
	} {
		f := openFiles(t, map[string][]byte{"a.jsonl": servetest.Lines(c.list...)})
		p, err := files.NewProofs(f, servetest.Checkpoint(t, c.list[:c.size]...))
		if err != nil {
			t.Fatal(err)
		}
		o := options(t)
		o.Source, o.Proofs, o.Auth, o.Public = f, p, keys, false
		h := start(t, o)
		for _, path := range []string{"/x/checkpoint", "/x/receipts/receipt_a_0/proof"} {
			got := h.get(path, "Authorization", "Bearer "+key)
			if got.status != c.status || c.status == 404 && got.code() != "resource_not_found" {
				t.Errorf("%s: %s: %d %s", c.name, path, got.status, got.body)
			}
			if got := h.get(path, "Authorization", "Bearer "+master); got.status != 200 {
				t.Errorf("%s: %s, without limits: %d", c.name, path, got.status)
			}
			if got := h.get(path, "Authorization", "Bearer "+reader); got.status != 404 {
				t.Errorf("%s: %s, without receipts:read: %d", c.name, path, got.status)
			}
		}
		for _, id := range []string{"receipt_" + marker + "_0", "receipt_absent"} {
			a, b := h.get("/x/receipts/"+id+"/proof", "Authorization", "Bearer "+key), h.get("/x/receipts/receipt_absent/proof", "Authorization", "Bearer "+key)
			if plain(a) != plain(b) || a.status != 404 {
				t.Errorf("%s: %s: %s", c.name, id, plain(a))
			}
		}
	}
}

// TestScopes verifies that, if a key lacks the scope for a route, the response is the same as for
// an absent route.
func TestScopes(t *testing.T) {
	o := shelved(t)
	lines, held := "", map[string]string{}
	for name, members := range map[string]string{
		"all": "", "none": `,"scopes":[]`, "read": `,"scopes":["receipts:read"]`, "verify": `,"scopes":["receipts:verify"]`,
		"both": `,"scopes":["receipts:verify","receipts:read"]`, "nobody": `,"tenants":[]`, "nothing": `,"issuers":[]`, "nowhere": `,"workspaces":[]`,
		"issuer": `,"issuers":["harness_example_cloud"]`, "other": `,"issuers":["Harness_example_cloud"]`, "workspace": `,"workspaces":["w"]`,
	} {
		key, line := narrowKey(t, name, members)
		lines, held[name] = lines+line, key
	}
	keys, err := serve.ParseAPIKeys([]byte(lines))
	if err != nil {
		t.Fatal(err)
	}
	o.Auth, o.Public = keys, false
	h := start(t, o)
	for name, want := range map[string]string{ // results of: get, list, verify stored, verify sent, metrics
		"all": "200 3 200 200 200", "none": "404 - 404 404 404", "read": "200 3 404 404 404", "verify": "404 - 200 200 404", "both": "200 3 200 200 404",
		"nobody": "404 0 404 200 404", "nothing": "404 0 404 200 404", "nowhere": "404 0 404 200 404",
		"issuer": "200 3 200 200 404", "other": "404 0 404 200 404", "workspace": "200 3 200 200 404",
	} {
		headers := append(version(), "Authorization", "Bearer "+held[name])
		count := "-"
		list := h.get("/v1/tasks/t/receipts", headers...)
		if list.status == 200 {
			data, _ := list.object(t)["data"].([]any)
			count = fmt.Sprint(len(data))
		}
		if list.status == 500 { // the careless source returns more than the key may see
			count = "0"
		}
		got := fmt.Sprint(h.get("/v1/receipts/good", headers...).status, " ", count, " ", h.do("POST", "/v1/receipts/good/verify", nil, headers...).status, " ",
			h.post("/v1/verify", "application/json", []byte("{}"), headers...).status, " ", h.get("/metrics", headers...).status)
		if got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
}

// TestTenantKeys verifies that two clients with external authentication can use the same
// Idempotency-Key, even if they have the same tenant. It is treated as two keys, both while a
// request is in progress and afterward. A client that cannot be distinguished from others must not
// send a key.
func TestTenantKeys(t *testing.T) {
	o, s := staged(t)
	gate := make(chan struct{})
	s.gate = gate
	o.Auth, o.Public = bearerTokens{"mine": "a", "yours": "a"}, false
	h := start(t, o)
	ask := func(token string) reply {
		return h.replayOf("t", oneSwap, "Authorization", "Bearer "+token, "Idempotency-Key", "same")
	}

	// Both replays must be in progress at the same time. This shows that neither waited for the
	// other.
	answers := map[string]chan reply{"mine": make(chan reply, 1), "yours": make(chan reply, 1)}
	for token, answer := range answers {
		go func() { answer <- ask(token) }()
	}
	for end := time.Now().Add(10 * time.Second); s.count() < 2 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if s.count() != 2 || s.began[0].Once == s.began[1].Once {
		t.Errorf("%d replays in progress", s.count())
	}
	if got := ask("mine"); string(got.body) != inFlight {
		t.Errorf("repeated meanwhile: %d %s", got.status, got.body)
	}
	close(gate)

	first := map[string]string{}
	for token, answer := range answers {
		got := <-answer
		if first[token] = string(got.body); got.status != 202 || got.object(t)["created_by"] != token {
			t.Errorf("%s: %d %s", token, got.status, got.body)
		}
	}
	for token, want := range first {
		if got := ask(token); string(got.body) != want {
			t.Errorf("%s, repeated: %s, expected %s", token, got.body, want)
		}
	}
	if s.count() != 2 || first["mine"] == first["yours"] {
		t.Errorf("%d replays: %v", s.count(), first)
	}

	o.Auth = unknownActor{o.Auth}
	if got := start(t, o).replayOf("t", oneSwap, "Authorization", "Bearer mine", "Idempotency-Key", "same"); got.status != 400 || got.param() != "Idempotency-Key" {
		t.Errorf("without an actor: %d %s", got.status, got.body)
	}
}

// unknownActor is an authenticator that does not distinguish between clients.
type unknownActor struct{ protocol.Authenticator }

func (u unknownActor) Authenticate(r *http.Request) (*protocol.Client, error) {
	c, err := u.Authenticator.Authenticate(r)
	if err == nil {
		c.Actor = [32]byte{}
	}
	return c, err
}
