// A parser of strict I-JSON (RFC 7493) and an encoder of canonical JSON (RFC 8785).
//
// JSON.parse does not suffice: if two members have the same name, it keeps the last one; it accepts lone
// surrogates, rounds integers, and treats the member __proto__ in a special way. This parser uses it only
// for strings, numbers, and literal names. Objects are Maps, so no member name is special.

import { Finding, refuted } from "./finding.mjs";

export const maxDepth = 128; // the maximum depth of arrays and objects in a receipt
export const maxSize = 16 * 2 ** 20; // the maximum size of a receipt in bytes

// Incomplete words and numbers, which more bytes may complete.
const beginning = /^(t(r(ue?)?)?|f(a(l(se?)?)?)?|n(u(ll?)?)?|-?((0|[1-9]\d*)(\.\d*)?([eE][-+]?\d*)?)?)$/;

export const encode = (text) => new TextEncoder().encode(text);

// decode decodes UTF-8. If stream is set, the bytes may end within a character.
export function decode(bytes, stream = false) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream });
  } catch {
    throw refuted("parse", "invalid_utf8");
  }
}

// parse returns the value of a JSON text. If the text is invalid, it throws a Finding of the step parse.
// In receipts, integers must be exact.
export function parse(bytes, depthLimit = maxDepth, sizeLimit = maxSize, exact = true) {
  if (bytes.length > sizeLimit) throw refuted("parse", "size_limit");
  const parser = new Parser(decode(bytes, true), depthLimit, exact);
  if (parser.next() === undefined) throw refuted("parse", "empty_input");
  let value;
  try {
    value = parser.value(0);
  } catch (finding) {
    // More bytes might complete the JSON text.
    throw Object.assign(finding, { incomplete: parser.at >= parser.text.length, elements: parser.elements });
  }
  decode(bytes);
  if (parser.next() !== undefined) throw refuted("parse", "trailing_data");
  return value;
}

// attempt returns the value of a JSON text, or the Finding that parse throws.
export function attempt(bytes, ...limits) {
  try {
    return { value: parse(bytes, ...limits) };
  } catch (finding) {
    if (!(finding instanceof Finding)) throw finding;
    return { finding };
  }
}

class Parser {
  constructor(text, depthLimit, exact) {
    Object.assign(this, { text, depthLimit, exact, at: 0 });
  }

  // next returns the next character after whitespace (RFC 8259, section 2), or undefined at the end.
  next() {
    while (" \t\n\r".includes(this.text[this.at] ?? ".")) this.at++;
    return this.text[this.at];
  }

  // take skips the character if it is next, and reports whether it was.
  take(character) {
    const found = this.next() === character;
    if (found) this.at++;
    return found;
  }

  expect(character) {
    if (!this.take(character)) throw refuted("parse", "syntax");
  }

  value(depth) {
    const first = this.next();
    if (first === '"') return this.string();
    if (first !== "{" && first !== "[") return this.scalar();
    if (depth >= this.depthLimit) throw refuted("parse", "depth_limit");
    this.at++;
    return first === "{" ? this.object(depth + 1) : this.array(depth + 1);
  }

  // list reads elements between brackets that are separated by commas.
  list(close, read) {
    if (this.take(close)) return;
    do read();
    while (this.take(","));
    this.expect(close);
  }

  object(depth) {
    const members = new Map();
    this.list("}", () => {
      const name = this.string();
      if (members.has(name)) throw refuted("parse", "duplicate_name"); // RFC 7493, section 2.3
      this.expect(":");
      members.set(name, this.value(depth));
    });
    return members;
  }

  array(depth) {
    const elements = [];
    this.elements ??= elements; // the elements of the outermost array
    this.list("]", () => elements.push(this.value(depth)));
    return elements;
  }

  string() {
    this.expect('"');
    const from = this.at - 1;
    while (this.text[this.at] !== '"') {
      if (!(this.text[this.at] >= " ")) throw refuted("parse", "syntax"); // a control character, or the end of the text
      this.at += this.text[this.at] === "\\" ? 2 : 1;
    }
    const text = literal(this.text.slice(from, ++this.at));
    if (!text.isWellFormed()) throw refuted("parse", "lone_surrogate"); // RFC 7493, section 2.1
    return text;
  }

  // scalar reads a number, true, false, or null.
  scalar() {
    const from = this.at;
    while (/[-+.0-9A-Za-z]/.test(this.text[this.at] ?? "")) this.at++;
    const text = this.text.slice(from, this.at);
    if (!beginning.test(text)) this.at = from;
    const value = literal(text);
    // The format limits the length because some libraries misread longer numbers with an exponent.
    const isLong = text.search(/[eE]/) > 800;
    if (typeof value === "number" && (isLong || !Number.isFinite(value))) throw refuted("parse", "number_range");
    // Every double above 2^53 is an integer, and several integers have the same canonical text
    // (RFC 7493, section 2.2).
    if (this.exact && Math.abs(value) > Number.MAX_SAFE_INTEGER) throw refuted("parse", "number_precision");
    return value;
  }
}

// literal returns the value of a string, a number, or a word.
function literal(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw refuted("parse", "syntax");
  }
}

// canonical returns the canonical JSON text of a value (RFC 8785). Strings and numbers have the format of
// JSON.stringify. Members are sorted by UTF-16 code units, which is the order of Array.prototype.sort.
export function canonical(value) {
  if (value instanceof Map) {
    const member = (name) => JSON.stringify(name) + ":" + canonical(value.get(name));
    return "{" + [...value.keys()].sort().map(member).join(",") + "}";
  }
  return Array.isArray(value) ? "[" + value.map(canonical).join(",") + "]" : JSON.stringify(value);
}

// fromObject converts a plain object or array to the types of values that parse returns.
export const fromObject = (object) => parse(encode(JSON.stringify(object)));

export const canonicalBytes = (value) => encode(canonical(value));

// without returns a copy of an object without the named members.
export const without = (object, ...names) => new Map([...object].filter(([name]) => !names.includes(name)));

// lookup returns the value at a path of member names, or undefined.
export const lookup = (value, ...path) =>
  path.reduce((at, name) => (at instanceof Map ? at.get(name) : undefined), value);
