// This module draws charts as SVG. Coordinates are percentages, so that a chart fits any width
// while its lines and letters keep their size. The content of each chart is also available as text
// or as a table.
import { h, s, unique } from "./dom.js";

const percent = (fraction) => `${(100 * Math.min(Math.max(fraction, 0), 1)).toFixed(3)}%`;

// of returns a value as a fraction of a whole, even if a sum is too large for a number.
export function of(value, whole) {
  if (!(value > 0) || !(whole > 0)) return 0;
  if (!Number.isFinite(value)) return 1;
  return Number.isFinite(whole) ? Math.min(value / whole, 1) : 0;
}

// picture returns an SVG image with a title and a description for screen readers.
function picture(height, title, description, ...children) {
  const name = unique("chart"), about = unique("chart");
  return s("svg", { class: "chart", role: "img", width: "100%", height, "aria-labelledby": name, "aria-describedby": about },
    s("title", { id: name }, title), s("desc", { id: about }, description), children);
}

// bar returns a horizontal bar that is filled to a fraction of its width.
export function bar(fraction, title, tone = "") {
  return picture(14, title, `filled to ${percent(fraction)}`,
    s("rect", { class: "track", x: 0, y: 2, width: "100%", height: 10, rx: 2 }),
    fraction > 0 && s("rect", { class: `fill ${tone}`, x: 0, y: 2, width: percent(Math.max(fraction, 0.004)), height: 10, rx: 2 }));
}

// bars returns a table with a bar in each row. The rows are {label, value, text, whole}. The length
// of a bar is relative to whole or, if whole is undefined, to the longest bar.
export function bars(caption, columns, entries) {
  const longest = Math.max(0, ...entries.map((entry) => entry.value));
  return h("table", { class: "bars", role: "table" },
    h("caption", {}, caption),
    h("thead", { class: "hidden" }, h("tr", {}, columns.map((column) => h("th", { scope: "col" }, column)))),
    h("tbody", {}, entries.map((entry) => {
      const fraction = entry.whole === undefined ? of(entry.value, longest) : of(entry.value, entry.whole);
      return h("tr", {},
        h("th", { scope: "row" }, entry.label),
        h("td", { class: "bar" }, entry.whole === null ? null : bar(fraction, entry.name, entry.tone)),
        h("td", { class: "number" }, entry.text));
    })));
}

// share returns one bar that consists of several parts, {name, tone, count}. A small part is drawn
// wide enough to be visible, so the other parts are slightly narrower.
export function share(title, parts) {
  const shown = parts.filter((part) => part.count > 0), whole = shown.reduce((sum, part) => sum + part.count, 0);
  const widths = shown.map((part) => Math.max(of(part.count, whole), 0.006)), drawn = widths.reduce((sum, width) => sum + width, 0);
  let x = 0;
  const rects = shown.map((part, i) => {
    const width = widths[i] / drawn, rect = s("rect", { class: `fill ${part.tone}`, x: percent(x), y: 0, width: percent(width), height: 12 });
    x += width;
    return rect;
  });
  return picture(12, title, parts.map((part) => `${part.count} ${part.name}`).join(", "),
    s("rect", { class: "track", x: 0, y: 0, width: "100%", height: 12 }), rects);
}

// columns draws values over time. The places are {gap: true} or {label, values}. Each value belongs
// to one series, {name, tone}, and the first series is at the bottom.
export function columns(title, description, places, series) {
  const height = 92;
  const sums = places.map((place) => (place.gap ? 0 : place.values.reduce((sum, value) => sum + value, 0)));
  const highest = Math.max(0, ...sums);
  const width = 1 / places.length;
  const pattern = unique("hatch");
  const drawn = places.map((place, i) => (place.gap ? gap(i * width, width, height) : stack(place, i * width, width, height, highest, series, pattern)));
  return picture(height + 1, title, description,
    s("defs", {}, s("pattern", { id: pattern, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      s("rect", { class: "hatch-ground", width: 5, height: 5 }), s("rect", { class: "hatch-line", width: 2, height: 5 }))),
    s("line", { class: "grid", x1: 0, x2: "100%", y1: 0.5, y2: 0.5 }),
    drawn,
    s("line", { class: "axis", x1: 0, x2: "100%", y1: height + 0.5, y2: height + 0.5 }));
}

function stack(place, x, width, height, highest, series, pattern) {
  const thick = Math.min(width * 0.76, 0.08); // so that a few columns are not too wide
  let bottom = height;
  return place.values.map((value, i) => {
    if (!(value > 0)) return null;
    const size = Math.max(of(value, highest) * (height - 1), 1.5);
    bottom -= size;
    return s("rect", {
      class: `column ${series[i].tone}`, x: percent(x + (width - thick) / 2), width: percent(thick),
      y: Math.max(bottom, 0).toFixed(2), height: size.toFixed(2), fill: series[i].tone === "hatched" ? `url(#${pattern})` : undefined,
    });
  });
}

// gap draws the sign for omitted time.
function gap(x, width, height) {
  const apart = Math.min(width * 0.2, 0.02);
  return [-1, 0, 1].map((part) => s("circle", { class: "gap", cx: percent(x + width / 2 + part * apart), cy: height - 5, r: 1.2 }));
}
