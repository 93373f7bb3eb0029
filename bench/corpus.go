package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A corpus is a list of receipts of about one size, all different.
type corpus struct {
	name     string
	receipts [][]byte
	bytes    int
}

// Sizes of a receipt with few, some and many side effects.
const (
	small  = 3 << 10
	medium = 11 << 10
	large  = 33 << 10
)

// corpora returns the measured inputs: three sizes, each compact and printed as
// people and most tools print JSON. The same seed gives the same bytes.
func corpora() []corpus {
	var all []corpus
	for _, size := range []int{small, medium, large} {
		compact, pretty := generate(size, 48)
		all = append(all,
			newCorpus(fmt.Sprintf("%d KB compact", size>>10), compact),
			newCorpus(fmt.Sprintf("%d KB pretty", size>>10), pretty))
	}
	return all
}

func newCorpus(name string, receipts [][]byte) corpus {
	c := corpus{name: name, receipts: receipts}
	for _, r := range receipts {
		c.bytes += len(r)
	}
	return c
}

// generate returns count receipts of about size bytes in their compact form,
// compact and pretty-printed.
func generate(size, count int) (compact, pretty [][]byte) {
	g := generator{rand.New(rand.NewPCG(20260425, uint64(size)))}
	for i := range count {
		r := g.receipt(i, size)
		compact = append(compact, r)
		var b bytes.Buffer
		if err := json.Indent(&b, r, "", "  "); err != nil {
			panic(err) // the generator is wrong
		}
		pretty = append(pretty, b.Bytes())
	}
	return compact, pretty
}

type generator struct{ *rand.Rand }

func (g generator) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.Uint32())
	}
	return hex.EncodeToString(b)
}

func (g generator) digest() string        { return "sha256:" + g.hex(32) }
func (g generator) id(kind string) string { return kind + "_" + strings.ToUpper(g.hex(13)) }
func (g generator) one(of ...string) string {
	return of[g.IntN(len(of))]
}

func (g generator) time() string {
	return fmt.Sprintf("2026-04-%02dT%02d:%02d:%02dZ", 1+g.IntN(30), g.IntN(24), g.IntN(60), g.IntN(60))
}

// text returns words, now and then with what has to be escaped or is no ASCII.
func (g generator) text(words int) string {
	vocabulary := []string{
		"review", "the", "patch", "opened", "pull", "request", "within", "budget", "latency", "of", "the", "model",
		"refactored", "tests", "passed", "line\nbreak", `"quoted"`, `C:\path`, "größer", "最終", "😀", "tab\there",
	}
	picked := make([]string, words)
	for i := range picked {
		picked[i] = vocabulary[g.IntN(len(vocabulary))]
		if g.IntN(4) > 0 { // mostly plain words
			picked[i] = vocabulary[g.IntN(14)]
		}
	}
	return strings.Join(picked, " ")
}

func (g generator) amount() string { return fmt.Sprintf("%.4f", g.Float64()*3) }

// receipt writes one receipt in the order in which the format lists members,
// as producers do. Numbers are written as producers write them: 2.0, 0.1842.
func (g generator) receipt(index, size int) []byte {
	var effects []string
	const without = 3400 // bytes of a receipt with no tool calls
	for length := without; length < size; {
		e := g.toolCall()
		effects = append(effects, e)
		length += len(e)
	}
	previous := `"` + g.digest() + `"`
	if index == 0 {
		previous = "null"
	}
	task := g.id("task")
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"schema":"receipt-2026-04-25","receipt_id":%q,"subject":{"object":"task","id":%q},`, g.id("receipt"), task)
	fmt.Fprintf(&b, `"issuer":{"id":"harness_example","kind":"harness","name":"Example Cloud","version":"agents-protocol-2026-04-25","public_key_id":"key_2026_04"},"issued_at":%q,`, g.time())
	fmt.Fprintf(&b, `"identifiers":{"tenant_id":"tenant_example","persona_ref":"persona_reviewer@v1","workspace_ref":"workspace_repo_01","session_id":%q,"task_id":%q,"trace_id":%q},`, g.id("session"), task, g.id("trace"))
	fmt.Fprintf(&b, `"lifecycle":{"created_at":%q,"started_at":%q,"completed_at":%q,"final_state":"SUCCEEDED","failure":null},`, g.time(), g.time(), g.time())
	fmt.Fprintf(&b, `"approvals":[{"approval_id":%q,"actor":"user_maintainer_1","action":"workspace.patch.apply","decision":"approved","decided_at":%q,"quorum_proof":{"required":1,"satisfied":1},"evidence_hash":%q}],`, g.id("approval"), g.time(), g.digest())
	b.WriteString(`"trust":{"start_tier":"act_with_approval","end_tier":"act_with_approval","policy_ref":"policy_default"},`)
	fmt.Fprintf(&b, `"autonomy_budget":{"limit":{"usd":2.0,"input_tokens":200000,"output_tokens":50000,"tool_calls":100,"wall_time_ms":600000},"consumed":{"usd":%s,"input_tokens":%d,"output_tokens":%d,"tool_calls":%d,"wall_time_ms":%d}},`,
		g.amount(), g.IntN(200000), g.IntN(50000), len(effects), g.IntN(600000))
	fmt.Fprintf(&b, `"replay_input":{"determinism":"byte_deterministic","materials":[{"kind":"llm_provider_response","id":"llm_call_01","uri":"artifact://%s","sha256":%q,"content_type":"application/jsonl"}]},`, g.id("artifact"), g.digest())
	fmt.Fprintf(&b, `"model_route":{"chosen_model":{"provider":"example","model":"coder-5","version":"2026-04-25"},"alternatives_considered":[{"provider":"example","model":"coder-4","reason":%s}],"route_policy_reason":%s},`, quote(g.text(8)), quote(g.text(12)))
	fmt.Fprintf(&b, `"cost":{"currency":"USD","total":%s,"provider_breakdown":[{"provider":"example","model":"coder-5","amount":%s,"input_tokens":%d,"output_tokens":%d}]},`, g.amount(), g.amount(), g.IntN(200000), g.IntN(50000))
	fmt.Fprintf(&b, `"side_effects":{"fs_writes":[{"path":"src/lib.rs","operation":"modify","before_sha256":%q,"after_sha256":%q}],"network_egress":[{"destination":"api.example.com","purpose":%s,"bytes_sent":%d}],"tool_calls":[%s],"a2a_handoffs":[]},`,
		g.digest(), g.digest(), quote(g.text(4)), g.IntN(1<<20), strings.Join(effects, ","))
	fmt.Fprintf(&b, `"final_artifacts":[{"artifact_id":%q,"kind":"patch","uri":"artifact://patch","sha256":%q}],"deltas":[],`, g.id("artifact"), g.digest())
	fmt.Fprintf(&b, `"chain":{"previous_receipt_hash":%s,"receipt_hash":%q},"redactions":[],`, previous, g.digest())
	fmt.Fprintf(&b, `"signatures":[{"key_id":"key_2026_04","algorithm":"ed25519","signature":"base64:%s==","signed_at":%q}],"metadata":{"note":%s}}`, strings.Repeat("A", 86), g.time(), quote(g.text(10)))
	return b.Bytes()
}

func (g generator) toolCall() string {
	return fmt.Sprintf(`{"tool":%q,"call_id":%q,"status":%q,"input_hash":%q,"output_hash":%q,"metadata":{"summary":%s,"duration_ms":%d,"score":%s,"cached":%t}}`,
		g.one("git.apply_patch", "shell.run", "fs.read", "http.get"), g.id("call"), g.one("succeeded", "succeeded", "failed"),
		g.digest(), g.digest(), quote(g.text(3+g.IntN(20))), g.IntN(90000), g.amount(), g.IntN(2) == 0)
}

// quote writes a string as encoding/json does: \u0026 for & and so on.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
