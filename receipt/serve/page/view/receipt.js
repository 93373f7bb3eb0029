// This module displays a receipt in full: each entry of its lists, and the entire receipt as JSON.
// The receipt may be hostile and invalid, so no member is assumed to exist or to have the right
// type.
import { facts, foreign, h, icon, mono, rows, section, table } from "./dom.js";
import { isObject, list, member, outline } from "./json.js";
import { clock, instant, number } from "./text.js";
import { bound, estimatedIn, inferredIn, isUnreported, notRecorded, overIn, recorded, unreportedIn } from "./unreported.js";
import { status } from "./verdict.js";

// renderReceipt displays a parsed receipt. The report states whether the receipt can be relied on.
export function renderReceipt(receipt, report) {
  if (!isObject(receipt)) return section("receipt", "The receipt", h("p", {}, "There is no receipt to show: the input is not a JSON object."));
  const stated = recorded(receipt);
  return h("article", { class: "receipt" },
    section("story", "The receipt in full", caution(report), renderFacts(stated)),
    section("entries", "Every entry", lists.map((one) => renderList(stated, ...one))),
    renderRest(receipt));
}

// renderFolded is like renderReceipt, but displays the receipt only on request.
export function renderFolded(receipt, report) {
  return h("details", { class: "technical" }, h("summary", {}, "The receipt in full, with every entry and its digests"), renderReceipt(receipt, report));
}

// caution displays a notice before the content of the receipt.
function caution(report) {
  const sound = status(report, "hash").status === "passed" && status(report, "schema").status === "passed";
  if (sound && member(report, "verdict") === "verified" && member(report, "scope") === "full") {
    return h("p", { class: "caution" }, "The following is what the issuer states.");
  }
  const tone = member(report, "verdict") === "refuted" ? "bad" : "open";
  return h("p", { class: `caution ${tone}` }, icon(tone), tone === "bad" ? "This receipt is refuted. Do not rely on the following."
    : "No signature confirms who states the following.");
}

function renderFacts(receipt) {
  const code = (...names) => member(receipt, ...names) !== undefined && mono(member(receipt, ...names));
  const previous = member(receipt, "chain", "previous_receipt_hash"), tiers = member(receipt, "trust");
  return facts([
    ["receipt", code("receipt_id")],
    ["subject", member(receipt, "subject") !== undefined && [foreign(member(receipt, "subject", "object")), " ", mono(member(receipt, "subject", "id"))]],
    ...["task_id", "workspace_ref", "tenant_id", "session_id", "persona_ref", "branch_id", "trace_id"].map((name) => [name.replace(/_.*/, ""), code("identifiers", name)]),
    ["issuer’s key", code("issuer", "public_key_id")],
    ["route", member(receipt, "model_route", "route_policy_reason") !== undefined && foreign(member(receipt, "model_route", "route_policy_reason"))],
    ["autonomy", tiers !== undefined && [foreign(member(tiers, "start_tier")), " → ", foreign(member(tiers, "end_tier"))]],
    ["predecessor", previous === null ? "none: it states that it is the first of its stream" : mono(previous)],
    ["its own hash", code("chain", "receipt_hash")],
    ["Merkle root", code("chain", "merkle_root")],
    ["not recorded", places(unreportedIn(receipt))],
    ["at most", places(overIn(receipt))],
    ["inferred", places(inferredIn(receipt))],
    ["estimated", places(estimatedIn(receipt))],
  ]);
}

// places displays pointers to members of the receipt, at most 20 of them.
function places(pointers) {
  return pointers.length > 0 && [pointers.slice(0, 20).map((pointer, i) => [i > 0 ? ", " : "", mono(pointer, 120)]), pointers.length > 20 && ` … ${number(pointers.length - 20)} more`];
}

// The lists of a receipt: their pointers, their captions, and the members of their entries. If the
// fourth value is true, a list without entries is displayed as well.
const lists = [
  ["/approvals", "Approvals", ["decision", "action", "actor", "decided_at", "evidence_hash", "quorum_proof"], true],
  ["/side_effects/fs_writes", "Writes to files", ["path", "operation", "before_sha256", "after_sha256", "metadata"], true],
  ["/side_effects/tool_calls", "Tool calls", ["tool", "call_id", "status", "input_hash", "output_hash", "metadata"], true],
  ["/side_effects/network_egress", "Network requests", ["destination", "purpose", "bytes_sent", "metadata"], true],
  ["/side_effects/a2a_handoffs", "Handoffs to other agents", ["target_agent", "task_id", "status", "receipt_id"], true],
  ["/cost/provider_breakdown", "Cost by model", ["provider", "model", "amount", "input_tokens", "output_tokens"]],
  ["/final_artifacts", "Artifacts", ["artifact_id", "kind", "uri", "sha256"], true],
  ["/deltas", "Deltas of a replay", ["path", "operation", "reason", "before_sha256", "after_sha256"]],
  ["/redactions", "Withheld values", ["field", "reason", "proof_hash"]],
  ["/replay_input/materials", "Materials of a replay", ["kind", "id", "uri", "sha256"]],
  ["/signatures", "Signatures (not covered by the hash)", ["key_id", "algorithm", "signed_at", "signature"], true],
];

const kinds = [[/sha256|hash|signature/, "code"], [/path|^tool|destination|uri|field|agent/, "path"], [/_at$/, "time"], [/id$|model/, "id"], [/bytes|amount|tokens/, "number"]];

function renderList(receipt, at, caption, names, always) {
  const entries = list(member(receipt, ...at.slice(1).split("/"))), unreported = isUnreported(receipt, at);
  if (entries.length === 0) return always === true && h("p", { class: "none" }, h("strong", {}, caption), unreported ? ` ${notRecorded}` : " none");
  const shown = new Set(unreportedIn(receipt)), has = (name) => entries.slice(0, rows).some((entry) => ![undefined, null].includes(member(entry, name)));
  const columns = names.filter((name, i) => i === 0 || has(name)).map((name) => ({ name: name.replaceAll("_", " "), member: name, kind: kinds.find(([names]) => names.test(name))?.[1] }));
  return table(`${caption} (${bound(receipt, at)}${number(entries.length)})`, columns, entries, (entry, place) => columns.map((column, i) => [
    cell(receipt, member(entry, column.member), `${at}/${place}/${column.member}`, column.kind),
    i === 0 && shown.has(`${at}/${place}`) && h("span", { class: "detail" }, `${notRecorded} whether this happened`)]));
}

// cell displays a member of an entry. A number may be a bound or an estimate.
function cell(receipt, value, at, kind) {
  if (value === undefined || value === null) return "–";
  if (typeof value === "number") return [bound(receipt, at), number(value), estimatedIn(receipt).includes(at) && " (estimated)"];
  if (kind === "time" && !Number.isNaN(instant(value))) return clock(instant(value), true);
  return value !== notRecorded && ["code", "path", "id"].includes(kind) ? mono(value) : foreign(value);
}

const known = new Set(["schema", "receipt_id", "subject", "issuer", "issued_at", "identifiers", "lifecycle", "approvals", "trust", "autonomy_budget",
  "replay_input", "model_route", "cost", "side_effects", "final_artifacts", "deltas", "chain", "redactions", "signatures", "metadata"]);

// renderRest displays members that the format does not define and, on request, the metadata and the
// entire receipt as JSON.
function renderRest(receipt) {
  const unknown = [];
  for (const name in receipt) { // Object.keys would list all names, but this loop can stop early
    if (unknown.length > 20) break;
    if (Object.hasOwn(receipt, name) && !known.has(name)) unknown.push(name);
  }
  return section("rest-of-it", "As JSON",
    unknown.length > 0 && table("Members that the format does not define", ["name", "value"], unknown, (name) => [mono(name, 80), raw(receipt[name], 400)], 20),
    member(receipt, "metadata") !== undefined && h("details", {}, h("summary", {}, "metadata"), raw(receipt.metadata, 20000)),
    h("details", {}, h("summary", {}, "the complete receipt"), raw(receipt, 60000)));
}

// raw displays a value as JSON, with at most limit characters.
function raw(value, limit) {
  return h("pre", {}, h("code", {}, outline(value, limit).split("\n").map((line, i) => [i > 0 ? document.createTextNode("\n") : "", line])));
}
