// This module provides the form with the filters.
import { h } from "../../../../../receipt/serve/page/view/dom.js";
import { cut, number } from "../../../../../receipt/serve/page/view/text.js";
import { nameOf } from "./lanes.js";
import { facets } from "./table.js";

const most = 500; // values of a filter that are listed

export class Filters {
  constructor(table, changed) {
    this.fields = new Map([["text", h("input", { type: "search", autocomplete: "off", spellcheck: "false" })]]);
    const labels = [["text", "Text"]];
    for (const [name, label] of facets) {
      const field = choices(table, name);
      if (!field) continue;
      this.fields.set(name, field);
      labels.push([name, label]);
    }
    if (table.times.some((time) => !Number.isNaN(time))) {
      for (const [name, label] of [["from", "From (UTC)"], ["to", "To (UTC)"]]) {
        this.fields.set(name, h("input", { type: "date" }));
        labels.push([name, label]);
      }
    }
    const clear = h("button", { type: "reset" }, "Clear");
    this.element = h("form", { class: "filters", role: "search", "aria-label": "filters" },
      labels.map(([name, label]) => h("label", { class: name }, h("span", {}, label), this.fields.get(name))), clear);
    this.element.addEventListener("submit", (event) => event.preventDefault());
    this.element.addEventListener("input", () => changed());
    this.element.addEventListener("reset", () => setTimeout(changed));
  }

  // query returns the filters that are set. The value of a selection field is preceded by "=",
  // because it may be empty.
  query() {
    const query = new URLSearchParams();
    for (const [name, field] of this.fields) {
      if (field.value !== "") query.set(name, field.tagName === "SELECT" ? values.get(field.selectedOptions[0]) : field.value);
    }
    return query;
  }

  // set fills in the form according to a query.
  set(query) {
    for (const [name, field] of this.fields) {
      if (field.tagName !== "SELECT") field.value = query.get(name) ?? "";
      else this.choose(name, query.has(name) ? query.get(name) : undefined);
    }
  }

  // choose selects a value, and adds it to the form if the form does not list it.
  choose(name, value) {
    const field = this.fields.get(name);
    if (!field) return;
    let at = [...field.options].findIndex((one) => values.get(one) === value);
    if (at < 0) at = field.append(option(name, value)) ?? field.options.length - 1;
    field.selectedIndex = at;
  }
}

const values = new WeakMap(); // of options: their texts may be cut

function option(name, value, count) {
  const shown = value === "" ? "(none)" : name === "stream" ? nameOf(value) : value, { text, more } = cut(shown, 80);
  const element = h("option", { value: "x" }, text, more > 0 && "…", count !== undefined && ` (${number(count)})`);
  values.set(element, value);
  return element;
}

// choices returns the selection field for a column, with the most frequent values. It returns null
// if there is only one value.
function choices(table, name) {
  const column = table.columns.get(name), counts = new Uint32Array(column.values.length);
  if (counts.length < 2) return null;
  for (const index of column.at) counts[index]++;
  const order = [...counts.keys()].sort((a, b) => counts[b] - counts[a]), left = order.length - most;
  const all = h("option", { value: "" }, left > 0 ? `Any (${number(most)} of ${number(order.length)} listed)` : "Any");
  values.set(all, undefined);
  return h("select", {}, all, order.slice(0, most).map((index) => option(name, column.values[index], counts[index])));
}
