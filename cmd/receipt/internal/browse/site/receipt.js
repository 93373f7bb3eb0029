// This module displays the page of one receipt, with the views of the verification page.
import { renderHeadlines } from "../../../../../receipt/serve/page/view/answer.js";
import { foreign, h } from "../../../../../receipt/serve/page/view/dom.js";
import { isObject } from "../../../../../receipt/serve/page/view/json.js";
import { renderFolded } from "../../../../../receipt/serve/page/view/receipt.js";
import { renderSteps } from "../../../../../receipt/serve/page/view/verdict.js";
import { load } from "./data.js";
import { nameOf } from "./lanes.js";

// renderPage returns the page of the receipt in a row.
export async function renderPage(table, row, size, keys, back) {
  const name = `receipts-${Math.floor(row / size)}`, entry = (await load(name))[row % size];
  const { report, receipt, headline } = entry, content = isObject(receipt);
  return h("article", { class: "page" },
    h("h2", { class: "part", tabindex: -1 }, "Receipt ", foreign(table.ids[row] || entry.address)),
    neighbors(table, row, back),
    entry.withheld === true && h("p", { class: "caution" }, "The content is not shown, because it may contain a secret. To read it, use receipt show."),
    renderHeadlines(report, keys, receipt, headline), renderSteps(report), content && renderFolded(receipt, report));
}

// neighbors returns links to the list, and to the previous and the next receipt in the stream.
function neighbors(table, row, back) {
  const { values, at } = table.columns.get("stream"), near = (step) => {
    if (values[at[row]] === "") return -1;
    for (let i = row + step; i >= 0 && i < table.count; i += step) if (at[i] === at[row]) return i;
    return -1;
  };
  const before = near(-1), after = near(1);
  return h("nav", { "aria-label": "receipts" }, h("a", { href: back }, "All receipts"),
    before >= 0 && h("a", { href: table.address(before) }, "Previous in stream"), after >= 0 && h("a", { href: table.address(after) }, "Next in stream"),
    values[at[row]] !== "" && h("span", { class: "place" }, "Stream ", foreign(nameOf(values[at[row]]), 200)));
}
