// Strict I-JSON (RFC 7493) in, canonical JSON (RFC 8785) out.
//
// JSON.parse does not suffice: it keeps the last of two members with one name, accepts halves of
// surrogate pairs, rounds integers, and treats the member __proto__ in a special way. Objects are
// Maps here, so every name is an ordinary name.

import { refuted } from "./finding.mjs";

export const maxDepth = 128; // levels of arrays and objects in a receipt
const maxSize = 16 * 2 ** 20; // bytes of a receipt

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const numberForm = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const escapes = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const words = new Map([["true", true], ["false", false], ["null", null]]);

// decode returns the text of UTF-8 bytes.
export function decode(bytes) {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refuted("parse", "invalid_utf8");
  }
}

// parse returns the value of a JSON text, or throws a Finding of the step parse.
export function parse(bytes, depthLimit = maxDepth, sizeLimit = maxSize) {
  if (bytes.length > sizeLimit) throw refuted("parse", "size_limit");
  const parser = new Parser(bytes, depthLimit);
  parser.space();
  if (parser.at === bytes.length) throw refuted("parse", "empty_input");

  try {
    const value = parser.value(0);
    parser.space();
    if (parser.at < bytes.length) throw refuted("parse", "trailing_data");
    return value;
  } catch (finding) {
    finding.incomplete = parser.at >= bytes.length; // more bytes might have made it a JSON text
    throw finding;
  }
}

class Parser {
  constructor(bytes, depthLimit) {
    this.bytes = bytes;
    this.depthLimit = depthLimit;
    this.at = 0;
  }

  // space skips whitespace (RFC 8259, section 2).
  space() {
    while ([0x20, 0x09, 0x0a, 0x0d].includes(this.bytes[this.at])) this.at++;
  }

  // take skips the character if it is next, and reports whether it was.
  take(character) {
    if (this.bytes[this.at] !== character.charCodeAt(0)) return false;
    this.at++;
    return true;
  }

  expect(character) {
    if (!this.take(character)) throw refuted("parse", "syntax");
  }

  value(depth) {
    if (depth >= this.depthLimit && (this.bytes[this.at] === 0x7b || this.bytes[this.at] === 0x5b)) {
      throw refuted("parse", "depth_limit");
    }
    if (this.take("{")) return this.object(depth + 1);
    if (this.take("[")) return this.array(depth + 1);
    if (this.bytes[this.at] === 0x22) return this.string();
    return this.scalar();
  }

  // list reads what is between brackets and separated by commas.
  list(close, read) {
    this.space();
    if (this.take(close)) return;
    do {
      this.space();
      read();
      this.space();
    } while (this.take(","));
    this.expect(close);
  }

  object(depth) {
    const members = new Map();
    this.list("}", () => {
      const name = this.string();
      if (members.has(name)) throw refuted("parse", "duplicate_name"); // RFC 7493, section 2.3
      this.space();
      this.expect(":");
      this.space();
      members.set(name, this.value(depth));
    });
    return members;
  }

  array(depth) {
    const elements = [];
    this.list("]", () => elements.push(this.value(depth)));
    return elements;
  }

  string() {
    this.expect('"');
    const from = this.at;
    let escaped = false;
    while (this.bytes[this.at] !== 0x22) {
      if (!(this.bytes[this.at] >= 0x20)) throw refuted("parse", "syntax"); // a control, or the end
      if (this.bytes[this.at] === 0x5c) {
        escaped = true;
        this.at++;
      }
      this.at++;
    }
    let text = decode(this.bytes.subarray(from, this.at++));
    if (!escaped) return text;

    text = text.replace(/\\(u[0-9A-Fa-f]{4}|.)/gsu, (_, escape) => {
      if (escape.length === 5) return String.fromCharCode(parseInt(escape.slice(1), 16));
      if (!Object.hasOwn(escapes, escape)) throw refuted("parse", "syntax");
      return escapes[escape];
    });
    if (!text.isWellFormed()) throw refuted("parse", "lone_surrogate"); // RFC 7493, section 2.1
    return text;
  }

  // scalar reads a number, true, false, or null.
  scalar() {
    const from = this.at;
    while (/[-+.0-9A-Za-z]/.test(String.fromCharCode(this.bytes[this.at]))) this.at++;
    const text = decode(this.bytes.subarray(from, this.at));
    if (words.has(text)) return words.get(text);
    if (!numberForm.test(text)) throw refuted("parse", "syntax");

    // A limit of the format: some libraries misread longer numbers with an exponent.
    if (text.search(/[eE]/) > 800) throw refuted("parse", "number_range");
    const number = Number(text);
    if (!Number.isFinite(number)) throw refuted("parse", "number_range");
    // Every double beyond 2^53 is integral, and so is the canonical text of other integers
    // (RFC 7493, section 2.2).
    if (Math.abs(number) > Number.MAX_SAFE_INTEGER) throw refuted("parse", "number_precision");
    return number;
  }
}

// canonical returns the text of RFC 8785, whose rules for strings and numbers are those of
// ECMAScript, and whose members are sorted by UTF-16 code units, as Array.prototype.sort does.
export function canonical(value) {
  if (value instanceof Map) {
    const member = (name) => JSON.stringify(name) + ":" + canonical(value.get(name));
    return "{" + [...value.keys()].sort().map(member).join(",") + "}";
  }
  if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
  return JSON.stringify(value);
}

export const canonicalBytes = (value) => new TextEncoder().encode(canonical(value));

// without returns a copy of an object that lacks the named members.
export const without = (object, ...names) => new Map([...object].filter(([name]) => !names.includes(name)));

// lookup returns the value at a path of member names, or undefined.
export const lookup = (value, ...path) =>
  path.reduce((at, name) => (at instanceof Map ? at.get(name) : undefined), value);
