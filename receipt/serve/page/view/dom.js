// This module creates elements from data. All text is added as text nodes, with invisible
// characters escaped. Markup is never parsed.
import { cut, visible } from "./text.js";
import { outline } from "./json.js";

const svgNamespace = "http://www.w3.org/2000/svg";

// h creates an HTML element. It omits attributes that are undefined, null, or false. The children
// are elements, strings, or lists of these.
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// s creates an SVG element.
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(svgNamespace, tag), attributes, children);
}

// Attributes that can run code, load data, or leave the page. The policy of the page forbids them
// as well; this check reveals mistakes.
const refused = /^(on|style$|srcdoc$|src$|action$|formaction$|xlink:)/i;

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (refused.test(name) || (name === "href" && !String(value).startsWith("#"))) throw new Error(`attribute ${name} is not for views`);
    if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value === true ? "" : visible(value));
  }
  append(element, children);
  return element;
}

function append(element, child) {
  if (Array.isArray(child)) {
    for (const one of child) append(element, one);
  } else if (child instanceof Node) {
    element.append(child);
  } else if (child !== undefined && child !== null && child !== false) {
    element.append(document.createTextNode(visible(child)));
  }
}

// unique returns an unused ID for an element that labels another element. The document stores the
// counter, so that two copies of this module return different IDs.
export function unique(prefix) {
  const root = document.documentElement;
  const count = Number(root.getAttribute("data-ids") ?? 0) + 1;
  root.setAttribute("data-ids", String(count));
  return `${prefix}-${count}`;
}

// most is the maximum number of characters that are displayed from one untrusted string.
export const most = 300;

// foreign displays a value of a receipt: a string unchanged, and any other value as JSON. Long
// values are truncated. The writing direction of the value does not affect the text around it.
export function foreign(value, limit = most) {
  if (value === undefined) return h("span", { class: "absent" }, "absent");
  const whole = typeof value === "string" ? value : outline(value, 10 * limit, "");
  const { text, more } = cut(whole, limit);
  if (more === 0) return h("bdi", {}, text);
  return h("bdi", {}, text, whole.length > 10 * limit && typeof value !== "string" ? h("span", { class: "rest" }, " … more") : rest(more));
}

// rest states how many characters are not displayed.
export function rest(count) {
  return h("span", { class: "rest" }, ` … ${count.toLocaleString("en")} more character${count === 1 ? "" : "s"}`);
}

// mono displays a hash, an ID, or a path in a monospace font.
export function mono(value, limit = most) {
  return h("code", {}, foreign(value, limit));
}

// icon returns a small icon. The text next to it has the same meaning.
export function icon(tone) {
  const paths = new Map([
    ["good", "M5 10.5l3.4 3.4L15.2 6.6"],
    ["plain", "M5 10.5l3.4 3.4L15.2 6.6"],
    ["bad", "M6 6l8 8M14 6l-8 8"],
    ["open", "M7.4 7.6c.1-1.6 1.2-2.5 2.7-2.5s2.6.9 2.6 2.3c0 1.9-2.6 2-2.6 4.1M10.05 14.6v.3"],
    ["none", "M6 10h8"],
  ]);
  return s("svg", { class: `icon ${tone}`, width: 20, height: 20, viewBox: "0 0 20 20", "aria-hidden": "true", focusable: "false" },
    s("circle", { cx: 10, cy: 10, r: 9.25 }), s("path", { d: paths.get(tone) ?? paths.get("none") }));
}

// section returns a part of the page with its heading.
export function section(name, title, ...children) {
  const id = unique(name);
  return h("section", { class: name, "aria-labelledby": id }, h("h2", { id }, title), children);
}

// facts returns a list of names and values. Entries without a value are omitted.
export function facts(entries) {
  return h("dl", { class: "facts" }, entries.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "")
    .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

// rows is the number of rows of a table that are displayed.
export const rows = 50;

// table creates a table. A column is a name, or {name, kind}, where kind is a CSS class, such as
// "number" or "code". The roles are set explicitly, because on a narrow screen, the rows are laid
// out as blocks, and browsers then no longer expose them as a table. A table with many columns
// scrolls separately. The argument total is the number of entries, if entries does not contain all
// of them.
export function table(caption, columns, entries, cells, limit = rows, total = entries.length) {
  const heads = columns.map((column) => (typeof column === "string" ? { name: column } : column));
  const body = entries.slice(0, limit).map((entry, place) => h("tr", { role: "row" }, cells(entry, place).map((cell, i) =>
    h(i === 0 ? "th" : "td", { role: i === 0 ? "rowheader" : "cell", scope: i === 0 ? "row" : undefined, class: heads[i].kind, "data-name": heads[i].name }, cell))));
  if (total > body.length) {
    body.push(h("tr", { role: "row", class: "rest" }, h("td", { role: "cell", colspan: heads.length }, `… ${(total - body.length).toLocaleString("en")} more`)));
  }
  const many = heads.length > 6 && { class: "many", tabindex: 0 };
  return h("table", { role: "table", ...many },
    h("caption", {}, caption),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map((head) => h("th", { role: "columnheader", scope: "col", class: head.kind }, head.name)))),
    h("tbody", { role: "rowgroup" }, body));
}
