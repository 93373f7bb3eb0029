package corpus

import (
	"fmt"
	"strings"
	"time"
)

// full returns a receipt of size bytes or slightly fewer. It is longer if it exceeds size even
// with empty lists.
func (s source) full(e envelope, size int) []byte {
	p := s.parts(e, size-bareBytes)
	task := s.id("task")
	price, in, out := s.amount(), s.IntN(200_000), s.IntN(50_000)
	b := fmt.Appendf(nil, `{"schema":"receipt-2026-04-25","receipt_id":%q,"subject":{"object":"task","id":%q},`, s.id("receipt"), task)
	b = fmt.Appendf(b, `"issuer":{"id":%q,"kind":"harness","name":"Example Cloud","version":"agents-protocol-2026-04-25","public_key_id":%q},"issued_at":%q,`, issuerID, e.key, stamp(e.issued))
	b = fmt.Appendf(b, `"identifiers":{"workspace_ref":%q,"session_id":%q,"task_id":%q,"tenant_id":"tenant_example","persona_ref":"persona_reviewer@v1","trace_id":%q},`, e.workspace(), s.id("session"), task, s.id("trace"))
	b = fmt.Appendf(b, `%s,"approvals":[%s],`, s.lifecycle(e), list(p.approvals))
	b = fmt.Appendf(b, `"trust":{"start_tier":"act_with_approval","end_tier":"act_with_approval","policy_ref":"policy_default"},`)
	b = fmt.Appendf(b, `"autonomy_budget":{"limit":{"usd":3.0,"input_tokens":200000,"output_tokens":50000,"tool_calls":100,"wall_time_ms":600000},"consumed":{"usd":%s,"input_tokens":%d,"output_tokens":%d,"tool_calls":%d,"wall_time_ms":%d}},`,
		price, in, out, len(p.calls), s.IntN(600_000))
	b = fmt.Appendf(b, `"replay_input":{"determinism":"byte_deterministic","materials":[%s]},`, list(p.materials))
	b = fmt.Appendf(b, `"model_route":{"chosen_model":{"provider":"example","model":"coder-5","version":"2026-04-25"},"alternatives_considered":[{"provider":"example","model":"coder-4","reason":%s}],"route_policy_reason":%s},`, quote(s.text(5)), quote(s.text(6)))
	b = fmt.Appendf(b, `"cost":{"currency":"USD","total":%s,"provider_breakdown":[{"provider":"example","model":"coder-5","amount":%s,"input_tokens":%d,"output_tokens":%d}]},`, price, price, in, out)
	b = fmt.Appendf(b, `"side_effects":{"fs_writes":[%s],"network_egress":[%s],"tool_calls":[%s],"a2a_handoffs":[%s]},`,
		list(p.writes), list(p.egress), list(p.calls), list(p.handoffs))
	signedAt := fmt.Sprintf(`,"signed_at":%q`, stamp(e.issued.Add(time.Second)))
	b = fmt.Appendf(b, `"final_artifacts":[%s],"deltas":[],%s,"redactions":[],%s,"metadata":{"note":`, list(p.artifacts), e.chain(), e.signatures(signedAt))
	b = append(b, quote(s.fill(size-len(b)-len("}}")))...)
	return append(b, "}}"...)
}

func list(elements []string) string { return strings.Join(elements, ",") }

// lifecycle returns a lifecycle that usually ends successfully.
func (s source) lifecycle(e envelope) string {
	done := s.before(e.issued, 60)
	started := s.before(done, 600)
	created := s.before(started, 10)
	state, failure := "SUCCEEDED", "null"
	switch s.IntN(20) {
	case 0:
		state, failure = "FAILED", `{"code":"tests_failed"}`
	case 1:
		state = "CANCELED"
	}
	return fmt.Sprintf(`"lifecycle":{"created_at":%q,"started_at":%q,"completed_at":%q,"final_state":%q,"failure":%s}`,
		stamp(created), stamp(started), stamp(done), state, failure)
}
