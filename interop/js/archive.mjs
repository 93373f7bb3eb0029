// The formats of an input with receipts: one JSON document, JSON lines, an array, or deterministic CBOR
// (RFC 8949, section 4.2.1) in one item or in a sequence of items (RFC 8742).

import { hex, refuted, undecided } from "./finding.mjs";
import { attempt, decode, maxDepth, maxSize } from "./json.mjs";

const space = [0x20, 0x09, 0x0d, 0x0a];

// split returns an argument for open, or a Finding, for each receipt in an input.
export function split(bytes) {
  if (bytes[0] >> 5 === 5) return sequence(bytes);
  if (bytes.find((byte) => !space.includes(byte)) === 0x5b) return elements(bytes);
  return isLines(bytes) ? lines(bytes) : [bytes];
}

function elements(bytes) {
  const { value, finding } = attempt(bytes, maxDepth + 1);
  if (finding?.incomplete) return [...finding.elements, undecided("parse", "torn_tail")];
  return value?.length > 0 ? value : [bytes]; // open reports the reason
}

// isLines reports whether the first nonblank line ends an object, or the second nonblank line begins one.
function isLines(bytes) {
  const [first = "", second = ""] = new TextDecoder().decode(bytes).split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return first.endsWith("}") || second.startsWith("{");
}

function lines(bytes) {
  const list = [];
  for (let at = 0, end = 0; end >= 0; at = end + 1) {
    end = bytes.indexOf(0x0a, at);
    const line = bytes.subarray(at, end < 0 ? undefined : end);
    if (line.every((byte) => space.includes(byte))) continue;
    list.push(end < 0 && list.length > 0 && attempt(line).finding?.incomplete ? undecided("parse", "torn_tail") : line);
  }
  return list;
}

function sequence(bytes) {
  const list = [];
  const reader = new Reader(bytes);
  let start = 0;
  try {
    for (; reader.at < bytes.length; start = reader.at) list.push(reader.item(0));
  } catch (error) { // the start of the next item cannot be found
    const torn = bytes[start] >> 5 === 5 ? undecided("parse", "torn_tail") : malformed(); // a receipt is a map
    list.push(error instanceof RangeError ? torn : error);
  }
  return list;
}

const malformed = () => refuted("parse", "non_deterministic_cbor");
const words = new Map([[0xf4, false], [0xf5, true], [0xf6, null]]);

// A Reader reads items of deterministic CBOR and returns the same types of values as parse. It throws a
// RangeError if an item is incomplete.
class Reader {
  constructor(bytes) {
    Object.assign(this, { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), at: 0 });
  }

  item(depth) {
    const head = this.view.getUint8(this.at++);
    if (words.has(head)) return words.get(head);
    if (head >= 0xf9 && head <= 0xfb) return this.float(1 << (head - 0xf8));
    const size = this.argument(head & 0x1f);
    switch (head >> 5) {
      case 0: return exact(size);
      case 1: return exact(-1 - size);
      case 3: return decode(this.take(this.limited(size)));
      case 4: return [...this.elements(this.limited(size, depth), depth)];
      case 5: return this.map(this.limited(size, depth), depth);
      default: throw malformed(); // byte strings, tags, other simple values
    }
  }

  // argument returns the number in the head of an item, which must use the shortest form.
  argument(short) {
    if (short < 24) return short;
    if (short > 27) throw malformed();
    const number = this.take(1 << (short - 24)).reduce((sum, byte) => sum * 256 + byte, 0);
    if (number < [24, 2 ** 8, 2 ** 16, 2 ** 32][short - 24]) throw malformed();
    return number;
  }

  take(size) {
    if (size > this.bytes.length - this.at) throw new RangeError("the end is missing");
    return this.bytes.subarray(this.at, (this.at += size));
  }

  limited(size, depth = 0) {
    if (size > maxSize || depth >= maxDepth) throw refuted("parse", size > maxSize ? "size_limit" : "depth_limit");
    return size;
  }

  *elements(size, depth) {
    for (let i = 0; i < size; i++) yield this.item(depth + 1);
  }

  // map reads members, which must be sorted by their encoded names.
  map(size, depth) {
    const members = new Map();
    for (let i = 0, before = ""; i < size; i++) {
      const from = this.at;
      if (this.view.getUint8(from) >> 5 !== 3) throw malformed();
      const name = this.item(depth + 1);
      const encoded = hex(this.bytes.subarray(from, this.at));
      if (members.has(name)) throw refuted("parse", "duplicate_name");
      if (encoded <= before) throw malformed();
      before = encoded;
      members.set(name, this.item(depth + 1));
    }
    return members;
  }

  // float reads a number that is not an integer and must use the shortest form.
  float(width) {
    const from = (this.at += width) - width;
    const value = width === 2 ? half(this.view.getUint16(from)) : width === 4 ? this.view.getFloat32(from) : this.view.getFloat64(from);
    const shorter = (width === 8 && Math.fround(value) === value) || (width > 2 && isHalf(value));
    if (!Number.isFinite(value)) throw refuted("parse", "number_range");
    if (Number.isSafeInteger(value) || shorter) throw malformed();
    return Number.isInteger(value) ? exact(value) : value;
  }
}

function exact(integer) {
  if (!Number.isSafeInteger(integer)) throw refuted("parse", "number_precision");
  return integer;
}

// half returns the number of a half-precision float (RFC 8949, appendix D).
function half(bits) {
  const [exponent, mantissa] = [(bits >> 10) & 0x1f, bits & 0x3ff];
  const size = exponent === 0 ? mantissa * 2 ** -24 : exponent === 31 ? NaN : (mantissa + 1024) * 2 ** (exponent - 25);
  return bits & 0x8000 ? -size : size;
}

// isHalf reports whether a half-precision float can represent the value.
function isHalf(value) {
  const unit = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(value)))) - 10);
  return Math.abs(value) <= 65504 && Number.isInteger(value / unit);
}
