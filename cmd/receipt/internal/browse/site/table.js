// This module stores the list of receipts by columns. A column contains each value once, and the
// index of a value for each row.
import { load } from "./data.js";

// Columns that can be filtered, with their labels.
export const facets = [
  ["verdict", "Verdict"], ["code", "Code"], ["directory", "Directory"], ["workspace", "Workspace"],
  ["issuer", "Issuer"], ["key", "Key"], ["model", "Model"], ["stream", "Stream"],
];
const others = ["source", "sentence"];
const searched = ["sentence", "source", "workspace", "issuer", "key", "model", "code", "directory"];

export class Table {
  constructor(count) {
    this.count = count;
    this.ids = new Array(count);
    this.numbers = new Uint32Array(count);
    this.times = new Float64Array(count).fill(NaN);
    this.breaks = new Uint8Array(count);
    this.columns = new Map([...facets.map(([name]) => name), ...others].map((name) => [name, { values: [], at: new Uint32Array(count) }]));
  }

  // fill adds the part of the table that begins at a row.
  fill(part, from) {
    for (const [name, column] of this.columns) {
      for (const value of part.columns[name].new ?? []) column.values.push(value);
      column.at.set(part.columns[name].at, from);
    }
    this.numbers.set(part.numbers, from);
    for (let i = 0; i < part.ids.length; i++) {
      this.ids[from + i] = part.ids[i];
      if (part.times[i] !== null) this.times[from + i] = part.times[i];
    }
    for (const row of part.breaks ?? []) this.breaks[row] = 1;
  }

  value(name, row) {
    const { values, at } = this.columns.get(name);
    return values[at[row]];
  }

  // name returns the source of a row, and the position in the source.
  name(row) {
    return this.value("source", row) + (this.numbers[row] > 0 ? `:${this.numbers[row]}` : "");
  }

  // address returns the address of the page of a row, which consists of the ID of the receipt and,
  // if an earlier row has the same ID, the row.
  address(row) {
    this.first ??= this.firsts();
    const id = this.ids[row];
    return "#" + new URLSearchParams(id !== "" && this.first.get(id) === row ? { receipt: id } : { receipt: id, row });
  }

  // find returns the row to which an address refers, or -1 if there is none.
  find(id, row) {
    this.first ??= this.firsts();
    if (row === null) return this.first.get(id) ?? -1;
    return /^\d+$/.test(row) && this.ids[row] === id ? Number(row) : -1;
  }

  firsts() {
    const first = new Map();
    for (let row = this.count - 1; row >= 0; row--) first.set(this.ids[row], row);
    return first;
  }

  // filter returns the rows that match a query. A query consists of values of facets, the times
  // from and before, and words, each of which must occur in some text of the row.
  filter(query) {
    const wanted = [];
    for (const [name] of facets) {
      if (!query.has(name)) continue;
      const { values, at } = this.columns.get(name);
      wanted.push({ at, index: values.indexOf(query.get(name)) });
    }
    const words = (query.get("text") ?? "").toLowerCase().split(/\s+/).filter((word) => word !== "").map((word) => this.word(word));
    const from = day(query.get("from"), 0), before = day(query.get("to"), 1);
    const timely = (time) => (Number.isNaN(from) || time >= from) && (Number.isNaN(before) || time < before);
    const rows = new Uint32Array(this.count);
    let found = 0;
    for (let row = 0; row < this.count; row++) {
      if (wanted.every(({ at, index }) => at[row] === index) && timely(this.times[row]) && words.every((matches) => matches(row))) rows[found++] = row;
    }
    return rows.subarray(0, found);
  }

  // word returns a function that reports whether a row contains a word. It searches each value of a
  // column only once.
  word(word) {
    const columns = searched.map((name) => this.columns.get(name)).map((column) => {
      column.lower ??= column.values.map((value) => value.toLowerCase());
      return { at: column.at, has: Uint8Array.from(column.lower, (value) => (value.includes(word) ? 1 : 0)) };
    }).filter(({ has }) => has.includes(1));
    this.lower ??= this.ids.map((id) => id.toLowerCase());
    return (row) => columns.some(({ at, has }) => has[at[row]] === 1) || this.lower[row].includes(word);
  }
}

// day returns the start of a day or of a later day in milliseconds, or NaN if the text is not a
// date.
function day(text, later) {
  return /^\d{4}-\d\d-\d\d$/.test(text ?? "") ? Date.parse(text) + later * 86_400_000 : NaN;
}

// loadTable returns the table with all of its parts.
export async function loadTable(count, size) {
  const table = new Table(count);
  const parts = Array.from({ length: Math.ceil(count / size) }, (_, i) => load(`table-${i}`));
  for (const [i, part] of parts.entries()) table.fill(await part, i * size);
  return table;
}
