// Replays (docs/replay.md). A log and a request determine the content of the receipt for a replay. Only
// the following formats of logs and requests are supported.

import { digest, refuted, undecided, Unsupported } from "./finding.mjs";
import { canonical, canonicalBytes, encode, fromObject, lookup, parse, without } from "./json.mjs";
import { isValid } from "./schema.mjs";

const closed = (properties, required = Object.keys(properties)) => ({ type: "object", required, properties, additionalProperties: false });
const matching = (pattern) => ({ type: "string", pattern });
const id = matching("^[a-z]\\w*$");
const payloads = {
  "task.submitted": closed({ autonomy_tier: matching("^act_auto$"), policy_ref: id }),
  "task.started": closed({}),
  "span.completed": closed({ kind: { const: "llm" }, model: matching("."), provider: matching("."), response: { type: "object" } }),
  "tool.completed": closed({ name: matching("^[a-z]+\\.[a-z]+$"), output: matching(""), status: { const: "succeeded" }, tool_call_id: id }),
  "task.completed": closed({}),
};
const time = { ...matching("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$"), format: "date-time" };
const task = closed({ id, object: { const: "task" } });
const event = closed({ created_at: time, event: { enum: Object.keys(payloads) }, id, payload: true, resource: task, sequence: true, session_id: id, workspace_id: id });
const override = closed({ kind: { const: "llm_provider_response" }, value: true });
const overrides = { type: "object", properties: {}, additionalProperties: override };
const requests = { anyOf: [closed({ mode: { const: "exact" } }), closed({ mode: { const: "with_overrides" }, override: overrides })] };
const order = /^task.submitted,task.started,((span|tool).completed,)*task.completed$/;

// readLog returns the events of a log, which must be about one task and sorted by time.
function readLog(bytes) {
  const events = new TextDecoder().decode(bytes).trimEnd().split("\n").map((line) => parse(encode(line)));
  const of = (...path) => events.map((each) => lookup(each, ...path));
  const same = ["resource", "session_id", "workspace_id"].every((name) => new Set(of(name).map(canonical)).size === 1);
  const distinct = [of("id"), of("payload", "tool_call_id").filter(Boolean)].every((ids) => new Set(ids).size === ids.length);
  const sorted = of("created_at").every((at, i, all) => i === 0 || all[i - 1] <= at) && of("sequence").every((n, i) => n === i + 1);
  const valid = events.every((each) => isValid(event, each) && isValid(payloads[each.get("event")], each.get("payload")));
  if (!same || !distinct || !sorted || !valid || !order.test(of("event"))) throw new Unsupported("another log");
  return events;
}

// draft returns the members of a receipt that a log and a request determine.
async function draft(log, request) {
  const events = readLog(log);
  if (!isValid(requests, request)) throw new Unsupported("another request");
  const [first, started, last] = [events[0], events[1], events.at(-1)];
  const [source, tier] = [lookup(first, "resource", "id"), lookup(first, "payload", "autonomy_tier")];
  const unused = new Map(request.get("override"));
  const materials = [{ id: `event_log:${source}`, kind: "event_log", content_type: "application/jsonl", sha256: await digest(encode(events.map((each) => canonical(each) + "\n").join(""))), metadata: { events: events.length } }];
  const deltas = [];
  let calls = 0;
  for (const answer of events.slice(2, -1)) {
    const [name, call, output, response] = ["name", "tool_call_id", "output", "response"].map((member) => lookup(answer, "payload", member));
    const [key, kind, value] = name === undefined ? [`llm:main:${++calls}`, "llm_provider_response", response] : [`host:${name}:${call}`, "host_fact", output];
    const [before, replacement] = [await digest(canonicalBytes(value)), unused.get(key)];
    const sha256 = replacement === undefined ? before : await digest(canonicalBytes(replacement.get("value")));
    materials.push({ id: key, kind, sha256, metadata: replacement === undefined ? {} : { override_key: key } });
    if (unused.delete(key)) deltas.push({ delta_id: `delta_${key.replace(/[^A-Za-z0-9]/g, "_")}`, operation: "replace", path: `/replay_input/materials/${key}`, override_key: key, event_id: answer.get("id"), before_sha256: before, after_sha256: sha256 });
  }
  return fromObject({
    subject: { object: "replay_segment" }, deltas, approvals: [], final_artifacts: [],
    identifiers: { session_id: first.get("session_id"), workspace_ref: first.get("workspace_id") },
    lifecycle: { created_at: first.get("created_at"), started_at: started.get("created_at"), completed_at: last.get("created_at"), final_state: "SUCCEEDED", failure: null },
    trust: { start_tier: tier, end_tier: tier, policy_ref: lookup(first, "payload", "policy_ref") },
    model_route: { chosen_model: { model: "none", provider: "none" }, alternatives_considered: [], route_policy_reason: "the replay called no model" },
    side_effects: { tool_calls: [], fs_writes: [], network_egress: [], a2a_handoffs: [] },
    autonomy_budget: { consumed: { usd: 0, input_tokens: 0, output_tokens: 0, tool_calls: 0, wall_time_ms: 0 } },
    cost: { total: 0, currency: "USD", provider_breakdown: [] },
    replay_input: { determinism: "byte_deterministic", materials },
    metadata: { source_task_id: source, replay_mode: request.get("mode"), ...(unused.size > 0 && { overrides_unused: [...unused.keys()].sort() }) },
  });
}

// The code for a difference, by the member that differs.
const codes = [
  [/^\/(metadata\/source_task_id|replay_input\/materials\/event_log)/, "replay_source_mismatch"],
  [/^\/replay_input\/materials/, "material_substituted"],
  [/^\/(side_effects|approvals|cost|autonomy_budget)/, "replay_effect"],
  [/^\/deltas\/[^/]+$/, "delta_unexpected"],
  [/^\/deltas/, "delta_mismatch"],
  [/^/, "replay_differs"],
];
const isEmpty = (value) => value === undefined || value === null || value.size === 0 || value.length === 0;
// inner returns the members of an object, or a map from IDs to the elements of a list.
const inner = (value) => (value instanceof Map ? value : Array.isArray(value) ? new Map(value.map((each, i) => [lookup(each, "override_key") ?? lookup(each, "id") ?? i, each])) : undefined);

// differences yields a finding for each value in a receipt that differs from the expected value.
function* differences(stated, expected, pointer = "") {
  if (inner(stated) !== undefined && inner(expected) !== undefined) {
    const names = new Set([...inner(stated).keys(), ...inner(expected).keys()]);
    for (const name of names) yield* differences(inner(stated).get(name), inner(expected).get(name), `${pointer}/${name}`);
  } else if (canonical(stated) !== canonical(expected) && !(isEmpty(stated) && isEmpty(expected))) {
    const code = codes.find(([place]) => place.test(pointer))[1];
    const isDetermined = expected !== undefined || code !== "replay_differs" || pointer.startsWith("/metadata/overrides_unused");
    if (!isDetermined) yield undecided("hash", "replay_unavailable", pointer);
    else yield refuted("hash", stated === undefined && code === "delta_unexpected" ? "delta_missing" : code, pointer);
  }
}

// checkReplay returns the findings about the receipt for a replay.
export async function checkReplay(receipt, log, request) {
  const expected = await draft(log, parse(request));
  const stated = new Map([...expected.keys()].map((name) => [name, receipt.get(name)]));
  stated.set("subject", without(receipt.get("subject"), "id"));
  stated.set("identifiers", without(receipt.get("identifiers"), "task_id", "trace_id", "branch_id"));
  const determined = ["source_task_id", "replay_mode", "overrides_unused", "checkpoint_event_id", "checkpoint_id"];
  stated.set("metadata", new Map([...(receipt.get("metadata") ?? [])].filter(([name]) => determined.includes(name))));
  return [...differences(stated, expected)];
}
