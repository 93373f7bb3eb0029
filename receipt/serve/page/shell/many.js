// This module displays the outcome for many receipts: the totals, each receipt with its verdict,
// and the findings page by page.
import { causeOf } from "../view/answer.js";
import { foreign, h, icon, section } from "../view/dom.js";
import { renderSummary } from "../view/summary.js";
import { number } from "../view/text.js";
import { verdictOf } from "../view/verdict.js";
import { button } from "./download.js";
import { most } from "./lines.js";
import { renderTrusted } from "./trusted.js";

const page = 50; // findings

// renderMany displays a run. When the user opens a receipt, the function open is called with the
// report on that receipt.
export function renderMany({ run, actions, open, from = 0 }) {
  const { summary, findings, aggregate, keys, given } = run;
  const shown = findings.slice(from, from + page);
  const rest = (verdict) => summary[verdict] - shown.filter((report) => report.verdict === verdict).length;
  const names = [...given.receipts, ...given.strangers].map((input) => input.name);
  const rendered = renderSummary(summary, { reports: shown, more: { refuted: rest("refuted"), undecided: rest("undecided") }, names }, aggregate);
  for (const verdict of ["refuted", "undecided"]) {
    const reports = shown.filter((report) => report.verdict === verdict);
    rendered.querySelectorAll(`.of-${verdict} .findings > li .finding-head`).forEach((head, i) => {
      head.append(button("Open", () => open(reports[i]), { class: "small", "aria-label": `Open ${reports[i].source}, ${reports[i].index}` }));
    });
  }
  const place = h("div", { class: "many" }, rendered, renderTrusted(keys));
  const each = renderEach(run, open);
  rendered.querySelector(".headlines")?.after(...[actions, each].filter(Boolean));
  if (findings.length > page) rendered.querySelector(".streams, .over-time, .not-checked, .basis")?.before(pager());
  return place;

  function pager() {
    const turn = (to) => {
      const next = renderMany({ run, actions, open, from: to });
      place.replaceWith(next);
      next.querySelector(".pager button:not([disabled])")?.focus();
    };
    const earlier = button("Earlier findings", () => turn(from - page)), later = button("Later findings", () => turn(from + page));
    earlier.disabled = from === 0;
    later.disabled = from + page >= findings.length;
    return h("nav", { class: "pager", "aria-label": "findings" }, earlier, h("span", {}, `${number(from + 1)} to ${number(Math.min(from + page, findings.length))} of ${number(summary.refuted + summary.undecided)}`), later);
  }
}

// renderEach lists each file that was added, or each receipt in a single file, with its verdict. It
// returns null if there are too many to list.
function renderEach({ summary, reports, given }, open) {
  if (summary.receipts > most) return null;
  const single = given.beside.filter((one) => one.kind === "proof").length;
  return section("each", "Each receipt",
    single > 0 && h("p", { class: "aside" }, `A proof is for one receipt, and is checked when you open that receipt: ${number(single)} ${single === 1 ? "file was" : "files were"} given.`),
    h("ul", { class: "verdicts" },
      reports.map((report) => renderRow(report, given.receipts.length, open)),
      given.strangers.slice(0, most).map(({ name, what, next }) => h("li", { class: "none" }, icon("none"), h("strong", {}, "Not a receipt"), h("span", { class: "name" }, foreign(name, 160)), h("span", { class: "aside" }, `${what}: ${next}`)))));
}

function renderRow(report, files, open) {
  const { word, tone } = verdictOf(report), cause = causeOf(report);
  const place = report.index > 1 || files === 1 ? `, number ${number(report.index)}` : "";
  const name = button("", () => open(report), { class: "link", "aria-label": `Open ${report.source}${place}: ${word}` });
  name.append(foreign(report.source, 160), place);
  return h("li", { class: tone }, icon(tone), h("strong", {}, word), h("span", { class: "name" }, name), h("span", { class: "aside" }, [cause, report.receipt_id].filter(Boolean).map((part, i) => [i > 0 ? " · " : "", foreign(part, 120)])));
}
