// This module displays the list of receipts. Only visible rows have HTML elements.
import { h, icon, foreign } from "../../../../../receipt/serve/page/view/dom.js";
import { clock, number } from "../../../../../receipt/serve/page/view/text.js";

const height = 64, more = 6, most = 200_000; // browsers limit the height of an element
const tones = new Map([["verified", "good"], ["refuted", "bad"]]);

export class List {
  constructor(table) {
    this.table = table;
    this.rows = new Uint32Array();
    this.active = 0;
    this.rest = h("p", { class: "rest" });
    this.items = h("ol", { class: "rows" });
    this.box = h("div", { class: "list" }, this.items);
    this.element = h("div", {}, this.box, this.rest);
    this.box.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.box.addEventListener("focusin", (event) => { this.active = Number(event.target.dataset.place ?? this.active); });
    addEventListener("resize", () => this.draw());
  }

  // show displays rows, starting at the beginning of the list.
  show(rows) {
    this.rows = rows;
    this.count = Math.min(rows.length, most);
    this.active = 0;
    this.items.style.height = `${this.count * height}px`;
    this.rest.textContent = rows.length > most ? `The first ${number(most)} of ${number(rows.length)} are listed. Filter to see others.` : "";
    this.box.scrollTop = 0;
    this.draw();
  }

  draw() {
    const first = Math.max(Math.floor(this.box.scrollTop / height) - more, 0);
    const end = Math.min(first + Math.ceil((this.box.clientHeight || 600) / height) + 2 * more, this.count);
    const focused = this.box.contains(document.activeElement);
    const places = Array.from({ length: Math.max(end - first, 0) }, (_, i) => first + i);
    this.tabbed = this.active >= first && this.active < end ? this.active : Math.min(first + more, Math.max(end - 1, 0));
    this.items.replaceChildren(...places.map((place) => this.row(place)));
    if (focused) this.items.querySelector(`[data-place="${this.tabbed}"]`)?.focus({ preventScroll: true });
  }

  row(place) {
    const table = this.table, row = this.rows[place], verdict = table.value("verdict", row), code = table.value("code", row);
    const time = table.times[row], tone = tones.get(verdict) ?? "open";
    const item = h("li", { "aria-setsize": this.count, "aria-posinset": place + 1 },
      h("a", { href: table.address(row), "data-place": place, tabindex: place === this.tabbed ? 0 : -1 },
        icon(tone), h("span", { class: `word ${tone}` }, verdict),
        h("span", { class: "title" }, foreign(table.value("sentence", row) || table.ids[row] || "not readable", 160)),
        h("span", { class: "place" }, Number.isNaN(time) ? "" : `${clock(time)} · `, foreign(table.name(row), 80), code && [" · ", foreign(code, 40)], table.breaks[row] === 1 && " · break")));
    item.style.transform = `translateY(${place * height}px)`;
    return item;
  }

  key(event) {
    const page = Math.max(Math.floor(this.box.clientHeight / height) - 1, 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.count, End: this.count }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.focus(this.active + step);
  }

  // focus moves the focus to a position in the list.
  focus(place) {
    this.active = Math.min(Math.max(place, 0), Math.max(this.count - 1, 0));
    const top = this.active * height, box = this.box;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
    this.draw();
    this.items.querySelector(`[data-place="${this.active}"]`)?.focus({ preventScroll: true });
  }
}
