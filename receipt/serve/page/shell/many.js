// The outcome for many receipts: the summary, and the findings page by page.
import { h } from "../view/dom.js";
import { renderSummary } from "../view/summary.js";
import { number } from "../view/text.js";
import { button } from "./download.js";
import { renderTrusted } from "./trusted.js";

const page = 50; // findings

// renderMany shows a run. open is called with a report whose receipt somebody
// wants to see.
export function renderMany({ run, names, actions, open, from = 0 }) {
  const { summary, findings, aggregate, keys } = run;
  const shown = findings.slice(from, from + page);
  const rest = (verdict) => summary[verdict] - shown.filter((report) => report.verdict === verdict).length;
  const rendered = renderSummary(summary, { reports: shown, more: { refuted: rest("refuted"), undecided: rest("undecided") }, names }, aggregate);
  for (const verdict of ["refuted", "undecided"]) {
    const reports = shown.filter((report) => report.verdict === verdict);
    rendered.querySelectorAll(`.of-${verdict} .findings > li .finding-head`).forEach((head, i) => {
      head.append(button("Open", () => open(reports[i]), { class: "small", "aria-label": `Open ${reports[i].source}, ${reports[i].index}` }));
    });
  }
  const place = h("div", { class: "many" }, rendered, renderTrusted(keys));
  rendered.querySelector(".headlines")?.after(actions);
  if (findings.length > page) rendered.querySelector(".streams, .over-time, .not-checked, .basis")?.before(pager());
  return place;

  function pager() {
    const turn = (to) => {
      const next = renderMany({ run, names, actions, open, from: to });
      place.replaceWith(next);
      next.querySelector(".pager button:not([disabled])")?.focus();
    };
    const earlier = button("Earlier findings", () => turn(from - page)), later = button("Later findings", () => turn(from + page));
    earlier.disabled = from === 0;
    later.disabled = from + page >= findings.length;
    return h("nav", { class: "pager", "aria-label": "findings" }, earlier, h("span", {}, `${number(from + 1)} to ${number(Math.min(from + page, findings.length))} of ${number(summary.refuted + summary.undecided)}`), later);
  }
}
