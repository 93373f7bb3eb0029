package wire

// components returns the component schemas in the protocol's OpenAPI document that responses use.
// Each line contains the name of a component, optionally "<" and the name of the component from
// which it inherits, and the component's own members. A member consists of a name and the types
// that its value may have. The name is followed by "?" if the member is optional, and by "!" if the
// member never changes after it has a value.
//
// A type is a kind, a literal (=user), a component, an array ([Task]), or an object whose members
// all have the same type ({number}). The kinds are text, word (non-empty text), time, digest,
// count, number, bool, object, null, and any. Objects are open, which means that other members may
// have any value.
func components() string {
	return `
Envelope: id! word; object word; created_at! time; updated_at time; metadata object
List: object =list; data [any]; page PageInfo
PageInfo: has_more bool; next_cursor? text null
ErrorResponse: error Error
Error: code =invalid_request =invalid_state_transition =unauthenticated =permission_denied =resource_not_found =conflict =idempotency_key_reused =cursor_expired =payload_too_large =policy_violation =resource_locked =unsupported_protocol_version =rate_limited =client_closed_request =internal_error =upstream_unavailable =service_unavailable =deadline_exceeded; message word; type =request_error =auth_error =permission_error =not_found_error =conflict_error =rate_limit_error =runtime_error =upstream_error =server_error; param? text null; request_id? text null; details? object null
Pointer: object text; id text
Failure: code text; message text; details? object null
Discovery: object =protocol_discovery; protocol_family =harn_agents_protocol; current_version text; supported_versions [text]; capabilities Capabilities
Capabilities: rest? bool; sse? bool; websocket? bool; receipts? bool; replay? bool
AgentCard < Envelope: object =agent_card; name text; description text; protocol_version text; interfaces [Interface]; skills [CardSkill]; persona_ids? [text]; capabilities? [text]; auth_schemes? [text]; signature? CardSignature null
HarnAgentCard < Envelope: object =harn_agent_card; name text; description text; protocol_version text; a2a_card object; harn_interfaces? [Interface]; skills [Skill]; signature? CardSignature null
Interface: transport =rest =sse =websocket =a2a =mcp =acp; url text
CardSignature: algorithm text; key_id text; value text
CardSkill: id text; name text; description text
Skill < Envelope: object =skill; name text; description text; input_schema object null; output_schema object null
Workspace < Envelope: object =workspace; name text; root! text; default_branch_id text null; host? text null; repository? text null; tenant_id?! text null; capabilities? [text]; connectors? [text]; quota_id? text null
Session < Envelope: object =session; workspace_id! text; state =ACTIVE =IDLE =PAUSED =CLOSED =FAILED; transcript object text; persona_id? text null; root_session_id?! text null; parent_session_id?! text null; branch_id? text null; last_event_id? text null; summary? text null; expires_at? time null
Task < Envelope: object =task; session_id! text; workspace_id! text; status =SUBMITTED =WORKING =INPUT_REQUIRED =AUTH_REQUIRED =COMPLETED =FAILED =CANCELED; input! object; created_by! text; persona_id?! text null; branch_id? text null; parent_task_id?! text null; assigned_agent_id? text null; receipt_id?! text null; outcome_id?! text null; quota_id? text null; started_at?! time null; completed_at?! time null; canceled_at?! time null; failure?! Failure null
Message < Envelope: object =message; role! =user =assistant =system =tool =agent; parts! [TextPart JSONPart ToolCallPart ToolResultPart ArtifactPart FilePart ImagePart]; session_id?! text null; task_id?! text null
Part: type text; visibility =public =internal =receipt_only
TextPart < Part: type =text; text text
JSONPart < Part: type =json; value any
ToolCallPart < Part: type =tool_call; tool_call_id text; name text; input object
ToolResultPart < Part: type =tool_result; tool_call_id text; output any; status =ok =error
ArtifactPart < Part: type =artifact_ref; artifact_id text
FilePart < Part: type =file_ref; uri text; mime_type text
ImagePart < Part: type =image_ref; artifact_id text; mime_type text
Artifact < Envelope: object =artifact; kind! =file =patch =image =log =diff =receipt =snapshot =dataset =other; mime_type! text; uri text null; visibility! =public =internal =receipt_only; sha256! digest null; workspace_id?! text null; session_id?! text null; task_id?! text null; receipt_id?! text null
Event < Envelope: object =event; event! text; resource! Pointer; sequence! count; payload! object; metadata! object; trace_id?! text null; span_id?! text null; session_id?! text null; task_id?! text null; workspace_id?! text null; actor?! text null; idempotency_key?! text null; previous_event_id?! text null; receipt_id?! text null; replayed?! bool; replay?! Replay null
Replay: source_task_id text; replay_task_id text; original_event_id? text null; replay_cursor? text null; mode? =exact =with_overrides =from_checkpoint null; override_key? text null; receipt_delta_id? text null
Outcome < Envelope: object =outcome; task_id! text; status! =SUCCEEDED =FAILED =CANCELED; summary! text; messages? [Message]; artifacts? [Artifact]; handoffs? [object]; receipt_id?! text null; failure?! Failure null; cost? object null; metrics? object null
Receipt < Envelope: object =receipt; subject! Pointer; format! text; summary! text; issued_at! time; issuer! text; wire?! WireEnvelope; verification? Verification null
WireEnvelope: schema_version text; subject Pointer; issued_at time; payload? object; signature? CardSignature null
Verification: valid bool; checked_at time; reason? text null; details? object null
Branch < Envelope: object =branch; workspace_id! text; kind! =workspace =session =task =sandbox; base_ref! text
Persona < Envelope: object =persona; name text; version text; entry_workflow text; description text; autonomy_tier =shadow =suggest =act_with_approval =act_auto; receipt_policy =required =optional =disabled
Connector < Envelope: object =connector; provider text; workspace_id text; status =ACTIVE =PAUSED =FAILED =DISABLED; event_kinds [text]
Memory < Envelope: object =memory; scope =persona =session =workspace =tenant; owner_id text; content any; provenance object
Vault < Envelope: object =vault; workspace_id text null; provider text; capabilities [text]
Quota < Envelope: object =quota; scope =persona =workspace =tenant =organization; limits {number}; usage {number}
`
}
