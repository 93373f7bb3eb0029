// This module provides the filter box of the printed report.
import { h } from "./dom.js";
import { number } from "./text.js";

// The entries that the box can hide: findings, rows about single receipts, and streams.
const filtered = ".findings > li, .addresses > li, .of-refuted > table > tbody > tr, .streams > table > tbody > tr";

// renderFilter returns a box that hides the entries of a report that lack any word in the box. The
// status below it states the number of shown entries, and of receipts that the file omits.
export function renderFilter(root, omitted) {
  const entries = [...root.querySelectorAll(filtered)].filter((entry) => !entry.querySelector(".addresses"));
  if (entries.length < 2) return null;
  const field = h("input", { type: "search", autocomplete: "off", spellcheck: "false" }), status = h("p", { role: "status", class: "rest" });
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    let shown = 0;
    for (const entry of entries) {
      entry.hidden = !words.every((word) => entry.textContent.toLowerCase().includes(word));
      if (!entry.hidden) shown++;
    }
    for (const group of root.querySelectorAll(".findings > li:has(.addresses)")) group.hidden = !group.querySelector(".addresses > li:not([hidden])");
    status.textContent = `${number(shown)} of ${number(entries.length)} entries shown` + (omitted > 0 ? `; ${number(omitted)} receipts are not listed in this file` : "");
  };
  field.addEventListener("input", filter);
  filter();
  return h("form", { class: "filter screen-only", role: "search" }, h("label", {}, "Filter the entries below ", field), status);
}
