package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/replay"
	"github.com/receiptkit/receiptkit/schemas"
)

// with is a request of one override.
func with(key, override string) string {
	return `{"mode":"with_overrides","override":{"` + key + `":` + override + `}}`
}

// TestBadRequests breaks each rule once, and expects the member that breaks it.
func TestBadRequests(t *testing.T) {
	const llm = `"kind":"llm_provider_response"`
	const digest = "sha256:f6b0ea0e0508850baa308f6d4c2ad5b897612b548911185bfe3d426a136cd8b9"
	many := make([]string, replay.MaxOverrides+1)
	for i := range many {
		many[i] = fmt.Sprintf(`"llm:main:%d":{%s,"value":1}`, i, llm)
	}
	for name, c := range map[string]struct{ request, param string }{
		"not JSON":                      {`{`, "body"},
		"a second value":                {`{} {}`, "body"},
		"a name twice":                  {`{"mode":"exact","mode":"exact"}`, "body"},
		"no object":                     {`[]`, "body"},
		"too large":                     {`{"reason":"` + strings.Repeat("x", replay.MaxRequest) + `"}`, "body"},
		"too deep":                      {with("llm:main:1", `{`+llm+`,"value":`+strings.Repeat("[", 2000)+strings.Repeat("]", 2000)+`}`), "body"},
		"an integer nobody can keep":    {with("llm:main:1", `{`+llm+`,"value":9007199254740993}`), "body/override/llm:main:1/value"},
		"an unknown member":             {`{"overrides":{}}`, "overrides"},
		"a member without a name":       {`{"":{}}`, "body"},
		"an unknown mode":               {`{"mode":"again"}`, "mode"},
		"a mode that is null":           {`{"mode":null}`, "mode"},
		"a reason that is no text":      {`{"reason":1}`, "reason"},
		"metadata that is no object":    {`{"metadata":[]}`, "metadata"},
		"no checkpoint":                 {`{"mode":"from_checkpoint"}`, "checkpoint_id"},
		"a checkpoint and exact":        {`{"checkpoint_id":"c"}`, "checkpoint_id"},
		"its event and overrides":       {`{"mode":"with_overrides","checkpoint_event_id":"c"}`, "checkpoint_event_id"},
		"an empty checkpoint":           {`{"mode":"from_checkpoint","checkpoint_id":""}`, "checkpoint_id"},
		"override is no object":         {`{"mode":"with_overrides","override":[]}`, "override"},
		"too many overrides":            {`{"mode":"with_overrides","override":{` + strings.Join(many, ",") + `}}`, "override"},
		"exact with overrides":          {`{"override":{"llm:main:1":{` + llm + `,"value":1}}}`, "override"},
		"a key without a prefix":        {with("main", `{`+llm+`,"value":1}`), "override.main"},
		"an unknown prefix":             {with("disk:a", `{"kind":"host_fact","value":1}`), "override.disk:a"},
		"a key without a name":          {with("llm:", `{`+llm+`,"value":1}`), "override.llm:"},
		"mcp without a call":            {with("mcp:forge", `{"kind":"mcp_tool_return","value":1}`), "override.mcp:forge"},
		"a key with a line feed":        {with(`llm:a\n`, `{`+llm+`,"value":1}`), "override.llm:a\n"},
		"a key that is too long":        {with("llm:"+strings.Repeat("a", 509), `{`+llm+`,"value":1}`), "override.llm:" + strings.Repeat("a", 508) + "…"},
		"an override is no object":      {with("llm:main:1", `"approved"`), "override.llm:main:1"},
		"an override's unknown member":  {with("llm:main:1", `{`+llm+`,"value":1,"hash":"x"}`), "override.llm:main:1.hash"},
		"no kind":                       {with("llm:main:1", `{"value":1}`), "override.llm:main:1.kind"},
		"an unknown kind":               {with("llm:main:1", `{"kind":"llm","value":1}`), "override.llm:main:1.kind"},
		"a kind of another prefix":      {with("llm:main:1", `{"kind":"mcp_tool_return","value":1}`), "override.llm:main:1.kind"},
		"a time that is a secret":       {with("time:started_at", `{"kind":"secret_value"}`), "override.time:started_at.kind"},
		"an event id that is no text":   {with("llm:main:1", `{`+llm+`,"value":1,"event_id":7}`), "override.llm:main:1.event_id"},
		"a target that is no text":      {with("llm:main:1", `{`+llm+`,"value":1,"target":{}}`), "override.llm:main:1.target"},
		"a value and an artifact":       {with("llm:main:1", `{`+llm+`,"value":1,"artifact_id":"a"}`), "override.llm:main:1.artifact_id"},
		"neither":                       {with("llm:main:1", `{`+llm+`}`), "override.llm:main:1.value"},
		"a digest in capitals":          {with("llm:main:1", `{`+llm+`,"value":1,"sha256":"`+strings.ToUpper(digest)+`"}`), "override.llm:main:1.sha256"},
		"a digest of a secret":          {with("secret:k", `{"kind":"secret_value","value":1,"sha256":"`+digest+`"}`), "override.secret:k.sha256"},
		"a public secret":               {with("secret:k", `{"kind":"secret_value","value":1,"visibility":"public"}`), "override.secret:k.visibility"},
		"an unknown visibility":         {with("llm:main:1", `{`+llm+`,"value":1,"visibility":"all"}`), "override.llm:main:1.visibility"},
		"a time that is none":           {with("time:started_at", `{"kind":"time","value":"noon"}`), "override.time:started_at.value"},
		"a time in an artifact":         {with("time:started_at", `{"kind":"time","artifact_id":"a"}`), "override.time:started_at.value"},
		"a payload of no event":         {with("host:event:1", `{"kind":"event_payload","value":{}}`), "override.host:event:1.event_id"},
		"a payload that is no object":   {with("host:event:1", `{"kind":"event_payload","event_id":"e","value":1}`), "override.host:event:1.value"},
		"two overrides of one event":    {`{"mode":"with_overrides","override":{"llm:a":{` + llm + `,"value":1,"event_id":"e"},"llm:b":{` + llm + `,"value":1,"event_id":"e"}}}`, "override.llm:b.event_id"},
		"a reason of another override":  {with("llm:main:1", `{`+llm+`,"value":1,"reason":[]}`), "override.llm:main:1.reason"},
		"a target that is far too long": {with("llm:main:1", `{`+llm+`,"value":1,"target":"`+strings.Repeat("x", 5000)+`"}`), "override.llm:main:1.target"},
	} {
		_, err := replay.ParseRequest([]byte(c.request))
		var refused *replay.RequestError
		if !errors.As(err, &refused) || refused.Param != c.param {
			t.Errorf("%s: %v, want the param %s", name, err, c.param)
		}
	}
}

// TestRequestsFitTheSchema: what is accepted fits the schema that is published.
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
		with("host:read file:c", `{"kind":"host_fact","value":{}}`), with("secret:k", `{"kind":"secret_value"}`),
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

func FuzzParseKey(f *testing.F) {
	for _, key := range []string{"llm:main:1", "mcp:s:c:d", "host:memory:m", "time:x", "secret:", "a"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if k, err := replay.ParseKey(text); err == nil && k.String() != text {
			t.Fatalf("%q became %q", text, k)
		}
	})
}
