package harness_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/harness/internal/harness"
)

// TestCompletions verifies that a model queried over HTTP can call a tool, that the receipt states
// the number of tokens, and that the API key appears nowhere.
func TestCompletions(t *testing.T) {
	const key = "key-of-the-provider"
	var asked []harness.Prompt
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p struct {
			harness.Prompt
			Model string
			Tools []any
		}
		if err := json.NewDecoder(r.Body).Decode(&p); err != nil || p.Model != "small" || len(p.Tools) != 3 || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("%v, %+v", err, p)
		}
		asked = append(asked, p.Prompt)
		if len(asked) == 1 {
			fmt.Fprint(w, `{"id":"a","choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"clock.now","arguments":"{}"}}]}}],"usage":{"prompt_tokens":10,"completion_tokens":3}}`)
			return
		}
		fmt.Fprint(w, `{"id":"b","choices":[{"message":{"role":"assistant","content":"It is late."}}],"usage":{"prompt_tokens":20}}`)
	}))
	defer model.Close()
	o := options(t, t.TempDir())
	o.Provider = &harness.Completions{URL: model.URL, Model: "small", Key: key}
	_, c := start(t, o)
	c.begin()
	task := c.submit("what time is it?")
	c.reach(task, "COMPLETED")
	r := c.receipt(task)
	b := r.Cost.ProviderBreakdown[0]
	if r.ModelRoute.ChosenModel.Model != "small" || b.InputTokens == nil || *b.InputTokens != 30 || !strings.Contains(fmt.Sprint(r.Metadata["unreported"]), "/cost/total") {
		t.Errorf("%+v %+v %v", r.ModelRoute, b, r.Metadata)
	}
	if len(asked) != 2 || len(asked[1].Messages) != 3 || !strings.Contains(asked[1].Messages[2].Content, "now") || asked[1].Messages[2].CallID != "c" {
		t.Errorf("%+v", asked)
	}
	if _, events := c.do("GET", "/v1/events?limit=200", nil); strings.Contains(string(events), key) {
		t.Error("the key of the provider is reported")
	}
	task = c.post("/v1/tasks/"+task+"/replay", 202, nil)["id"].(string)
	if c.receipt(task); len(asked) != 2 {
		t.Error("a replay asked the model")
	}
}

// TestCompletionsFail verifies that a provider's error message is not passed on.
func TestCompletionsFail(t *testing.T) {
	for _, answer := range []struct {
		status int
		body   string
	}{{500, "key-of-the-provider is wrong"}, {200, "no json"}, {200, `{"choices":[]}`}, {200, strings.Repeat(" ", 5<<20)}} {
		model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(answer.status)
			fmt.Fprint(w, answer.body)
		}))
		o := options(t, t.TempDir())
		o.Provider = &harness.Completions{URL: model.URL, Model: "small"}
		_, c := start(t, o)
		c.begin()
		task := c.submit("beans")
		failed := c.reach(task, "FAILED")
		model.Close()
		if f := failed["failure"].(map[string]any); f["code"] != "upstream_unavailable" || strings.Contains(fmt.Sprint(f), "key-of") {
			t.Errorf("%v", f)
		}
		c.receipt(task)
	}
	o := options(t, t.TempDir())
	o.Provider = &harness.Completions{URL: "http://127.0.0.1:1/", Model: "small"}
	_, c := start(t, o)
	c.begin()
	if f := c.reach(c.submit("beans"), "FAILED")["failure"].(map[string]any); f["message"] != "the model did not answer" {
		t.Errorf("%v", f)
	}
}
