// Values that the source of a receipt did not record: the JSON Pointers in metadata.unreported. A
// value at such a place is not a statement, and a number there is a lower bound.
import { isObject, list, member } from "./json.js";

export const notRecorded = "not recorded";

// How many entries of a list are read: more than a receipt has room to need.
const most = 1 << 18;

// unreportedIn returns the pointers in metadata.unreported: values that the source did not record.
export function unreportedIn(receipt) { return pointers(receipt, "unreported"); }

// overIn returns the pointers in metadata.at_most: values that may be too large.
export function overIn(receipt) { return pointers(receipt, "at_most"); }

// estimatedIn returns the pointers in metadata.estimated: amounts that the source estimated.
export function estimatedIn(receipt) { return pointers(receipt, "estimated"); }

// inferredIn returns the pointers in metadata.inferred: values concluded from other records.
export function inferredIn(receipt) { return pointers(receipt, "inferred"); }

function pointers(receipt, name) {
  return list(member(receipt, "metadata", name)).slice(0, most).filter((pointer) => typeof pointer === "string" && pointer.startsWith("/"));
}

// isUnreported reports whether a member is listed, or part of a listed one. The entries of a list
// that may be incomplete were recorded.
export function isUnreported(receipt, pointer) {
  return within(unreportedIn(receipt), pointer);
}

// bound precedes a number, or the length of a list, and describes its kind of bound.
export function bound(receipt, pointer) {
  return boundOf(isUnreported(receipt, pointer), within(overIn(receipt), pointer));
}

// boundOf is bound for a number of which it is known whether it may be too small, and too
// large.
export function boundOf(under, over) {
  if (under) return over ? "reportedly " : "at least ";
  return over ? "at most " : "";
}

// recorded returns a copy of a receipt in which "not recorded" replaces every listed text, time, and
// 0, also in a listed object, so that no view shows a placeholder as a statement. Lists stay, and so
// do the members of a listed entry. The ID of the receipt and its issuer do not depend on the source.
export function recorded(receipt) {
  const copies = new Set();
  const own = (value) => {
    if (copies.has(value)) return value;
    const copy = Array.isArray(value) ? [...value] : { ...value };
    copies.add(copy);
    return copy;
  };
  const masked = (value) => {
    if (Array.isArray(value)) return value;
    if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, masked(inner)]));
    return typeof value === "number" && value !== 0 ? value : notRecorded;
  };
  const put = (value, names) => {
    const name = names[0].replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return value;
    if (names.length === 1 && Array.isArray(value)) return value;
    const copy = own(value);
    copy[name] = names.length === 1 ? masked(copy[name]) : put(copy[name], names.slice(1));
    return copy;
  };
  return unreportedIn(receipt).filter((pointer) => !/^\/(receipt_id|issuer|chain|signatures|metadata)\b/.test(pointer)).reduce((value, pointer) => put(value, pointer.slice(1).split("/")), receipt);
}

function within(listed, pointer) {
  return listed.some((one) => pointer === one || (pointer.startsWith(one + "/") && !/\/\d+(\/|$)/.test(pointer.slice(one.length))));
}
