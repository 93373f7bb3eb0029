// This module displays a summary of many receipts: its verdict, totals, streams, refuted and
// undecided receipts, missing checks, and the statements of the receipts over time.
import { causeOf, renderKeys } from "./answer.js";
import { share } from "./charts.js";
import { renderOverTime } from "./overtime.js";
import { renderPictures } from "./pictures.js";
import { facts, foreign, h, icon, mono, section, table } from "./dom.js";
import { isObject, list, member, text } from "./json.js";
import { clock, duration, instant, number, plural, visible } from "./text.js";
import { finding, notes, renderCheck, renderStrip, verdictOf } from "./verdict.js";
import { causeName } from "./words.js";

// renderSummary displays a summary in the form in which the command writes it. The findings are the
// reports of refuted and undecided receipts, as a list or, if there are more of them, as {reports,
// more: {refuted, undecided}, groups, brief, names}. There, names are the names of the files, and
// groups are the groups that the audit report counts. The aggregate contains sums over time, or is
// null. Each finding has its own entry, in the order of the reports if all are displayed. If brief
// is set, similar findings are displayed together, which is suitable for paper.
export function renderSummary(summary, findings, aggregate) {
  const reports = (Array.isArray(findings) ? findings : list(member(findings, "reports"))).filter(isObject);
  const more = (verdict) => count(member(findings, "more"), verdict), brief = member(findings, "brief") === true, groups = member(findings, "groups");
  return h("article", { class: "summary" },
    renderTotals(summary, list(member(findings, "names"))),
    isObject(aggregate) && renderPictures(aggregate),
    renderWhole(list(member(summary, "findings"))),
    renderFindings("refuted", "Refuted receipts", reports, more("refuted"), brief, groups),
    renderFindings("undecided", "Undecided receipts", reports, more("undecided"), brief, groups),
    renderStreams(summary),
    isObject(aggregate) && renderOverTime(aggregate),
    notes("not-checked", "Not checked for the entire input", list(member(summary, "not_checked"))),
    renderBasis(summary));
}

const sayings = new Map([
  ["Verified", "Every receipt was verified: it is unchanged, and its issuer vouches for it."],
  ["Intact", "Every receipt matches its own hash. No signature was checked, so their authors are unknown."],
  ["Refuted", "Do not rely on the input as a whole: at least one receipt is refuted."],
  ["Undecided", "Nothing is refuted, but some requirements could not be checked."],
]);

// contradicted is displayed if the input is refuted although no single receipt is.
const contradicted = "Do not rely on the input as a whole: no single receipt is refuted, but together they contradict the evidence that was given.";

function count(summary, name) {
  const value = member(summary, name);
  return typeof value === "number" ? value : 0;
}

function renderTotals(summary, names) {
  const { word, tone } = verdictOf(summary), full = member(summary, "scope") === "full";
  const parts = [
    { name: full ? "verified" : "intact", tone: full ? "good" : "open", count: count(summary, "verified") },
    { name: "refuted", tone: "bad", count: count(summary, "refuted") },
    { name: "undecided", tone: "open", count: count(summary, "undecided") },
  ];
  return h("section", { class: `headlines ${tone}`, "aria-label": "verdict for the entire input" },
    names.length > 0 && h("p", { class: "about" }, names.slice(0, 3).map((name, i) => [i > 0 ? ", " : "", h("strong", {}, foreign(name, 160))]), names.length > 3 && ` and ${plural(names.length - 3, "more file")}`),
    h("p", { class: `verdict ${tone}` }, icon(tone), h("strong", {}, word), " ", h("span", {}, word === "Refuted" && count(summary, "refuted") === 0 ? contradicted : sayings.get(word))),
    h("p", { class: "of" }, `${plural(count(summary, "receipts"), "receipt")} judged`, count(summary, "copies") > 0 && `, ${number(count(summary, "copies"))} further copies`,
      member(summary, "partial") === true && ", as a selection: receipts between them may be missing"),
    h("ul", { class: "outcomes" }, parts.map((part) => h("li", { class: part.count > 0 ? part.tone : "none" }, h("b", {}, number(part.count)), h("span", {}, icon(part.count > 0 ? part.tone : "none"), part.name)))),
    share("outcomes of all receipts", parts),
    member(summary, "complete") !== true && h("p", { class: "caution open" }, icon("open"), "Not everything was read to its end, so the result is incomplete."),
    renderCodes(member(summary, "codes")));
}

function renderCodes(codes) {
  if (!isObject(codes)) return null;
  const entries = Object.entries(codes).filter(([, found]) => typeof found === "number" && found > 0).sort((a, b) => b[1] - a[1]);
  if (entries.length === 0) return null;
  return h("ul", { class: "codes", "aria-label": "reasons" }, entries.slice(0, 50).map(([code, found]) => h("li", {}, h("span", { class: "reason" }, named(code)), ` ${number(found)}`)));
}

// named returns a code in words, or the code itself if this page does not know it.
function named(code) {
  const words = causeName({ code });
  return words === causeName(undefined) ? foreign(code, 80) : words;
}

// renderWhole displays the findings that refute the input as a whole.
function renderWhole(entries) {
  if (entries.length === 0) return null;
  return section("whole-findings", "Findings about the entire input", h("ul", { class: "findings" }, entries.slice(0, 100).map((entry) => h("li", { class: "bad" },
    h("div", { class: "finding-head" }, icon("bad"), text(member(entry, "source")) ? mono(entry.source) : h("span", {}, "entire input"), isObject(member(entry, "stream")) && h("span", { class: "aside" }, "stream ", stream(entry.stream))),
    renderCheck({ ...entry, pointer: "" })))),
    entries.length > 100 && h("p", { class: "rest" }, `… ${number(entries.length - 100)} more`));
}

// shown is the maximum number of findings with an entry, and of streams with a row.
const shown = 200;

function renderFindings(verdict, title, reports, more, brief, groups) {
  const all = reports.filter((report) => report.verdict === verdict), found = brief || all.length <= shown ? all : shared(all);
  if (found.length + more === 0) return null;
  return section(`of-${verdict}`, `${title} (${more > 0 ? `${number(found.length)} of ` : ""}${number(found.length + more)})`,
    renderGroups(list(member(groups, verdict)), count(groups, `${verdict}_count`)),
    verdict === "refuted" && more === 0 && found.every((report) => absent.has(member(finding(report), "cause"))) && h("p", { class: "hint" },
      h("strong", {}, "Hint: "), "the predecessors of these receipts are not in the input. If this is one part of a set, verify all parts together, or as a selection (--partial)."),
    brief ? (verdict === "refuted" ? renderRefuted(found) : renderUndecided(found))
      : h("ul", { class: "findings" }, found.slice(0, shown).map((report) => renderFinding(report, verdict === "refuted" ? "bad" : "open"))),
    more > 0 && h("p", { class: "rest" }, `… ${number(more)} more, which are not listed here; the JSON report lists all`));
}

const absent = new Set(["predecessor_missing", "predecessor_other"]);

// shared reorders reports: the first receipt of each directory, cause, and key comes first, then
// the second receipt of each, and so on. The displayed part therefore covers as many groups as
// possible.
function shared(reports) {
  const seen = new Map(), rank = new Map();
  for (const report of reports) {
    const why = finding(report), path = text(report.source);
    const key = JSON.stringify([path.slice(0, path.lastIndexOf("/") + 1), member(why, "code"), member(why, "cause"), member(list(member(report, "signatures"))[0], "key_id")]);
    seen.set(key, (seen.get(key) ?? 0) + 1);
    rank.set(report, seen.get(key));
  }
  return [...reports].sort((a, b) => rank.get(a) - rank.get(b));
}

// renderGroups displays the number of receipts in each group.
function renderGroups(groups, total) {
  if (groups.length === 0) return null;
  return h("div", { class: "groups" }, table("By cause, directory, issuer, workspace, and key", [{ name: "receipts", kind: "number" }, "cause", { name: "directory", kind: "path" }, "issuer", "workspace", "key"], groups, (group) => [
    number(count(group, "count")), member(group, "others") === true ? "of other groups" : causeName(group),
    ...["directory", "issuer", "workspace", "key"].map((name) => foreign(text(member(group, name)), 160))], 100, total));
}

// detailed is the number of refuted receipts that are displayed with all details. Further refuted
// receipts have one row each.
const detailed = 20;

function renderRefuted(found) {
  return [
    h("ul", { class: "findings" }, found.slice(0, detailed).map((report) => renderFinding(report, "bad"))),
    found.length > detailed && table("More of them", [{ name: "receipt", kind: "path" }, { name: "code", kind: "word" }, "what"], found.slice(detailed), (report) => {
      const why = finding(report) ?? {};
      return [mono(address(report), 160), h("code", { class: "reason" }, foreign(why.code)), [text(why.pointer) && ["at ", mono(why.pointer, 160), ": "], foreign(why.detail ?? "")]];
    }, 200),
  ];
}

// renderUndecided groups receipts that lack the same evidence.
function renderUndecided(found) {
  const groups = new Map();
  for (const report of found) {
    const why = finding(report) ?? {}, key = JSON.stringify([why.code, why.detail]);
    groups.set(key, [...(groups.get(key) ?? []), report]);
  }
  return h("ul", { class: "findings" }, [...groups.values()].map((reports) => (reports.length === 1 ? renderFinding(reports[0], "open") : h("li", { class: "open" },
    h("div", { class: "finding-head" }, icon("open"), plural(reports.length, "receipt")),
    renderCheck({ ...finding(reports[0]), pointer: "" }),
    h("ul", { class: "addresses" }, reports.map((report) => h("li", {}, mono(address(report), 160))))))));
}

function renderFinding(report, tone) {
  const failed = list(member(report, "checks")).filter((check) => member(check, "status") === "failed");
  const why = tone === "bad" && failed.length > 0 ? failed : [finding(report)].filter(Boolean);
  const id = visible(`receipt-${text(report.receipt_id) || address(report)}`);
  return h("li", { class: tone, id },
    h("div", { class: "finding-head" }, icon(tone), h("a", { href: `#${encodeURIComponent(id)}`, title: "address of this entry" }, mono(address(report), 160)), text(report.receipt_id) && h("span", { class: "aside" }, "receipt ", mono(report.receipt_id, 160)), h("span", { class: "reason" }, causeOf(report))),
    why.slice(0, 5).map((check) => renderCheck(check)),
    why.length > 5 && h("p", { class: "rest" }, `… ${why.length - 5} more`),
    renderStrip(report));
}

// address returns the address of a receipt in the form that the command uses if a source contains
// several receipts.
function address(report) {
  return text(report.address) || text(report.source) + (report.index > 1 || report.listed === true ? `:${report.index}` : "");
}

// stream displays the name of a stream: the issuer, the tenant, and the workspace.
function stream(value) {
  const tenant = member(value, "tenant");
  return h("span", { class: "stream" }, mono(member(value, "issuer"), 120), tenant === null || tenant === undefined ? "" : [" / ", mono(tenant, 120)], " / ", mono(member(value, "workspace"), 120));
}

function renderStreams(summary) {
  const given = list(member(summary, "streams")), total = Math.max(count(summary, "streams_count"), given.length);
  if (given.length === 0) return null;
  const streams = [...given].sort((a, b) => count(b, "failures") - count(a, "failures"));
  return section("streams", `Streams and their heads (${shown < total ? `${number(Math.min(shown, given.length))} of ` : ""}${number(total)})`, table("A head is the hash of the last receipt: keep it to notice a later rollback", [{ name: "stream", kind: "path" }, { name: "receipts", kind: "number" }, { name: "begins behind", kind: "code" }, { name: "head", kind: "code" }, { name: "breaks", kind: "number" }], streams, (entry) => [
    stream(member(entry, "stream")), number(count(entry, "count")),
    member(entry, "first_previous") === null ? "nothing: its first receipt is in the input" : mono(member(entry, "first_previous")),
    mono(member(entry, "head")), count(entry, "failures") > 0 ? h("strong", { class: "bad" }, number(count(entry, "failures"))) : "0"], shown, total));
}

// renderBasis displays the basis of the summary: keys, inputs, tool, and times.
function renderBasis(summary) {
  const skipped = list(member(summary, "skipped")), unreadable = list(member(summary, "inputs", "unreadable"));
  const unread = Math.max(count(member(summary, "inputs"), "unreadable_count"), unreadable.length), passed = Math.max(count(summary, "skipped_count"), skipped.length);
  const started = instant(member(summary, "started")), finished = instant(member(summary, "finished"));
  return section("basis", "Basis of this result",
    renderKeys(member(summary, "keys") ?? null),
    facts([
      ["inputs", `${plural(count(member(summary, "inputs"), "files"), "file")}, ${number(count(member(summary, "inputs"), "bytes"))} bytes`],
      ["scope", member(summary, "scope") === "full" ? "integrity and signers" : "integrity only: signatures were not checked"],
      ["created by", member(summary, "tool") ? foreign(summary.tool) : undefined],
      ["started", Number.isNaN(started) ? undefined : `${clock(started)} UTC`],
      ["finished", Number.isNaN(finished) ? undefined : `${clock(finished)} UTC${finished >= started ? `, after ${duration(finished - started)}` : ""}`],
    ]),
    unreadable.length > 0 && table(`Could not be read (${number(unread)})`, ["input", "why"], unreadable, (entry) => [mono(member(entry, "source")), foreign(member(entry, "detail"))], 50, unread),
    skipped.length > 0 && table(`Skipped (${number(passed)})`, ["input", "why"], skipped, (entry) => [mono(member(entry, "source")), foreign(member(entry, "detail"))], 50, passed));
}

