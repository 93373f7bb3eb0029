// A receipt for a person. What it shows may be hostile and need not be valid: no
// member is trusted to be there or to have its type, and nothing grows with it.
import { bars, timeline } from "./charts.js";
import { facts, foreign, h, icon, mono, section, table } from "./dom.js";
import { amount, isObject, list, member, outline, text } from "./json.js";
import { clock, duration, instant, number } from "./text.js";
import { bound, estimatedIn, inferredIn, isUntold, notTold, overIn, told, untoldIn } from "./untold.js";
import { status } from "./verdict.js";

// renderReceipt shows a parsed receipt. The report says whether it can be relied on.
export function renderReceipt(receipt, report) {
  if (!isObject(receipt)) return section("receipt", "The receipt", h("p", {}, "There is no receipt to show: the input is no JSON object."));
  const says = told(receipt);
  return h("article", { class: "receipt" },
    section("story", "The receipt in full", caution(report)),
    renderFacts(says),
    renderTimeline(says),
    renderCost(says),
    renderEffects(says),
    renderArtifacts(says),
    renderWithheld(says),
    renderReplay(says),
    renderChain(receipt),
    renderSignatures(receipt),
    renderRest(receipt));
}

// caution comes before anything that the receipt says.
function caution(report) {
  const sound = status(report, "hash").status === "passed" && status(report, "schema").status === "passed";
  if (sound && member(report, "verdict") === "verified" && member(report, "scope") === "full") {
    return h("p", { class: "caution" }, "What follows is what the issuer states.");
  }
  const tone = member(report, "verdict") === "refuted" ? "bad" : "open";
  return h("p", { class: `caution ${tone}` }, icon(tone), tone === "bad" ? "This receipt is refuted. Do not rely on what follows."
    : "Nobody has confirmed who states what follows.");
}

// reckoned says behind an amount that its source estimates it: it is no bill.
function reckoned(receipt, pointer) {
  return estimatedIn(receipt).includes(pointer) ? " (estimated by the source)" : "";
}

// money is an amount in a currency, as far as both were told.
function money(currency, value) {
  if (value === notTold) return value;
  return currency === notTold ? [digits(value), `, currency ${notTold}`] : [currency === undefined ? "(absent)" : foreign(currency), " ", digits(value)];
}

const egressAt = "/side_effects/network_egress";

function bytesAt(i) { return `${egressAt}/${i}/bytes_sent`; }

// possible are the entries of the egress of which it is open whether they were sent.
function possible(receipt) {
  const listed = new Set(untoldIn(receipt));
  return new Set(list(member(receipt, "side_effects", "network_egress")).filter((_, i) => listed.has(`${egressAt}/${i}`)));
}

function renderFacts(receipt) {
  const at = (...names) => member(receipt, ...names);
  const shown = (...names) => (at(...names) === undefined ? undefined : foreign(at(...names)));
  const issuer = [mono(at("issuer", "id")), at("issuer", "name") === undefined ? "" : [" “", foreign(at("issuer", "name")), "”"], at("issuer", "kind") === undefined ? "" : [", ", foreign(at("issuer", "kind"))]];
  const alternatives = list(at("model_route", "alternatives_considered"));
  const provider = at("model_route", "chosen_model", "provider"), chosen = at("model_route", "chosen_model", "model");
  const model = provider === notTold && chosen === notTold ? notTold : [provider === notTold ? "" : [foreign(provider), " "], chosen === notTold ? "model " : "", foreign(chosen),
    alternatives.slice(0, 10).map((other) => [", not ", foreign(member(other, "model")), member(other, "reason") === undefined ? "" : [": “", foreign(other.reason), "”"]]),
    alternatives.length > 10 ? ` … ${alternatives.length - 10} more` : ""];
  return section("overview", "What it is about", facts([
    ["receipt", mono(at("receipt_id"))],
    ["proves", at("subject") && [foreign(at("subject", "object")), " ", mono(at("subject", "id"))]],
    ["task", mono(at("identifiers", "task_id"))],
    ["workspace", shown("identifiers", "workspace_ref")],
    ["tenant", shown("identifiers", "tenant_id")],
    ["session", shown("identifiers", "session_id")],
    ["persona", shown("identifiers", "persona_ref")],
    ["branch", shown("identifiers", "branch_id")],
    ["trace", shown("identifiers", "trace_id")],
    ["issuer", issuer],
    ["issuer’s key", at("issuer", "public_key_id") === undefined ? undefined : mono(at("issuer", "public_key_id"))],
    ["ended", isUntold(receipt, "/lifecycle/final_state") ? notTold : shown("lifecycle", "final_state")],
    ["failure", isObject(at("lifecycle", "failure")) && raw(at("lifecycle", "failure"), 2000)],
    ["model", model],
    ["route", shown("model_route", "route_policy_reason")],
    ["autonomy", at("trust", "start_tier") === notTold && at("trust", "end_tier") === notTold ? notTold : at("trust") && [foreign(at("trust", "start_tier")), " → ", foreign(at("trust", "end_tier")), at("trust", "policy_ref") === undefined ? "" : [", policy ", foreign(at("trust", "policy_ref"))]]],
    ["not told", places(untoldIn(receipt), ", by the source: what stands there is no statement")],
    ["at most", places(overIn(receipt), ": what stands there may be more than happened")],
    ["inferred", places(inferredIn(receipt), ", concluded from other lines of the source")],
    ["estimated", places(estimatedIn(receipt), ", by the source: no bill")],
  ]));
}

// places names members of the receipt.
function places(pointers, what) {
  if (pointers.length === 0) return undefined;
  return [pointers.slice(0, 20).map((pointer, i) => [i > 0 ? ", " : "", mono(pointer, 120)]), pointers.length > 20 ? ` … ${number(pointers.length - 20)} more` : "", what];
}

const decisions = new Map([["approved", "plain"], ["denied", "bad"], ["canceled", "open"], ["timeout", "open"]]);

// events are the times of a receipt, in order; those that cannot be read are last.
function events(receipt) {
  const lifecycle = (name) => member(receipt, "lifecycle", name);
  const found = [
    { name: "created", value: lifecycle("created_at"), tone: "plain" },
    { name: "started", value: lifecycle("started_at"), tone: "plain" },
    ...list(member(receipt, "approvals")).slice(0, 100).map((approval) => ({ name: "approval", value: member(approval, "decided_at"), tone: decisions.get(member(approval, "decision")) ?? "none", approval })),
    { name: "completed", value: lifecycle("completed_at"), tone: "plain" },
    { name: "issued", value: member(receipt, "issued_at"), tone: "plain" },
  ].filter((event) => event.value !== undefined || event.approval !== undefined);
  for (const event of found) event.at = instant(event.value);
  return found.sort((a, b) => (Number.isNaN(a.at) ? Infinity : a.at) - (Number.isNaN(b.at) ? Infinity : b.at) || 0);
}

function renderTimeline(receipt) {
  const found = events(receipt), days = new Set(found.filter((event) => !Number.isNaN(event.at)).map((event) => clock(event.at).slice(0, -9)));
  const origin = found[0]?.at, all = list(member(receipt, "approvals")).length;
  return section("timeline", "Timeline and approvals",
    timeline("Timeline of the task", found),
    h("ol", { class: "events" }, found.map((event) => h("li", { class: event.tone },
      h("time", {}, Number.isNaN(event.at) ? foreign(event.value) : clock(event.at, true)), " ",
      h("span", { class: "after" }, event.at > origin ? `+${duration(event.at - origin)}` : ""), " ",
      h("span", {}, event.approval === undefined ? event.name : renderApproval(event.approval))))),
    all > 100 && h("p", { class: "rest" }, `… ${number(all - 100)} more approvals`),
    (all === 0 || isUntold(receipt, "/approvals")) && h("p", { class: "aside" }, isUntold(receipt, "/approvals") ? `${all === 0 ? "Approvals" : "Other approvals"}: ${notTold}.` : "No approval is listed."),
    h("p", { class: "aside" }, days.size > 0 ? "Times are UTC, as the issuer’s clock had them." : "No time can be read."));
}

function renderApproval(approval) {
  const decision = member(approval, "decision"), evidence = member(approval, "evidence_hash"), quorum = member(approval, "quorum_proof");
  return [h("strong", { class: decisions.get(decision) ?? "none" }, foreign(decision)), " ", foreign(member(approval, "action")), " by ", foreign(member(approval, "actor")),
    isObject(quorum) && [", quorum ", mono(quorum, 120)],
    evidence !== undefined && h("span", { class: "detail" }, "evidence ", mono(evidence))];
}

function renderCost(receipt) {
  const cost = member(receipt, "cost"), currency = member(cost, "currency");
  const providers = list(member(cost, "provider_breakdown"));
  return section("cost", "Cost and budget",
    h("p", { class: "figure" }, isUntold(receipt, "/cost/total") && !(amount(member(cost, "total")) > 0) ? ["Cost ", notTold] : [bound(receipt, "/cost/total"), money(currency, member(cost, "total")), reckoned(receipt, "/cost/total")]),
    providers.length > 0 && bars("Cost by provider", ["provider", "part of the total", "amount"], providers.slice(0, 20).map((entry, i) => ({
      label: [member(entry, "provider") === notTold ? "provider " : "", foreign(member(entry, "provider"), 80), member(entry, "model") === undefined ? "" : [" ", h("span", { class: "aside" }, foreign(entry.model, 80))], tokens(receipt, entry, i)],
      name: `cost of ${text(member(entry, "provider")).slice(0, 80)}`, value: amount(member(entry, "amount")), text: member(entry, "amount") === notTold ? notTold : [bound(receipt, amountAt(i)), money(currency, member(entry, "amount")), reckoned(receipt, amountAt(i))],
      whole: Math.max(amount(member(cost, "total")), amount(member(entry, "amount"))),
    }))),
    providers.length > 20 && h("p", { class: "rest" }, `… ${number(providers.length - 20)} more providers`),
    renderBudget(receipt, member(receipt, "autonomy_budget")));
}

function amountAt(i) { return `/cost/provider_breakdown/${i}/amount`; }

function tokens(receipt, entry, i) {
  const parts = ["input_tokens", "output_tokens"].filter((name) => member(entry, name) !== undefined)
    .map((name) => (entry[name] === notTold ? `${name.replace("_", " ")} ${notTold}` : [bound(receipt, `/cost/provider_breakdown/${i}/${name}`), digits(entry[name]), ` ${name.replace("_", " ")}`]));
  return parts.length > 0 && h("span", { class: "detail" }, parts.map((part, i) => [i > 0 ? ", " : "", part]));
}

// digits is a number of the receipt, or whatever stands in its place.
function digits(value) {
  return typeof value === "number" ? number(value) : foreign(value, 60);
}

function renderBudget(receipt, budget) {
  const consumed = member(budget, "consumed"), limit = member(budget, "limit");
  const names = ["usd", "input_tokens", "output_tokens", "tool_calls", "wall_time_ms"].filter((name) => member(consumed, name) !== undefined || member(limit, name) !== undefined);
  if (names.length === 0) return h("p", { class: "aside" }, "No use of a budget is stated.");
  const unit = (name, value) => (name === "wall_time_ms" && typeof value === "number" ? duration(value) : digits(value));
  return bars("Budget used", ["budget", "part of its limit", "used"], names.map((name) => {
    const used = member(consumed, name), most = member(limit, name);
    const place = (part) => bound(receipt, `/autonomy_budget/${part}/${name}`), guess = (part) => reckoned(receipt, `/autonomy_budget/${part}/${name}`);
    const over = typeof most === "number" && amount(used) > most && place("limit") === "" && !/most|reportedly/.test(place("consumed"));
    return {
      label: name === "wall_time_ms" ? "wall time" : name === "usd" ? "USD" : name.replaceAll("_", " "), name: `${name.replaceAll("_", " ")} used`,
      value: amount(used), whole: typeof most === "number" ? most : null, tone: over ? "bad" : "",
      text: [used === undefined ? "not stated" : used === notTold ? notTold : [place("consumed"), unit(name, used), guess("consumed")], most === undefined ? ", no limit stated" : most === notTold ? ` of a limit ${notTold}` : [" of ", place("limit"), unit(name, most), guess("limit")], over ? [" ", h("strong", { class: "bad" }, "over the limit")] : ""],
    };
  }));
}

// hashes shows a change of content.
function change(entry) {
  const side = (name) => (member(entry, name) === undefined || entry[name] === null ? "–" : mono(entry[name]));
  return [h("span", { class: "from" }, side("before_sha256")), " → ", h("span", { class: "to" }, side("after_sha256"))];
}

function extra(entry) {
  return member(entry, "metadata") === undefined ? "" : raw(entry.metadata, 400);
}

function renderEffects(receipt) {
  const effects = member(receipt, "side_effects"), of = (name) => list(member(effects, name));
  const names = { "Writes to files": "fs_writes", "Network requests": "network_egress", "Tool calls": "tool_calls", "Handoffs to other agents": "a2a_handoffs" };
  const open = (caption) => isUntold(receipt, `/side_effects/${names[caption]}`), unsure = possible(receipt);
  const bytes = (stated, i) => (stated === undefined ? "not stated" : [typeof stated === "number" ? bound(receipt, bytesAt(i)) : "", digits(stated)]);
  const tables = [
    [of("fs_writes"), "Writes to files", [{ name: "path", kind: "path" }, "operation", { name: "content, before → after", kind: "code" }],
      (entry) => [mono(member(entry, "path")), foreign(member(entry, "operation")), change(entry)]],
    [of("network_egress"), "Network requests", [{ name: "destination", kind: "path" }, "purpose", { name: "bytes sent", kind: "number" }, "more"],
      (entry, i) => [mono(member(entry, "destination")), [foreign(member(entry, "purpose")), unsure.has(entry) ? `, whether it was sent ${notTold}` : ""], bytes(member(entry, "bytes_sent"), i), extra(entry)]],
    [of("tool_calls"), "Tool calls", [{ name: "tool", kind: "path" }, "call", "status", { name: "input → output", kind: "code" }, "more"],
      (entry) => [mono(member(entry, "tool")), mono(member(entry, "call_id")), foreign(member(entry, "status")), [absent(entry, "input_hash"), " → ", absent(entry, "output_hash")], extra(entry)]],
    [of("a2a_handoffs"), "Handoffs to other agents", [{ name: "agent", kind: "path" }, "task", "status", "receipt"],
      (entry) => [mono(member(entry, "target_agent")), mono(member(entry, "task_id")), foreign(member(entry, "status")), absent(entry, "receipt_id")]],
  ];
  return section("effects", "What it did", tables.map(([entries, caption, columns, cells]) => (entries.length === 0
    ? h("p", { class: "none" }, h("strong", {}, caption), open(caption) ? ` ${notTold}` : " none") : table(`${caption} (${bound(receipt, `/side_effects/${names[caption]}`)}${number(entries.length)})`, used(columns, entries), entries, (...entry) => cells(...entry).slice(0, used(columns, entries).length)))));
}

// used drops the last column when no entry has anything for it.
function used(columns, entries) {
  return columns.at(-1) === "more" && !entries.slice(0, 50).some((entry) => member(entry, "metadata") !== undefined) ? columns.slice(0, -1) : columns;
}

function absent(entry, name) {
  return member(entry, name) === undefined || entry[name] === null ? "–" : mono(entry[name]);
}

function renderArtifacts(receipt) {
  const artifacts = list(member(receipt, "final_artifacts")), deltas = list(member(receipt, "deltas"));
  return section("artifacts", "What it made",
    artifacts.length === 0 ? h("p", { class: "none" }, h("strong", {}, "Artifacts"), isUntold(receipt, "/final_artifacts") ? ` ${notTold}` : " none")
      : table(`Artifacts (${bound(receipt, "/final_artifacts")}${number(artifacts.length)})`, [{ name: "artifact", kind: "path" }, "kind", { name: "where", kind: "path" }, { name: "content", kind: "code" }], artifacts,
        (entry) => [mono(member(entry, "artifact_id")), foreign(member(entry, "kind")), absent(entry, "uri"), absent(entry, "sha256")]),
    deltas.length > 0 && table(`Deltas of a replay (${number(deltas.length)})`, [{ name: "path", kind: "path" }, "operation", "reason", { name: "content, before → after", kind: "code" }], deltas,
      (entry) => [mono(member(entry, "path")), foreign(member(entry, "operation")), member(entry, "reason") === undefined ? "–" : foreign(entry.reason), change(entry)]));
}

function renderWithheld(receipt) {
  const withheld = list(member(receipt, "redactions"));
  if (withheld.length === 0) return null;
  return section("withheld", "Withheld", table(`Values that were taken out before sealing (${number(withheld.length)})`, [{ name: "field", kind: "path" }, "reason", { name: "commitment", kind: "code" }], withheld,
    (entry) => [mono(member(entry, "field")), foreign(member(entry, "reason")), absent(entry, "proof_hash")]));
}

const determinism = new Map([["byte_deterministic", "A replay gives the same bytes"], ["best_effort", "A replay may differ"], ["unavailable", "No replay is possible"]]);

function renderReplay(receipt) {
  const replay = member(receipt, "replay_input"), materials = list(member(replay, "materials"));
  if (replay === undefined) return null;
  const stated = member(replay, "determinism"), reason = member(replay, "unavailable_reason");
  return section("replay", "Replay",
    h("p", {}, determinism.has(stated) ? determinism.get(stated) : foreign(stated), reason === undefined ? "." : [": “", foreign(reason), "”."]),
    materials.length > 0 && table(`Materials (${number(materials.length)})`, ["kind", { name: "id", kind: "path" }, { name: "where", kind: "path" }, { name: "content", kind: "code" }], materials,
      (entry) => [foreign(member(entry, "kind")), absent(entry, "id"), member(entry, "uri") === undefined && member(entry, "bytes_base64") !== undefined ? "in the receipt" : absent(entry, "uri"), absent(entry, "sha256")]));
}

function renderChain(receipt) {
  const chain = member(receipt, "chain"), previous = member(chain, "previous_receipt_hash");
  return section("chain", "Chain and batch", facts([
    ["predecessor", previous === null ? "none: it states to be the first of its stream" : mono(previous)],
    ["its own hash", mono(member(chain, "receipt_hash"))],
    ["batch", member(chain, "merkle_root") === undefined ? "names none" : ["Merkle root ", mono(chain.merkle_root)]],
  ]));
}

function renderSignatures(receipt) {
  const signatures = list(member(receipt, "signatures"));
  if (signatures.length === 0) return section("signed", "Signatures", h("p", { class: "none" }, "none"));
  return section("signed", "Signatures", table(`As the receipt lists them (${number(signatures.length)}); no hash protects this list`, ["key", "algorithm", "time", { name: "value", kind: "code" }], signatures,
    (entry) => [mono(member(entry, "key_id")), foreign(member(entry, "algorithm")), member(entry, "signed_at") === undefined ? "–" : foreign(entry.signed_at), mono(member(entry, "signature"), 120)]));
}

const known = new Set(["schema", "receipt_id", "subject", "issuer", "issued_at", "identifiers", "lifecycle", "approvals", "trust", "autonomy_budget",
  "replay_input", "model_route", "cost", "side_effects", "final_artifacts", "deltas", "chain", "redactions", "signatures", "metadata"]);

// renderRest shows what no part above knows, and the whole, folded.
function renderRest(receipt) {
  const unknown = [];
  for (const name in receipt) { // and not Object.keys, so that it can stop
    if (unknown.length > 20) break;
    if (Object.hasOwn(receipt, name) && !known.has(name)) unknown.push(name);
  }
  return section("rest-of-it", "Everything else",
    unknown.length > 0 && table("Members that the format does not know", ["name", "value"], unknown, (name) => [mono(name, 80), raw(receipt[name], 400)], 20),
    member(receipt, "metadata") !== undefined && h("details", {}, h("summary", {}, "metadata"), raw(receipt.metadata, 20000)),
    h("details", {}, h("summary", {}, "the whole receipt"), raw(receipt, 60000)));
}

// raw shows a value as JSON, within bounds.
function raw(value, limit) {
  return h("pre", {}, h("code", {}, outline(value, limit).split("\n").map((line, i) => [i > 0 ? document.createTextNode("\n") : "", line])));
}
