// Reading a JSON value that may be anything: a receipt that is shown may not be
// valid, so no member is there or has its type until it was looked at.

// isObject is true of what JSON calls an object.
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// member follows names into objects. A name that is not there, also one that
// every object of the language has, such as "constructor", gives undefined.
export function member(value, ...names) {
  for (const name of names) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

// list is the value when it is an array, and otherwise empty.
export function list(value) {
  return Array.isArray(value) ? value : [];
}

// text is the value when it is a string, and otherwise empty.
export function text(value) {
  return typeof value === "string" ? value : "";
}

// amount is the value when it is a number that can be drawn, and otherwise 0.
export function amount(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

// outline writes a value as indented JSON of at most so many characters. It stops
// in time: neither depth nor size of the value matter.
export function outline(value, most, indent = "  ") {
  const out = { text: "", full: false };
  write(out, value, "\n", most, indent, 0);
  return out.full ? out.text.slice(0, most) + " …" : out.text;
}

const deepest = 64;

function write(out, value, line, most, indent, depth) {
  if (out.text.length > most) {
    out.full = true;
    return;
  }
  if (typeof value !== "object" || value === null) {
    out.text += typeof value === "string" ? JSON.stringify(value.slice(0, most)) : String(value);
    return;
  }
  const open = Array.isArray(value) ? "[]" : "{}";
  const inner = indent === "" ? "" : line + indent;
  if (depth === deepest) {
    out.text += open[0] + "…" + open[1];
    return;
  }
  out.text += open[0];
  let count = 0;
  for (const name of names(value)) {
    if (out.text.length > most) {
      out.full = true;
      return;
    }
    out.text += (count++ > 0 ? "," : "") + inner;
    if (open === "{}") out.text += JSON.stringify(name.slice(0, most)) + ": ";
    write(out, value[name], inner, most, indent, depth + 1);
  }
  out.text += (count > 0 && indent !== "" ? line : "") + open[1];
}

// names are the indexes of an array or the names of an object. Those of a large
// array are never all made.
function* names(value) {
  if (!Array.isArray(value)) return yield* Object.keys(value);
  for (let i = 0; i < value.length; i++) yield i;
}
