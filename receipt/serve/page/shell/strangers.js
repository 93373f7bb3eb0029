// This module displays files that are not receipts, with a description and advice for each file.
// Such files get no verdict.
import { foreign, h, icon } from "../view/dom.js";

// renderStrangers displays a selection of files that contains no receipt.
export function renderStrangers(strangers) {
  return h("div", { class: "strangers" }, strangers.slice(0, 50).map(renderStranger), strangers.length > 50 && h("p", { class: "rest" }, `… ${strangers.length - 50} more files`));
}

function renderStranger({ name, what, next }) {
  return h("section", { class: "stranger", "aria-label": "not a receipt" },
    h("p", { class: "about" }, h("strong", {}, foreign(name, 160))),
    h("h2", {}, icon("none"), "Not a receipt"),
    h("p", { class: "lead" }, `This is ${what}. Nothing was verified.`),
    h("p", {}, h("strong", {}, "What to do: "), next.slice(0, 1).toUpperCase() + next.slice(1), "."));
}
