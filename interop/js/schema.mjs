// The shape of a receipt, receipt-2026-04-25.

import { refuted, undecided } from "./finding.mjs";

// The closed objects: "name:type", or "name?:type" for an optional member. [T] is an array of T, and
// T|U is either of two types or words. Types are the names below, and words are anything else.
const shapes = {
  Receipt: `schema:receipt-2026-04-25 receipt_id:Text subject:Subject issuer:Issuer issued_at:Time
    identifiers:Identifiers lifecycle:Lifecycle trust:Trust autonomy_budget:Autonomy replay_input:Replay
    model_route:Route cost:Cost side_effects:Effects final_artifacts:[Artifact] chain:Chain
    approvals?:[Approval] deltas?:[Delta] redactions?:[Redaction] signatures?:[Signature] metadata?:Open`,
  Subject: `object:task|outcome|event|artifact|approval|tool_call|replay_segment id:Text`,
  Issuer: `id:Text kind:harness|host|agent|connector name?:Text version?:Text public_key_id?:Text`,
  Identifiers: `workspace_ref:Text session_id:Text task_id:Text
    tenant_id?:Text persona_ref?:Text branch_id?:Text trace_id?:Text`,
  Lifecycle: `created_at?:Time started_at:Time completed_at:Time final_state:SUCCEEDED|FAILED|CANCELED failure?:Open|null`,
  Trust: `start_tier:shadow|suggest|act_with_approval|act_auto end_tier:shadow|suggest|act_with_approval|act_auto
    policy_ref?:Text`,
  Autonomy: `consumed:Budget limit?:Budget`,
  Budget: `usd?:Amount input_tokens?:Count output_tokens?:Count tool_calls?:Count wall_time_ms?:Count`,
  Replay: `determinism:byte_deterministic|best_effort|unavailable materials:[Material] unavailable_reason?:Text`,
  Material: `kind:llm_provider_response|mcp_tool_return|event_log|artifact|host_fact id?:Text uri?:Text sha256?:Digest
    content_type?:Text bytes_base64?:Text metadata?:Open`,
  Route: `chosen_model:Model alternatives_considered:[Model] route_policy_reason:Text`,
  Model: `provider:Text model:Text version?:Text reason?:Text`,
  Cost: `currency:Currency total:Amount provider_breakdown:[ProviderCost]`,
  ProviderCost: `provider:Text model?:Text amount:Amount input_tokens?:Count output_tokens?:Count metadata?:Open`,
  Effects: `fs_writes:[Write] network_egress:[Egress] tool_calls:[Call] a2a_handoffs:[Handoff]`,
  Write: `path:Text operation:create|modify|delete|rename before_sha256?:Digest|null after_sha256?:Digest|null`,
  Egress: `destination:Text purpose:Text bytes_sent?:Count metadata?:Open`,
  Call: `tool:Text call_id:Text status:succeeded|failed|canceled input_hash?:Digest output_hash?:Digest metadata?:Open`,
  Handoff: `target_agent:Text task_id:Text status:accepted|rejected|failed|completed receipt_id?:Text`,
  Artifact: `artifact_id:Text kind:Text uri?:Text sha256?:Digest`,
  Chain: `previous_receipt_hash:Digest|null receipt_hash:Digest merkle_root?:Digest`,
  Approval: `approval_id?:Text actor:Text action:Text decision:approved|denied|canceled|timeout decided_at:Time
    quorum_proof?:Open|null evidence_hash?:Digest`,
  Delta: `delta_id?:Text operation:add|replace|remove path:Text override_key?:Text event_id?:Text
    before_sha256?:Digest|null after_sha256?:Digest|null artifact_id?:Text reason?:Text`,
  Redaction: `field:Text reason:Text proof_hash?:Digest`,
  Signature: `key_id:Text algorithm:Text signature:Text signed_at?:Time`,
};

const members = new Map(Object.entries(shapes).map(([shape, text]) => [shape, new Map(text.split(/\s+/).map((member) => {
  const [, name, optional, type] = /^([a-z0-9_]+)(\??):(.+)$/.exec(member);
  return [name, { type, required: optional === "" }];
}))]));

export const isDigest = (value) => typeof value === "string" && /^sha256:[0-9a-f]{64}$/.test(value);

const leaves = new Map(Object.entries({
  Text: (value) => typeof value === "string" && value !== "",
  Amount: (value) => typeof value === "number" && value >= 0,
  Count: (value) => Number.isInteger(value) && value >= 0, // 1.0 is an integer, too
  Time: (value) => typeof value === "string" && seconds(value) !== undefined,
  Currency: (value) => typeof value === "string" && /^[A-Z]{3}$/.test(value),
  Digest: isDigest,
  Open: (value) => value instanceof Map,
  null: (value) => value === null,
}));

// check throws a Finding with the JSON Pointer (RFC 6901) of the first fault unless a value has a type.
function check(type, value, pointer) {
  const need = (condition, place = pointer) => {
    if (!condition) throw refuted("schema", "schema_invalid", place);
  };
  if (type.startsWith("[")) {
    need(Array.isArray(value));
    value.forEach((element, i) => check(type.slice(1, -1), element, `${pointer}/${i}`));
    return;
  }
  const shape = members.get(type);
  if (shape === undefined) {
    need(type.split("|").some((choice) => leaves.get(choice)?.(value) ?? value === choice));
    return;
  }

  need(value instanceof Map);
  for (const [name, { required }] of shape) need(value.has(name) || !required);
  for (const [name, inner] of value) {
    const place = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    need(shape.has(name), place);
    check(shape.get(name).type, inner, place);
  }
  // A material is referenced by hash, included with its hash, or described.
  const byHash = value.has("sha256") && (value.has("uri") || value.has("bytes_base64"));
  need(type !== "Material" || byHash || value.has("metadata"));
}

// checkReceipt throws the first fault of the shape of a receipt.
export function checkReceipt(value) {
  if (!(value instanceof Map)) throw refuted("parse", "not_object");
  const schema = value.get("schema");
  const marked = typeof schema === "string" && schema.startsWith("receipt-");
  if (!marked && !value.has("receipt_id") && !value.has("chain")) throw refuted("schema", "not_a_receipt");
  if (marked && /^receipt-\d{4}-\d\d-\d\d$/.test(schema) && schema !== "receipt-2026-04-25") {
    throw undecided("schema", "unsupported_schema", "/schema");
  }
  check("Receipt", value, "");
}

// seconds returns the seconds since 1970 of an RFC 3339 time, without its fraction, or undefined
// if the text is not such a time. A leap second is the last second of a UTC day, and counts as the
// first of the next.
export function seconds(time) {
  const form = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
  const found = form.exec(time);
  if (found === null) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number);
  const [offsetHour, offsetMinute] = [Number(found[8] ?? 0), Number(found[9] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return undefined;

  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;

  const offset = (found[7] === "-" ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  const minutes = hour * 60 + minute - offset;
  if (second === 60 && (minutes + 2 * 1440) % 1440 !== 1439) return undefined;
  return date.getTime() / 1000 + minutes * 60 + second;
}
