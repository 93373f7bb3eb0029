package serve_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/receiptkit/receiptkit/receipt/serve"
)

// apiKeysOf makes a key for a name and the keys with it.
func apiKeysOf(t testing.TB, name string) (key string, keys *serve.APIKeys) {
	t.Helper()
	key, entry, err := serve.NewAPIKey(rand.Reader, name, noon())
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(entry)
	if err != nil {
		t.Fatal(err)
	}
	if keys, err = serve.ParseAPIKeys(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	return key, keys
}

// TestAPIKeys: a key is let in under its name, and nothing else is.
func TestAPIKeys(t *testing.T) {
	random := bytes.NewReader(bytes.Repeat([]byte{0xff}, 32))
	key, entry, err := serve.NewAPIKey(random, "ci", noon())
	if err != nil || key != "rk_"+strings.Repeat("_", 42)+"8" {
		t.Fatal(key, err)
	}
	other, second := apiKeysOf(t, "second")
	line, err := json.Marshal(entry)
	if err != nil || strings.Contains(string(line), key) {
		t.Fatal(err, string(line))
	}
	keys, err := serve.ParseAPIKeys([]byte("\n" + string(line) + "\r\n\n"))
	if err != nil || keys.Len() != 1 {
		t.Fatal(err)
	}
	for header, want := range map[string]string{
		"Bearer " + key: "ci", "bearer " + key: "ci", "BEARER " + key: "ci",
		"Bearer " + other: "", "Bearer " + key + "x": "", "Bearer " + key[:len(key)-1]: "", "Bearer  " + key: "ci", "Bearer    " + key: "ci", "Bearer\t" + key: "", "Bearer " + key + " ": "",
		"Basic " + key: "", key: "", "Bearer": "", "": "", "Bearer " + strings.Repeat("a", 1<<16): "", "Bearer " + strings.ToLower(key[:3]) + key[3:45] + "9": "",
	} {
		name, ok := keys.Authenticate(header)
		if name != want || ok != (want != "") {
			t.Errorf("%.80q: %q %v", header, name, ok)
		}
	}
	if name, ok := second.Authenticate("Bearer " + other); !ok || name != "second" {
		t.Errorf("%q %v", name, ok)
	}
	if _, _, err := serve.NewAPIKey(iotest.ErrReader(iotest.ErrTimeout), "x", noon()); err == nil {
		t.Error("a key without randomness")
	}
	for _, name := range []string{"", "a b", "a\n", "é", strings.Repeat("a", 81)} {
		if _, _, err := serve.NewAPIKey(rand.Reader, name, noon()); err == nil {
			t.Errorf("the name %q", name)
		}
	}
}

// TestAPIKeyFiles: a file is read whole or not at all, and no error shows what could
// be a key.
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
		{"twice a member", `{"name":"ci","name":"ci","sha256":"` + sum + `","created":"` + when + `"}`, "duplicate_name"},
		{"number", `{"name":1}`, "name is no string"},
		{"no name", `{"sha256":"` + sum + `","created":"` + when + `"}`, "name is empty"},
		{"name with a space", line("a b", sum, when), "visible ASCII"},
		{"upper case", line("ci", strings.ToUpper(sum), when), "lower-case"},
		{"short", line("ci", sum[1:], when), "64 lower-case"},
		{"the key itself", line("ci", secret, when), "never the key"},
		{"no digest", `{"name":"ci","created":"` + when + `"}`, "sha256"},
		{"no time", line("ci", sum, "today"), "RFC 3339"},
		{"too long", strings.Repeat(" ", 1<<20+1), "1048576 bytes"},
	} {
		keys, err := serve.ParseAPIKeys([]byte(c.text))
		if err == nil || keys != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret[3:10]) {
			t.Errorf("%s: %v, expected %q", c.name, err, c.want)
		}
	}
	if _, err := serve.ParseAPIKeys([]byte(good)); err != nil {
		t.Error(err)
	}
	var many strings.Builder
	for i := range 1001 {
		fmt.Fprintln(&many, line(fmt.Sprint("k", i), fmt.Sprintf("%064x", i), when))
	}
	if _, err := serve.ParseAPIKeys([]byte(many.String())); err == nil || !strings.Contains(err.Error(), "line 1001") {
		t.Errorf("1,001 keys: %v", err)
	}
}
