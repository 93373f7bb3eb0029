package protocol

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/receiptkit/receiptkit/chain"
)

// parseKeys parses keys with the scopes of a server that verifies receipts.
func parseKeys(data []byte) (*APIKeys, error) {
	return ParseAPIKeys(data, "receipts:read", "receipts:verify", "tasks:replay")
}

// apiKeysOf returns an API key with the given name and a key set that contains it.
func apiKeysOf(t testing.TB, name string) (key string, keys *APIKeys) {
	t.Helper()
	key, entry, err := NewAPIKey(rand.Reader, name, noon())
	if err != nil {
		t.Fatal(err)
	}
	if keys, err = NewAPIKeys(entry); err != nil {
		t.Fatal(err)
	}
	return key, keys
}

// authenticate returns the client for a request with the given Authorization header.
func authenticate(a Authenticator, header string) (*Client, error) {
	return a.Authenticate(&http.Request{Header: http.Header{"Authorization": {header}}})
}

// TestAPIKeys verifies that a key is accepted and results in its name, and that other keys are
// rejected.
func TestAPIKeys(t *testing.T) {
	random := bytes.NewReader(bytes.Repeat([]byte{0xff}, 32))
	key, entry, err := NewAPIKey(random, "ci", noon())
	if err != nil || key != "rk_"+strings.Repeat("_", 42)+"8" {
		t.Fatal(key, err)
	}
	other, second := apiKeysOf(t, "second")
	line, err := json.Marshal(entry)
	if err != nil || strings.Contains(string(line), key) {
		t.Fatal(err, string(line))
	}
	keys, err := parseKeys([]byte("\n" + string(line) + "\r\n\n"))
	if err != nil || len(keys.names) != 1 {
		t.Fatal(err)
	}
	for header, want := range map[string]string{
		"Bearer " + key: "ci", "bearer " + key: "ci", "BEARER " + key: "ci",
		"Bearer " + other: "", "Bearer " + key + "x": "", "Bearer " + key[:len(key)-1]: "", "Bearer  " + key: "ci", "Bearer    " + key: "ci", "Bearer\t" + key: "", "Bearer " + key + " ": "",
		"Basic " + key: "", key: "", "Bearer": "", "": "", "Bearer " + strings.Repeat("a", 1<<16): "", "Bearer " + strings.ToLower(key[:3]) + key[3:45] + "9": "",
	} {
		client, err := authenticate(keys, header)
		if (err == nil) != (want != "") || err == nil && client.Name != want {
			t.Errorf("%.80q: %v, %v", header, client, err)
		}
	}
	if client, err := authenticate(second, "Bearer "+other); err != nil || client.Name != "second" {
		t.Errorf("%v, %v", client, err)
	}
	if _, _, err := NewAPIKey(iotest.ErrReader(iotest.ErrTimeout), "x", noon()); err == nil {
		t.Error("a key without randomness")
	}
	for _, name := range []string{"", "a b", "a\n", "é", strings.Repeat("a", 81)} {
		if _, _, err := NewAPIKey(rand.Reader, name, noon()); err == nil {
			t.Errorf("the name %q", name)
		}
	}
}

func narrowed(line, members string) string { return strings.TrimSuffix(line, "}") + members + "}" }

// TestAPIKeyLimits verifies that an entry is written in the form in which it was read, that an
// absent member sets no limit, and that an empty list matches nothing.
func TestAPIKeyLimits(t *testing.T) {
	const line = `{"name":"ci","sha256":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","created":"2026-04-25T19:00:00Z"`
	a, b, none := chain.Stream{Issuer: "i", Tenant: "a", HasTenant: true, Workspace: "w"}, chain.Stream{Issuer: "i", Tenant: "b", HasTenant: true, Workspace: "w"}, chain.Stream{Issuer: "i", Workspace: "w"}
	for members, want := range map[string]string{ // the value lists which data is visible: of tenant a, of tenant b, and without a tenant (-)
		"": "ab-", `,"scopes":[]`: "ab-", `,"scopes":["receipts:verify"]`: "ab-",
		`,"tenants":["a"]`: "a", `,"tenants":["b","a"]`: "ab", `,"tenants":[]`: "", `,"tenants":["A"]`: "",
		`,"issuers":["i"]`: "ab-", `,"issuers":["I"]`: "", `,"issuers":[]`: "", `,"issuers":["i"],"tenants":["b"]`: "b",
		`,"workspaces":["w"]`: "ab-", `,"workspaces":["v"]`: "", `,"issuers":["i"],"tenants":["a"],"workspaces":["v","w"]`: "a", `,"issuers":["i"],"tenants":["a"],"workspaces":[]`: "",
	} {
		entry, err := parseAPIKey([]byte(line+members+"}"), []Scope{"receipts:verify"})
		if err != nil {
			t.Fatal(members, err)
		}
		got := ""
		for _, c := range []struct {
			name   string
			stream chain.Stream
		}{{"a", a}, {"b", b}, {"-", none}} {
			if entry.Reach.Sees(c.stream) {
				got += c.name
			}
		}
		if limited := members != "" && !strings.Contains(members, "scopes"); got != want || entry.Reach.All() == limited {
			t.Errorf("%s: sees %q, expected %q", members, got, want)
		}
		if text, err := json.Marshal(entry); err != nil || string(text) != line+members+"}" {
			t.Errorf("%s: written as %s, %v", members, text, err)
		}
	}
}

// TestAPIKeyReach verifies that an entry that is written and parsed again has the same reach, even if
// the entry was not created by NewAPIKey and may see nothing.
func TestAPIKeyReach(t *testing.T) {
	stream := chain.Stream{Issuer: "i", Tenant: "a", HasTenant: true, Workspace: "w"}
	for name, reach := range map[string]Reach{
		"zero": {}, "zero, of a tenant": Reach{}.OfTenants("a"), "zero, of an issuer": Reach{}.OfIssuers("i"),
		"everything": Everything(), "of no tenant": Everything().OfTenants(), "of two tenants": Everything().OfTenants("a").OfTenants("b"), "of a tenant": Everything().OfTenants("a"),
	} {
		text, err := json.Marshal(APIKey{Name: "ci", SHA256: [32]byte{1}, Created: noon(), Reach: reach})
		if err != nil {
			t.Fatal(err)
		}
		entry, err := parseAPIKey(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := entry.Reach; got.All() != reach.All() || got.Sees(stream) != reach.Sees(stream) {
			t.Errorf("%s: written as %s, which sees everything: %v, the stream: %v; expected %v, %v", name, text, got.All(), got.Sees(stream), reach.All(), reach.Sees(stream))
		}
	}
}

// TestAPIKeyFiles verifies that a file is either accepted completely or rejected, and that no error
// contains text that may be a key.
func TestAPIKeyFiles(t *testing.T) {
	const secret = "rk_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U"
	line := func(name, sum, created string) string {
		return fmt.Sprintf(`{"name":%q,"sha256":%q,"created":%q}`, name, sum, created)
	}
	sum, other, when := strings.Repeat("a", 64), strings.Repeat("b", 64), "2026-04-25T19:00:00Z"
	good := line("ci", sum, when)
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "holds none"},
		{"blank", "\n\n", "holds none"},
		{"no JSON", good + "\n" + secret, "line 2: expected a JSON object"},
		{"array", "[" + good + "]", "line 1: expected a JSON object"},
		{"two on a line", good + good, "line 1"},
		{"same name", good + "\n" + line("ci", other, when), `line 2: the name "ci" is used twice`},
		{"same key", good + "\n" + line("other", sum, when), `line 2: "other" has the key of "ci"`},
		{"unknown member", `{"name":"ci","sha256":"` + sum + `","created":"` + when + `","scope":"all"}`, `unknown member "scope"`},
		{"scope that is none", narrowed(good, `,"scopes":["receipts:write"]`), "the member scopes must contain only [\"receipts:read\" \"receipts:verify\" \"tasks:replay\"]"},
		{"scope in upper case", narrowed(good, `,"scopes":["Receipts:read"]`), "the member scopes must contain only"},
		{"scopes in a string", narrowed(good, `,"scopes":"receipts:read"`), "the member scopes must be an array"},
		{"no scopes by null", narrowed(good, `,"scopes":null`), "the member scopes must be an array of strings; omit it"},
		{"no tenants by null", narrowed(good, `,"tenants":null`), "the member tenants must be an array"},
		{"tenant null", narrowed(good, `,"tenants":["a",null]`), "the member tenants must contain only non-empty strings"},
		{"tenant without a name", narrowed(good, `,"tenants":[""]`), "the member tenants must contain only non-empty strings"},
		{"issuer twice", narrowed(good, `,"issuers":["a","b","a"]`), "the member issuers contains a duplicate"},
		{"workspace by number", narrowed(good, `,"workspaces":[7]`), "the member workspaces must contain only non-empty strings"},
		{"one tenant", narrowed(good, `,"tenant":["a"]`), `unknown member "tenant"`},
		{"tenants twice", narrowed(good, `,"tenants":["a"],"tenants":["b"]`), "duplicate_name"},
		{"twice a member", `{"name":"ci","name":"ci","sha256":"` + sum + `","created":"` + when + `"}`, "duplicate_name"},
		{"number", `{"name":1}`, "name is not a string"},
		{"no name", `{"sha256":"` + sum + `","created":"` + when + `"}`, "name is empty"},
		{"name with a space", line("a b", sum, when), "visible ASCII"},
		{"upper case", line("ci", strings.ToUpper(sum), when), "lowercase"},
		{"short", line("ci", sum[1:], when), "64 lowercase"},
		{"the key itself", line("ci", secret, when), "the digest of a key"},
		{"no digest", `{"name":"ci","created":"` + when + `"}`, "sha256"},
		{"no time", line("ci", sum, "today"), "RFC 3339"},
		{"too long", strings.Repeat(" ", 1<<20+1), "1048576 bytes"},
	} {
		keys, err := parseKeys([]byte(c.text))
		if err == nil || keys != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret[3:10]) {
			t.Errorf("%s: %v, expected %q", c.name, err, c.want)
		}
	}
	if _, err := parseKeys([]byte(good)); err != nil {
		t.Error(err)
	}
	var many strings.Builder
	for i := range 1001 {
		fmt.Fprintln(&many, line(fmt.Sprint("k", i), fmt.Sprintf("%064x", i), when))
	}
	if _, err := parseKeys([]byte(many.String())); err == nil || !strings.Contains(err.Error(), "line 1001") {
		t.Errorf("1,001 keys: %v", err)
	}
}

// TestNewAPIKeys verifies that a program can create more keys than a file may contain, that each
// key authenticates the correct client, and that invalid entries are rejected.
func TestNewAPIKeys(t *testing.T) {
	texts, entries := []string{}, []APIKey{}
	for i := range 3000 {
		text, entry, err := NewAPIKey(rand.Reader, fmt.Sprint("tenant-", i), noon())
		if err != nil {
			t.Fatal(err)
		}
		entry.Reach = Everything().OfTenants(entry.Name)
		texts, entries = append(texts, text), append(entries, entry)
	}
	keys, err := NewAPIKeys(entries...)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		client, err := authenticate(keys, "Bearer "+text)
		if err != nil || client.Name != entries[i].Name || client.Actor != entries[i].SHA256 {
			t.Fatalf("key %d: %v, %v", i, client, err)
		}
		own, other := chain.Stream{HasTenant: true, Tenant: client.Name}, chain.Stream{HasTenant: true, Tenant: "tenant-x"}
		if !client.Reach.Sees(own) || client.Reach.Sees(other) {
			t.Errorf("key %d sees the wrong tenant", i)
		}
	}

	unnamed, undigested, renamed := entries[0], entries[0], entries[0]
	unnamed.Name, undigested.SHA256, renamed.Name = "", [32]byte{}, "other"
	for want, list := range map[string][]APIKey{
		"API key 1 of 1: the name is empty":                     {unnamed},
		"API key 2 of 2: \"tenant-0\" has no digest of a key":   {entries[1], undigested},
		"API key 2 of 2: the name \"tenant-0\" is used twice":   {entries[0], entries[0]},
		"API key 2 of 2: \"other\" has the key of \"tenant-0\"": {entries[0], renamed},
	} {
		if keys, err := NewAPIKeys(list...); keys != nil || err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// TestAbsentKeys verifies that the status is 503 if the keys are not loaded yet, and 401 if the set
// of keys is empty.
func TestAbsentKeys(t *testing.T) {
	key, _ := apiKeysOf(t, "ci")
	none, err := NewAPIKeys()
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		keys Authenticator
		want int
	}{{none, 401}, {new(APIKeys), 401}, {(*APIKeys)(nil), 503}} {
		client, err := authenticate(c.keys, "Bearer "+key)
		if client != nil || errorOf(err).status() != c.want {
			t.Errorf("%d: %v, %v, expected %d", i, client, err, c.want)
		}
	}
}
