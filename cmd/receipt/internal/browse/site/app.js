// This script displays the view: filters, receipts over time, streams, and either the list or the
// page of one receipt. The fragment of the address (after #) contains the filters or the receipt.
import { h, section } from "../../../../../receipt/serve/page/view/dom.js";
import { number, plural } from "../../../../../receipt/serve/page/view/text.js";
import { renderSummary } from "../../../../../receipt/serve/page/view/summary.js";
import { Filters } from "./filters.js";
import { renderLanes } from "./lanes.js";
import { List } from "./list.js";
import { renderPage } from "./receipt.js";
import { loadTable } from "./table.js";
import { renderTimeline } from "./timeline.js";

const place = document.getElementById("view");

class View {
  constructor(about, table) {
    this.about = about;
    this.table = table;
    this.filters = new Filters(table, () => this.changed());
    this.list = new List(table);
    this.status = h("p", { role: "status", class: "status" });
    this.time = section("time", "Timeline");
    this.streams = section("streams", "Streams");
    const run = h("details", { class: "run" }, h("summary", {}, "Summary of the run"));
    run.addEventListener("toggle", () => run.open && run.children.length === 1 && run.append(renderSummary(about.summary, [], null)));
    this.all = h("div", { class: "all" }, this.filters.element, this.status, section("receipts", "Receipts", this.list.element), this.time, this.streams, run);
    this.query = "";
    this.one = h("div", { hidden: true });
    place.replaceChildren(this.all, this.one);
    addEventListener("hashchange", () => this.route());
    this.route();
  }

  // changed applies the filters in the form. The new address replaces the previous one, so that the
  // back button leaves the list in one step.
  changed() {
    const query = this.filters.query();
    history.replaceState(null, "", "#" + query);
    this.apply(query);
  }

  apply(query) {
    const started = performance.now(), rows = this.table.filter(query);
    this.query = query.toString();
    this.list.show(rows);
    this.status.textContent = rows.length === this.table.count ? plural(rows.length, "receipt") : `${number(rows.length)} of ${plural(this.table.count, "receipt")}`;
    const body = (part, children) => part.replaceChildren(part.firstChild, ...children);
    body(this.time, renderTimeline(this.table, rows));
    body(this.streams, renderLanes(this.table, rows, (stream) => { this.filters.choose("stream", stream); this.changed(); }));
    performance.measure("filter", { start: started });
  }

  // route displays the list or the receipt that the address specifies.
  async route() {
    const query = new URLSearchParams(location.hash.slice(1));
    const single = query.has("receipt");
    if (!single && (this.query !== query.toString() || !this.shown)) {
      this.filters.set(query);
      this.apply(query);
      this.shown = true;
    }
    this.all.hidden = single;
    this.one.hidden = !single;
    document.title = single ? `Receipt ${query.get("receipt")}` : "Receipts";
    if (single) return this.page(query);
    this.one.replaceChildren();
    this.list.draw();
    if (this.from >= 0) this.list.focus(this.list.rows.indexOf(this.from));
    this.from = -1;
  }

  async page(query) {
    const row = this.table.find(query.get("receipt"), query.get("row")), asked = location.hash;
    const content = row < 0 ? h("p", {}, "No receipt has this address. ", h("a", { href: "#" }, "All receipts"))
      : await renderPage(this.table, row, this.about.receipt_count, this.about.summary.keys, "#" + this.query).catch(failure);
    if (location.hash !== asked) return;
    this.from = row;
    this.one.replaceChildren(content);
    scrollTo(0, 0);
    this.one.querySelector("h2")?.focus();
  }
}

function failure(error) {
  return h("p", { role: "alert" }, `The view cannot be shown: ${error.message}`);
}

const about = JSON.parse(document.getElementById("data").textContent);
loadTable(about.receipts, about.table_rows).then((table) => {
  globalThis.receiptView = new View(about, table);
  requestAnimationFrame(() => performance.mark("first-view"));
}).catch((error) => place.replaceChildren(failure(error)));
