// This script renders the views in a browser, with the fixtures in the page and with values that no
// valid receipt contains. It writes failures to #failures, one per line.
import { causeOf, renderHeadlines, words } from "../view/answer.js";
import { columns, of, share } from "../view/charts.js";
import { h } from "../view/dom.js";
import { outline } from "../view/json.js";
import { renderBytes } from "../shell/bytes.js";
import { renderReceipt } from "../view/receipt.js";
import { renderOverTime, tick } from "../view/overtime.js";
import { renderPictures } from "../view/pictures.js";
import { renderSummary } from "../view/summary.js";
import { clock, cut, duration, group, instant, lines, number, visible } from "../view/text.js";
import { difference, renderComparison, renderSteps } from "../view/verdict.js";

const failures = [];
let done = 0;

function check(name, got, want) {
  done++;
  if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${name}: got ${JSON.stringify(got)?.slice(0, 300)}, want ${JSON.stringify(want)}`);
}

function attempt(name, act) {
  done++;
  try {
    return act();
  } catch (error) {
    failures.push(`${name}: ${error.stack}`);
    return document.createElement("p");
  }
}

function texts() {
  check("controls", visible("a\u0000\n\t\u001b[31m\u202e\u{e0041}\u00ad\u3164b"), "a\\x00\\n\\t\\x1b[31m\\u202e\\U000e0041\\u00ad\\u3164b");
  check("lines", lines("{\r\n\t\"a\": \"\u202e\u200b\"\n}"), "{\\r\n\t\"a\": \"\\u202e\\u200b\"\n}");
  check("letters", visible("grüße デプロイ 🎉 שלום"), "grüße デプロイ 🎉 שלום");
  check("half a pair", visible("\ud83dx"), "\\ud83dx");
  check("heaped marks", visible("e" + "\u0301".repeat(6)), "e" + "\u0301".repeat(4) + "\\u0301\\u0301");
  check("cut", cut("abcdef", 4), { text: "abcd", more: 2 });
  check("cut between", cut("abc🎉", 4), { text: "abc", more: 2 });
  check("groups", ["1", "1234", "1234567.1234", "1e+21", "12345"].map(group), ["1", "1,234", "1,234,567.1234", "1e+21", "12,345"]);
  check("numbers", [0.1842, -0, 2048, 1e21, 5e-324].map(number), ["0.1842", "0", "2,048", "1e+21", "5e-324"]);
  check("durations", [0, 0.5, 999, 1000, 79000, 3600000, 90061000].map(duration), ["0 s", "0 ms", "999 ms", "1 s", "1 min 19 s", "1 h", "1 d 1 h"]);
  check("instants", ["2026-04-25T19:17:33Z", "2026-04-25t21:17:33.5+02:00", "2016-12-31T23:59:60Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"].map((text) => clock(instant(text))),
    ["2026-04-25 19:17:33", "2026-04-25 19:17:33", "2017-01-01 00:00:00", "0000-01-01 00:00:00", "9999-12-31 23:59:59"]);
  check("the end of a second", ["2025-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.99999999999999999999Z", "0000-01-01T00:00:00.9999999999Z"].map((text) => clock(instant(text))), ["2025-12-31 23:59:59", "9999-12-31 23:59:59", "0000-01-01 00:00:00"]);
  check("no instants", ["", "now", "2026-02-30T00:00:00Z", "2026-04-25T24:00:00Z", "2026-04-25 19:17:33Z", 7, null].map((text) => Number.isNaN(instant(text))), Array(7).fill(true));
  check("differences", [difference("abc", "abd"), difference("", "a"), difference("x", "x"), difference("🎉", "🎊")], [2, 0, 1, 0]);
  check("outline", outline({ a: [1, "x"], b: {} }, 100), '{\n  "a": [\n    1,\n    "x"\n  ],\n  "b": {}\n}');
  check("outline of much", outline(Array(1e6).fill(7), 50).length < 60, true);
  check("fractions", [of(1, 2), of(0, 0), of(NaN, 1), of(Infinity, Infinity), of(1, Infinity), of(5, 1), of(-1, 1)], [0.5, 0, 0, 1, 0, 1, 0]);
  check("one side", renderComparison("only", "").textContent, "statedonly");
  check("two sides", [...renderComparison("sha256:ab", "sha256:cb").querySelectorAll("mark")].map((mark) => mark.textContent), ["a", "c"]);
  check("columns", columns("t", "d", [{ label: "a", values: [1, 1] }, { gap: true }, { label: "b", values: [0, 2] }], [{ tone: "solid" }, { tone: "hatched" }]).querySelectorAll("rect.column").length, 3);
  for (const [tag, attributes] of [["a", { href: "https://example.com/" }], ["a", { href: "javascript:alert(1)" }], ["p", { onclick: "x" }], ["p", { style: "x" }], ["img", { src: "x" }], ["iframe", { srcdoc: "x" }]]) {
    let refused = false;
    try {
      h(tag, attributes);
    } catch {
      refused = true;
    }
    check(`refused ${JSON.stringify(attributes)}`, refused, true);
  }
}

// drawn checks the labels and the bars of charts.
function drawn() {
  check("ticks", [0, 7, 0.1842, 12345, 1.1e9, 2.34e6, 5e12].map(tick), ["0", "7", "0.1842", "12,345", "1.1 billion", "2.34 million", "5 trillion"]);
  for (const counts of [[1, 1, 1000000], [1000000, 1, 1], [1, 0, 0], [5, 5, 5]]) {
    const rects = [...share("t", counts.map((count, i) => ({ name: String(i), tone: "", count }))).querySelectorAll(".fill")].map((rect) => ["x", "width"].map((name) => parseFloat(rect.getAttribute(name))));
    check(`share of ${counts}`, rects.every(([x, width], i) => x + width <= 100.01 && width >= 0.5 && (i === 0 || Math.abs(rects[i - 1][0] + rects[i - 1][1] - x) < 0.01)), true);
  }
}

// pictures checks the charts for many receipts: an unreported value must not appear as a number.
function pictures() {
  const none = { rows: [], names: 0, more: 0 }, sums = (cost, input, untold) => ({ entries: 1, cost: { USD: cost }, input_tokens: input, output_tokens: "0", untold });
  const nothing = { entries: 0, cost: {}, input_tokens: "0", output_tokens: "0", untold: 0 };
  const shown = attempt("pictures", () => renderPictures({ currencies: ["USD"], totals: { verified: { approvals: { approved: 2, denied: 1 } }, other: { approvals: {} } }, left_out: { untold: { approvals: 3 } },
    verdicts: { unit: "day", untimed: 1, bins: [{ from: "2026-04-25T00:00:00Z", empty: 0, verified: 3, refuted: 1, undecided: 2 }] },
    models: { rows: [{ provider: "p", model: "told", verified: sums("0.5", "1500", 0), other: nothing }, { provider: "p", model: "silent", verified: nothing, other: sums("0.25", "0", 1) },
      { provider: "", model: "free", verified: { ...sums("0", "7", 0), cost_untold: 1 }, other: nothing }, { provider: "p", model: "part", verified: { ...sums("1", "7", 0), entries: 2, cost_untold: 1 }, other: nothing },
      { provider: "p", model: "much", verified: { ...sums("2", "9", 0), over: 1, cost_over: 1 }, other: nothing }, { provider: "p", model: "either", verified: { ...sums("3", "8", 1), over: 1 }, other: nothing }], names: 25, more: 3 },
    keys: { rows: [{ name: "k", verified: 3, other: 0 }, { name: "", verified: 0, other: 2 }], names: 2, more: 0 }, paths: { rows: [{ name: "src/a.rs", verified: 9, other: 1 }], names: 30, more: 4 } }));
  const rows = (caption) => [...[...shown.querySelectorAll("table.bars")].find((table) => table.querySelector("caption").textContent === caption)?.querySelectorAll("tbody tr") ?? []].map((row) => `${row.querySelector("th").textContent}: ${row.querySelector(".number").textContent}`);
  check("verdicts", [shown.querySelectorAll(".wide rect.column").length, shown.querySelector(".wide tbody").textContent], [3, "2026-04-25321"]);
  check("untimed", shown.querySelector(".wide").textContent.includes("1 receipt without a recorded time that can be read is not drawn."), true);
  check("cost", rows("Cost by model, USD"), ["p told: 0.5", "p silent: 0 + 0.25 not verified", "provider not recorded free: not recorded", "p part: at least 1", "p much: at most 2", "p either: 3"]);
  check("tokens", rows("Input tokens by model"), ["p told: 1,500", "p silent: not recorded", "provider not recorded free: 7", "p part: 7", "p much: at most 9", "p either: reportedly 8"]);
  check("more models", [shown.textContent.split("… 19 more models").length, shown.textContent.split("3 entries of others").length], [4, 4]);
  check("keys", rows("Receipts a key"), ["k: 3", "no confirmed signature: 0 + 2 not verified"]);
  check("approvals", [...rows("Approvals by decision"), shown.textContent.includes("The sources of 3 receipts did not record all approvals.")], ["approved: 2", "denied: 1", "canceled: 0", "timed out: 0", true]);
  check("files", [...rows("Files most written"), shown.textContent.includes("… 29 more files"), shown.textContent.includes("4 entries of others")], ["src/a.rs: 9 + 1 not verified", true, true]);
  check("nothing", renderPictures({ verdicts: { unit: "day", bins: [] }, models: none, keys: none, paths: none, currencies: [], totals: { verified: {}, other: {} } }), null);
}

// overTime checks the notes below the charts. An estimated cost must not appear as billed, even if
// no receipt states a time and no chart is drawn.
function overTime() {
  const counts = { receipts: 2, cost: { USD: "3" }, approvals: {} }, bin = { start: "2026-04-25T19:00:00Z", empty: 0, verified: counts, other: {} };
  const below = (aggregate) => [...[].concat(attempt("over time", () => renderOverTime({ unit: "hour", currencies: ["USD"], totals: { verified: counts, other: {} }, ...aggregate })))].filter(Boolean).flatMap((shown) => [...shown.querySelectorAll("li")]).map((li) => li.textContent);
  const billed = "what was billed for 2 receipts, whose cost is an estimate of the source";
  check("estimates", below({ bins: [bin], left_out: { reckoned: 2 } }), [billed]);
  check("no estimates", below({ bins: [bin], left_out: { reckoned: 0 } }), []);
  check("no times", below({ bins: [], left_out: { time: 2, reckoned: 2 } }), ["2 receipts without a recorded time that can be drawn, though in the totals", billed]);
  check("no receipts", renderOverTime({ unit: "hour", currencies: [], totals: { verified: {}, other: {} }, bins: [], left_out: { hash: 2 } }), null);
}

// currencies checks sums in several currencies. If no receipt in a bin states a cost in a currency,
// there is no sum, not even 0.
function currencies() {
  const sums = (cost) => ({ receipts: 1, cost }), other = { receipts: 0, cost: {} };
  const shown = attempt("currencies", () => renderOverTime({ unit: "day", currencies: ["BHD", "JPY"], totals: { verified: sums({ BHD: "0.001", JPY: "300" }), other }, left_out: {},
    bins: [{ start: "2026-04-25T00:00:00Z", empty: 0, verified: sums({ BHD: "0.001" }), other }, { start: "2026-04-26T00:00:00Z", empty: 0, verified: sums({ BHD: "0", JPY: "300" }), other }] }));
  check("sums", [...shown.querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent).join(" ")), ["2026-04-25 1 0.001 –", "2026-04-26 1 0 300"]);
}

// hidden checks that invisible characters are escaped in the bytes of a receipt.
function hidden() {
  const bytes = (text) => new TextEncoder().encode(text);
  const source = '{"a": "\u202eevil\u2066\u200b\u061c\u{e0041}"}\n';
  for (const name of ["a file that is no object", "a receipt"]) {
    const document = { source: bytes(source), shell: "sha256sum" };
    if (name === "a receipt") Object.assign(document, { preimage: bytes(source), canonical: bytes(source), hash: "sha256:00" });
    const shown = [].concat(attempt(name, () => renderBytes(document, false)));
    const texts = shown.flatMap((element) => [...element.querySelectorAll("pre")]).map((pre) => pre.textContent).filter((text) => text !== "sha256sum");
    check(`texts of ${name}`, texts.length, name === "a receipt" ? 3 : 1);
    for (const text of texts) check(name, text, '{"a": "\\u202eevil\\u2066\\u200b\\u061c\\U000e0041"}\n');
  }
}

// summaries checks the views of many receipts.
function summaries(run) {
  const shown = attempt("summary", () => renderSummary(run.summary, run, run.aggregate));
  document.getElementById("place").append(shown);
  check("outcomes", [...shown.querySelectorAll(".outcomes b")].map((count) => count.textContent), ["verified", "refuted", "undecided"].map((name) => number(run.summary[name])));
  const entries = (summary) => summary.querySelectorAll(".of-refuted .findings > li .finding-head, .of-undecided .findings > li .finding-head");
  check("an entry each", [...entries(shown)].map((head) => head.querySelector("bdi").textContent), ["refuted", "undecided"].flatMap((verdict) => run.reports.filter((report) => report.verdict === verdict).map((report) => report.address)));
  const brief = attempt("brief", () => renderSummary(run.summary, { ...run, brief: true }, null));
  check("brief", entries(brief).length < entries(shown).length, true);
  check("brief, but all", run.reports.every((report) => brief.textContent.includes(report.address)), true);
  check("streams", shown.querySelectorAll(".streams tbody tr").length, run.summary.streams.length);
  check("charts", shown.querySelectorAll(".measure").length > 3, true);
  check("named", [...shown.querySelectorAll("svg[role=img]")].every((chart) => chart.querySelector("title")?.textContent && chart.querySelector("desc")?.textContent), true);
  check("not green", shown.querySelectorAll(".headlines.good").length, 0);
  const intact = attempt("intact", () => renderSummary({ ...run.summary, verdict: "verified", scope: "integrity" }, [], null));
  check("integrity alone", [intact.querySelectorAll(".good").length, intact.querySelector(".verdict strong")?.textContent], [0, "Intact"]);
  const good = attempt("good", () => renderSummary({ ...run.summary, verdict: "verified", scope: "full" }, [], null));
  check("good", good.querySelector(".verdict strong")?.textContent, "Verified");
}

// fixtures renders each fixture, and checks the displayed text.
function fixtures(cases) {
  for (const { file, verdict, report, receipt, headline } of cases) {
    const shown = attempt(file, () => h("div", {}, renderHeadlines(report, null, receipt, headline), renderSteps(report), renderReceipt(receipt, report)));
    document.getElementById("place").append(shown);
    if (headline) check(`${file}: sentence`, shown.querySelector(".sentence").textContent, visible(headline.sentence.join("")));
    if (headline) check(`${file}: title`, shown.querySelector(".title")?.textContent ?? "", visible((headline.title ?? []).join("")));
    if (headline) check(`${file}: rows`, [...shown.querySelectorAll(".described dt, .described dd")].map((part) => part.textContent), headline.rows.flatMap(({ label, text }) => [...(label === "" ? [] : [label]), visible(text.join(""))]));
    const [content, signer] = [...shown.querySelectorAll(".headline h2")].map((title) => title.textContent);
    const greens = shown.querySelectorAll(".headline.good").length;
    check(`${file}: verdict`, shown.querySelector(".verdict strong")?.textContent.toLowerCase(), verdict);
    check(`${file}: green`, greens, verdict === "verified" ? 2 : 0);
    check(`${file}: headlines`, ["Unchanged", "Matches its own hash", "Changed", "Not readable"].includes(content) && ["Signer confirmed", "Signer not confirmed", "Signature forged"].includes(signer), true);
    check(`${file}: nobody vouches`, signer !== "Signer confirmed" && content === "Unchanged", false);
    if (verdict === "verified") check(`${file}: told`, [content, signer], ["Unchanged", "Signer confirmed"]);
    const told = shown.querySelector(".headlines").textContent;
    check(`${file}: names, not codes`, report.checks.map((one) => one.code).filter((code) => (code.includes("_") || code === "syntax") && told.includes(code)), []);
    check(`${file}: order`, [...shown.querySelectorAll(".question > h2")].map((title) => title.textContent).filter((title, i, all) => all.indexOf(title) !== i || !["Who", "What", "When", "Can I rely on it?"].includes(title)), []);
    check(`${file}: cause`, (causeOf(report) === "") === (verdict === "verified"), true);
    const codes = report.checks.filter((one) => one.status === "failed").map((one) => one.code);
    if (codes.includes("hash_mismatch")) check(`${file}: told`, content, "Changed");
    if (codes.includes("signature_invalid")) check(`${file}: told`, signer, "Signature forged");
    check(`${file}: steps`, shown.querySelectorAll("li.step").length, 7);
    check(`${file}: raw text`, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(shown.textContent), false);
    check(`${file}: bounds`, shown.textContent.length < 400000, true);
    const alone = attempt(file, () => renderHeadlines({ ...report, scope: "integrity" }, null));
    check(`${file}: integrity alone is no proof`, alone.textContent.includes("Unchanged") || alone.textContent.includes("Nobody changed it"), false);
    check(`${file}: integrity alone`, [alone.querySelectorAll(".good").length, /verified|confirmed$/i.test(alone.querySelector(".verdict strong")?.textContent)], [0, false]);
  }
}

// absences checks the entries of a receipt whose source records little. No placeholder may appear as
// a statement, and bounds and estimates must be named. Package headline tests the rows.
function absences(whole) {
  const unreported = ["/lifecycle/completed_at", "/identifiers/workspace_ref", "/trust", "/approvals", "/final_artifacts", "/issued_at", "/side_effects/network_egress", "/side_effects/network_egress/0", "/side_effects/network_egress/0/bytes_sent",
    "/side_effects/fs_writes", "/side_effects/fs_writes/0/operation", "/side_effects/tool_calls/0/status", ...["provider", "amount", "input_tokens", "output_tokens"].map((name) => `/cost/provider_breakdown/0/${name}`)];
  const receipt = { ...whole, issued_at: "1970-01-01T00:00:00Z", lifecycle: { started_at: "1970-01-01T00:00:00Z", completed_at: "1970-01-01T00:00:00Z", final_state: "FAILED", failure: null }, trust: { start_tier: "shadow", end_tier: "shadow" },
    identifiers: { task_id: "t", workspace_ref: "placeholder" }, approvals: [], final_artifacts: [], metadata: { unreported, at_most: ["/side_effects/network_egress/1/bytes_sent"], estimated: ["/cost/provider_breakdown/1/amount"] },
    cost: { total: 1, currency: "USD", provider_breakdown: [{ provider: "placeholder", model: "m", amount: 0, input_tokens: 500, output_tokens: 0 }, { provider: "p", model: "m", amount: 2 }] },
    side_effects: { fs_writes: [{ path: "a", operation: "modify" }], network_egress: [{ destination: "example.net", purpose: "fetch", bytes_sent: 7 }, { destination: "b", bytes_sent: 9 }, null], tool_calls: [{ tool: "t", status: "canceled" }], a2a_handoffs: [] } };
  const before = JSON.stringify(receipt), shown = attempt("little", () => renderReceipt(receipt, null));
  check("left alone", JSON.stringify(receipt), before);
  for (const details of shown.querySelectorAll("details")) details.remove();
  const page = shown.textContent, answer = attempt("little answer", () => renderHeadlines({ verdict: "verified", scope: "full", signatures: [] }, null, receipt)).textContent;
  for (const part of ["1970", "shadow", "placeholder", "modify", "canceled"]) check(`shown: ${part}`, [page.includes(part), answer.includes(part)], [false, false]);
  for (const part of ["Approvals not recorded", "Artifacts not recorded", "Handoffs to other agents none", "Network requests (at least 3)", "example.netnot recorded whether this happenedfetchat least 7", "at most 9", "2 (estimated)", "not recordedmnot recordedat least 500not recorded", "/lifecycle/completed_at"]) {
    check(`entries: ${part}`, page.includes(part), true);
  }
  for (const part of ["Undated", "The end of the task is not recorded."]) check(`answer: ${part}`, answer.includes(part), true);
}

function wrong() {
  let deep = [];
  for (let i = 0; i < 10000; i++) deep = [deep];
  return [null, true, -1, 1e308, NaN, "", "x".repeat(100000), "\u202e<script>pwned = 1</script>", [], [null, 7, "x", []], {}, JSON.parse('{"__proto__": {"x": 1}, "constructor": 1}'), deep, Array(2000).fill({}), undefined];
}

// hostile puts wrong values in each place of a receipt, a report, a summary, and an aggregate.
function hostile(receipt, report, run) {
  each("receipt", receipt, (damaged) => renderReceipt(damaged, report));
  each("headline", { title: ["a"], sentence: ["", "a"], rows: [{ label: "a", text: ["", "b"] }] }, (damaged) => renderHeadlines(report, null, receipt, damaged));
  each("report", report, (damaged, value) => h("div", {}, renderHeadlines(damaged, [value]), renderSteps(damaged), renderSummary(damaged, { reports: [damaged, damaged], more: value, brief: value === true }, value)));
  each("summary", run.summary, (damaged) => renderSummary(damaged, [], run.aggregate));
  each("aggregate", run.aggregate, (damaged) => renderSummary(run.summary, [], damaged));
  for (const value of wrong()) attempt("whole", () => h("div", {}, words(value), renderReceipt(value, value), renderHeadlines(value, value, value, value), renderSteps(value), renderSummary(value, value, value)));
}

// each tries a third of the wrong values in each place, so each value is tried in a third of the
// places. Trying all values would take a minute.
function each(name, whole, render) {
  const values = wrong();
  places(whole).forEach((place, p) => values.forEach((value, i) => {
    if ((i + p) % 3 > 0) return;
    const shown = attempt(`${name} ${place} = ${i}`, () => render(changed(whole, place, value), value));
    check(`${name} ${place} = ${i}: bounds`, shown.textContent.length < 300000 && shown.querySelectorAll("*").length < 10000, true);
  }));
}

function places(value, path = []) {
  if (typeof value !== "object" || value === null) return [path];
  if (path[0] === "metadata") return path.length === 1 ? [path, ["metadata", "unreported"], ["metadata", "at_most"]] : [path]; // whose other members nothing looks at
  return [path, ...Object.keys(value).flatMap((name) => places(value[name], [...path, name]))].filter((place) => place.length > 0);
}

function changed(value, [name, ...rest], put) {
  const copy = Array.isArray(value) ? [...value] : { ...value };
  copy[name] = rest.length > 0 ? changed(value[name], rest, put) : put;
  return copy;
}

try {
  const data = JSON.parse(document.getElementById("data").textContent);
  texts();
  hidden();
  fixtures(data.cases);
  summaries(data.run);
  const full = data.cases.find((one) => one.file === "valid/full.json");
  drawn();
  pictures();
  currencies();
  overTime();
  absences(full.receipt);
  hostile(full.receipt, full.report, data.run);
  check("nothing ran", [globalThis.pwned, document.scripts.length], [undefined, 2]);
} catch (error) {
  failures.push(error.stack);
}
document.getElementById("place").replaceChildren();
document.getElementById("failures").textContent = failures.slice(0, 20).join("\n");
document.getElementById("done").textContent = `${done} done, ${failures.length} failures`;
