package corpus

import "fmt"

// minimal returns a receipt with little more than the required members.
func (s source) minimal(e envelope) []byte {
	task := s.shortID("task")
	done := s.before(e.issued, 60)
	b := fmt.Appendf(nil, `{"schema":"receipt-2026-04-25","receipt_id":%q,"subject":{"object":"task","id":%q},`, s.shortID("receipt"), task)
	b = fmt.Appendf(b, `"issuer":{"id":%q,"kind":"harness"},"issued_at":%q,`, issuerID, stamp(e.issued))
	b = fmt.Appendf(b, `"identifiers":{"workspace_ref":%q,"session_id":%q,"task_id":%q},`, e.workspace(), s.shortID("session"), task)
	b = fmt.Appendf(b, `"lifecycle":{"started_at":%q,"completed_at":%q,"final_state":"SUCCEEDED","failure":null},`, stamp(s.before(done, 600)), stamp(done))
	b = fmt.Appendf(b, `"approvals":[],"trust":{"start_tier":"shadow","end_tier":"shadow"},"autonomy_budget":{"consumed":{}},`)
	b = fmt.Appendf(b, `"replay_input":{"determinism":"best_effort","materials":[]},`)
	b = fmt.Appendf(b, `"model_route":{"chosen_model":{"provider":"none","model":"none"},"alternatives_considered":[],"route_policy_reason":"no model was needed"},`)
	b = fmt.Appendf(b, `"cost":{"currency":"USD","total":0.0,"provider_breakdown":[]},`)
	b = fmt.Appendf(b, `"side_effects":{"fs_writes":[],"network_egress":[],"tool_calls":[],"a2a_handoffs":[]},"final_artifacts":[],"deltas":[],`)
	return fmt.Appendf(b, `%s,"redactions":[],%s,"metadata":{}}`, e.chain(), e.signatures(""))
}
