// This module reads JSON values of any form. A receipt that is displayed may be invalid, so no
// member can be assumed to exist or to have the right type.

// isObject reports whether a value is a JSON object.
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// member returns the member at a path of names. It returns undefined for an absent member, even if
// all JavaScript objects inherit a property of this name, such as "constructor".
export function member(value, ...names) {
  for (const name of names) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

// list returns the value if it is an array, and an empty array otherwise.
export function list(value) {
  return Array.isArray(value) ? value : [];
}

// text returns the value if it is a string, and an empty string otherwise.
export function text(value) {
  return typeof value === "string" ? value : "";
}

// amount returns the value if it is a finite number, and 0 otherwise.
export function amount(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

// outline formats a value as indented JSON with a maximum number of characters. It stops early, so
// neither the depth nor the size of the value matters.
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

// names yields the indexes of an array or the names of an object, without creating all indexes of a
// large array.
function* names(value) {
  if (!Array.isArray(value)) return yield* Object.keys(value);
  for (let i = 0; i < value.length; i++) yield i;
}
