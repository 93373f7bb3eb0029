package redact_test

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/schemas"
)

func parse(t testing.TB, text string) *canon.Document {
	t.Helper()
	d, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return d
}

func compile(t testing.TB, r redact.Rules) *redact.Policy {
	t.Helper()
	p, err := r.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// githubToken is a token that does not belong to any account.
const githubToken = "ghp_" + "q7Zk2Vw9Xb4Lm1Nc8Rt5Yh3Jd6Ps0Gf2Ae7U"

// salts is a counter: the salt for the nth entry is n.
type salts struct{ n uint64 }

func (s *salts) Read(b []byte) (int, error) {
	s.n++
	clear(b)
	binary.BigEndian.PutUint64(b[len(b)-8:], s.n)
	return len(b), nil
}

func newSalts() io.Reader { return &salts{} }

func redacted(t testing.TB, p *redact.Policy, text string) *redact.Result {
	t.Helper()
	r, err := p.Redact(parse(t, text), newSalts())
	if err != nil {
		t.Fatalf("%v\nin %s", err, text)
	}
	return r
}

// fields lists the withheld values, with the rules that withheld them.
func fields(r *redact.Result) string {
	var list []string
	for _, e := range r.Entries {
		list = append(list, e.Field+": "+e.Reason)
	}
	return strings.Join(list, "; ")
}

// draft returns the draft in docs/draft.json with the given changes. Each change consists of a path
// such as "metadata.pin" and the JSON to store there. If the JSON is empty, the member is removed.
func draft(t testing.TB, changes ...string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/draft.json")
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(changes); i += 2 {
		var value any
		if changes[i+1] != "" {
			if err := json.Unmarshal([]byte(changes[i+1]), &value); err != nil {
				t.Fatalf("%v in %s", err, changes[i+1])
			}
		}
		set(t, root, strings.Split(changes[i], "."), value, changes[i+1] == "")
	}
	b, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func set(t testing.TB, at any, path []string, value any, remove bool) {
	t.Helper()
	for _, name := range path[:len(path)-1] {
		switch v := at.(type) {
		case map[string]any:
			at = v[name]
		case []any:
			at = v[name[0]-'0']
		}
	}
	last := path[len(path)-1]
	switch v := at.(type) {
	case map[string]any:
		if remove {
			delete(v, last)
		} else {
			v[last] = value
		}
	case []any:
		v[last[0]-'0'] = value
	default:
		t.Fatalf("there is no %v", path)
	}
}

// fullDraft returns a draft that has every member defined by the format, and two elements in each
// list.
func fullDraft(t testing.TB) string {
	t.Helper()
	const digest = `"sha256:0000000000000000000000000000000000000000000000000000000000000001"`
	twice := func(element string) string {
		return "[" + element + "," + strings.ReplaceAll(element, "00001", "00002") + "]"
	}
	return draft(t,
		"approvals", twice(`{"action":"a","actor":"b","approval_id":"c","decided_at":"2026-04-25T19:17:02Z","decision":"approved","evidence_hash":`+digest+`,"quorum_proof":{"required":1}}`),
		"lifecycle.failure", `{"code":"x","details":{"n":1}}`,
		"trust.policy_ref", `"p"`,
		"replay_input.unavailable_reason", `"u"`,
		"replay_input.materials", twice(`{"kind":"event_log","id":"m","uri":"artifact://m","sha256":`+digest+`,"content_type":"t","bytes_base64":"AAAA","metadata":{"a":1}}`),
		"model_route.chosen_model.reason", `"r"`,
		"model_route.alternatives_considered", twice(`{"provider":"p","model":"m","version":"v","reason":"r"}`),
		"cost.provider_breakdown", twice(`{"provider":"p","model":"m","amount":1,"input_tokens":1,"output_tokens":1,"metadata":{"a":1}}`),
		"side_effects.fs_writes", twice(`{"path":"p","operation":"modify","before_sha256":`+digest+`,"after_sha256":`+digest+`}`),
		"side_effects.network_egress", twice(`{"destination":"d","purpose":"p","bytes_sent":1,"metadata":{"a":1}}`),
		"side_effects.tool_calls", twice(`{"tool":"t","call_id":"c","status":"failed","input_hash":`+digest+`,"output_hash":`+digest+`,"metadata":{"a":1}}`),
		"side_effects.a2a_handoffs", twice(`{"target_agent":"a","task_id":"t","status":"completed","receipt_id":"r"}`),
		"final_artifacts", twice(`{"artifact_id":"a","kind":"k","uri":"artifact://a","sha256":`+digest+`}`),
		"deltas", twice(`{"delta_id":"d","operation":"replace","path":"/x","override_key":"k","event_id":"e","before_sha256":`+digest+`,"after_sha256":`+digest+`,"artifact_id":"a","reason":"r"}`),
		"redactions", twice(`{"field":"/gone","reason":"r","proof_hash":`+digest+`}`),
		"metadata", `{"a":{"b":[1,"x",null,true]},"c":"d"}`,
	)
}

// problems lists the reasons why the sealed draft would not be a valid receipt.
func problems(t testing.TB, s *schemas.Schema, text []byte) string {
	t.Helper()
	const digest = `"sha256:0000000000000000000000000000000000000000000000000000000000000001"`
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	chain, _ := root["chain"].(map[string]any)
	if chain == nil {
		chain = map[string]any{"previous_receipt_hash": nil}
	}
	chain["receipt_hash"] = json.RawMessage(digest)
	root["chain"] = chain
	b, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, p := range s.Check(parse(t, string(b)).Root()).Problems {
		list = append(list, p.Pointer+": "+p.Detail)
	}
	return strings.Join(list, "\n")
}

func receiptSchema(t testing.TB) *schemas.Schema {
	t.Helper()
	s, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
