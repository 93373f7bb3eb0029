package replay_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/replay"
	"github.com/receiptkit/receiptkit/schemas"
)

// with returns a request that contains one override.
func with(key, override string) string {
	return `{"mode":"with_overrides","override":{"` + key + `":` + override + `}}`
}

// A badRequest violates one rule in one member.
type badRequest struct{ Name, Request, Param string }

// badRequests returns invalid requests: requests from a file that other tests also use, and
// requests that are too large.
func badRequests(t testing.TB) (list []badRequest) {
	t.Helper()
	text, err := os.ReadFile("testdata/bad_requests.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil || len(list) < 40 {
		t.Fatalf("%d requests, %v", len(list), err)
	}

	const llm = `"kind":"llm_provider_response"`
	many := make([]string, 4097)
	for i := range many {
		many[i] = fmt.Sprintf(`"llm:main:%d":{%s,"value":1}`, i, llm)
	}
	return append(list,
		badRequest{"too large", `{"reason":"` + strings.Repeat("x", replay.MaxRequest) + `"}`, "body"},
		badRequest{"too deep", with("llm:main:1", `{`+llm+`,"value":`+strings.Repeat("[", 2000)+strings.Repeat("]", 2000)+`}`), "body"},
		badRequest{"too many overrides", `{"mode":"with_overrides","override":{` + strings.Join(many, ",") + `}}`, "override"},
		badRequest{"a target that is far too long", with("llm:main:1", `{`+llm+`,"value":1,"target":"`+strings.Repeat("x", 5000)+`"}`), "override.llm:main:1.target"},
	)
}

// TestBadRequests verifies that a request that violates one rule is rejected with an error that
// names the member.
func TestBadRequests(t *testing.T) {
	for _, c := range badRequests(t) {
		_, err := replay.ParseRequest([]byte(c.Request))
		var refused *replay.RequestError
		if !errors.As(err, &refused) || refused.Param != c.Param {
			t.Errorf("%s: %v, want the param %s", c.Name, err, c.Param)
		}
	}
}

// TestRefusalsShowNoValue verifies that errors about a request never quote a value, because it may
// be a secret.
func TestRefusalsShowNoValue(t *testing.T) {
	const secret = "8675309"
	for _, value := range []string{
		`{"` + secret + `":1,"` + secret + `":2}`, // a name twice
		`{"` + secret + `":9007199254740993}`, secret + `e999`, `"` + secret, `{"` + secret + `":}`, `{"` + secret + `":{"a":tru}}`, `[` + secret + `"]`,
		`"\u` + secret + `\ud800"`, `"` + secret + `\x"`,
	} {
		for _, text := range []string{with("secret:k", `{"kind":"secret_value","value":`+value+`}`), with("llm:m:1", `{"kind":"event_payload","event_id":"e","value":`+value+`}`)} {
			_, err := replay.ParseRequest([]byte(text))
			var refused *replay.RequestError
			if !errors.As(err, &refused) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// TestKeyRefusals verifies that an error states the problem, and contains only the prefix of the
// key.
func TestKeyRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"hunter2":                         "expected a key with the prefix llm, mcp, secret, time, or host, found no colon",
		"disk:hunter2":                    `expected a key with the prefix llm, mcp, secret, time, or host, found "disk"`,
		"Secret:hunter2":                  `expected a key with the prefix llm, mcp, secret, time, or host, found "Secret"`,
		"secret:\nhunter2":                "expected a key of printable characters without spaces, found U+000A at byte 7",
		"secret:hun ter2":                 "expected a key of printable characters without spaces, found U+0020 at byte 10",
		"secret:\xffhunt2":                "expected a key of printable characters without spaces, found bytes that are not UTF-8",
		"mcp:hunter2":                     "expected mcp:, a name, a colon, and the id of a call, found no second colon",
		"host::hunter2":                   "expected a name after the first colon of host, found none",
		"mcp:forge:":                      "expected a name after the last colon of mcp, found none",
		"secret:":                         "expected a name after the last colon of secret, found none",
		"llm:" + strings.Repeat("é", 300): "expected a key of at most 512 bytes, found 604",
		strings.Repeat("é", 100) + ":a":   `expected a key with the prefix llm, mcp, secret, time, or host, found "` + strings.Repeat(`\u00e9`, 32) + `"…`,
	} {
		if _, err := replay.KeyPrefix(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestRequestsFitTheSchema verifies that every accepted request is valid according to the published
// schema.
func TestRequestsFitTheSchema(t *testing.T) {
	s, err := schemas.Compile("replay-request")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		``, `{}`, `{"mode":"exact","override":{},"metadata":{"any":[1]},"reason":null,"checkpoint_id":null}`,
		`{"mode":"from_checkpoint","checkpoint_event_id":"e"}`,
		with("llm:main:1", `{"kind":"llm_provider_response","value":null}`),
		with("mcp:forge:c:1", `{"kind":"tool_result","artifact_id":"a","event_id":null,"sha256":null,"visibility":"public"}`),
		with("host:read_file:c", `{"kind":"host_fact","value":{}}`), with("secret:k", `{"kind":"secret_value"}`),
		with("time:created_at", `{"kind":"time","value":"2026-01-01T00:00:00Z"}`), with("time:lunch", `{"kind":"time","value":12}`),
	} {
		parse(t, text)
		if text == "" {
			continue
		}
		if r := s.Check(document(t, []byte(text)).Root()); r.Total != 0 {
			t.Errorf("%s: %v", text, r.Problems)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(`{"mode":"with_overrides","override":{"llm:main:1":{"kind":"llm_provider_response","value":{"a":1},"event_id":"e"}}}`))
	f.Add([]byte(`{"mode":"from_checkpoint","checkpoint_id":"c"}`))
	s, err := schemas.Compile("replay-request")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := replay.ParseRequest(text)
		var refused *replay.RequestError
		if err != nil {
			if !errors.As(err, &refused) || refused.Param == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if len(strings.TrimSpace(string(text))) > 0 && s.Check(document(t, text).Root()).Total != 0 {
			t.Fatalf("accepted, and not by the schema: %s", text)
		}
		for i := range r.Overrides {
			if i > 0 && r.Overrides[i-1].Key >= r.Overrides[i].Key {
				t.Fatal("not in order")
			}
		}
	})
}

func FuzzKey(f *testing.F) {
	for _, key := range []string{"llm:main:1", "mcp:s:c:d", "host:memory:m", "time:x", "secret:", "a"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if prefix, err := replay.KeyPrefix(text); err == nil && (len(prefix) < 3 || !strings.HasPrefix(text, prefix+":")) {
			t.Fatalf("%q has the prefix %q", text, prefix)
		}
	})
}
