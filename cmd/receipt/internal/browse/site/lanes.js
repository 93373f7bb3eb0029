// This module draws one lane per stream, with its receipts from left to right in input order, and
// its breaks.
import { foreign, h, s } from "../../../../../receipt/serve/page/view/dom.js";
import { number, plural } from "../../../../../receipt/serve/page/view/text.js";

const most = 50, width = 600;

// lanes counts the receipts and the breaks of each stream in the rows. Streams with breaks come
// first, followed by the largest streams.
export function lanes(table, rows) {
  const { values, at } = table.columns.get("stream"), { values: verdicts, at: verdict } = table.columns.get("verdict");
  const refuted = verdicts.indexOf("refuted"), found = new Map();
  for (const row of rows) {
    const stream = at[row];
    if (values[stream] === "") continue;
    let lane = found.get(stream);
    if (!lane) found.set(stream, (lane = { stream: values[stream], count: 0, breaks: [], refuted: [] }));
    if (table.breaks[row] === 1) lane.breaks.push(lane.count);
    else if (verdict[row] === refuted) lane.refuted.push(lane.count);
    lane.count++;
  }
  return [...found.values()].sort((a, b) => b.breaks.length - a.breaks.length || b.count - a.count);
}

// nameOf formats the name of a stream, which is a JSON array of issuer, tenant, and workspace.
export function nameOf(stream) {
  try {
    return JSON.parse(stream).filter((part) => part !== null).join(" / ");
  } catch {
    return stream;
  }
}

export function renderLanes(table, rows, select) {
  const all = lanes(table, rows);
  if (all.length === 0) return [h("p", { class: "rest" }, "No receipt states a stream.")];
  const longest = all.reduce((n, lane) => Math.max(n, lane.count), 1);
  return [h("p", { class: "of" }, all.length > most ? `${number(most)} of ${plural(all.length, "stream")} shown, those with breaks first` : plural(all.length, "stream")),
    h("ul", { class: "lanes" }, all.slice(0, most).map((lane) => {
      const button = h("button", { type: "button", "data-stream": lane.stream }, h("span", { class: "title" }, foreign(nameOf(lane.stream), 120)),
        h("span", { class: "place" }, plural(lane.count, "receipt"), ", ", h("span", { class: lane.breaks.length > 0 ? "bad" : undefined }, plural(lane.breaks.length, "break"))),
        draw(lane, Math.max(lane.count / longest * width, 4)));
      button.addEventListener("click", () => select(lane.stream));
      return h("li", {}, button);
    }))];
}

// draw draws a lane as one line with at most one mark per pixel.
function draw(lane, length) {
  const places = (list) => [...new Set(list.map((i) => Math.round((i + 0.5) / lane.count * length)))];
  return s("svg", { class: "lane", viewBox: `0 0 ${width} 14`, preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false" },
    s("line", { class: "track", x1: 0, x2: length, y1: 7, y2: 7 }),
    places(lane.refuted).map((x) => s("line", { class: "refuted", x1: x, x2: x, y1: 4, y2: 10 })),
    places(lane.breaks).map((x) => s("path", { class: "break", d: `M${x - 2} 0L${x + 2} 0L${x} 14Z` })));
}
