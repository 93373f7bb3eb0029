// What the source of a receipt did not tell, as the receipt lists it in
// metadata.unreported: JSON Pointers. What stands there is no statement, and a
// number there is a lower bound. Absent is not zero.
import { isObject, list, member } from "./json.js";

export const notTold = "not told by the source";

// How many entries of a list are read: more than a receipt has room to need.
const most = 1 << 18;

// untoldIn returns the pointers that a receipt lists.
export function untoldIn(receipt) {
  return pointers(receipt, "unreported");
}

// overIn returns the pointers of what may hold more than happened: metadata.at_most.
export function overIn(receipt) {
  return pointers(receipt, "at_most");
}

// estimatedIn returns the pointers of amounts that the source reckons, and that are no bill:
// metadata.estimated.
export function estimatedIn(receipt) {
  return pointers(receipt, "estimated");
}

// inferredIn returns the pointers of what the source does not record, but what it records
// implies: metadata.inferred.
export function inferredIn(receipt) {
  return pointers(receipt, "inferred");
}

function pointers(receipt, name) {
  return list(member(receipt, "metadata", name)).slice(0, most).filter((pointer) => typeof pointer === "string" && pointer.startsWith("/"));
}

// isUntold is true of a member that is listed, or that is part of one. The entries of a
// list that may hold more were told.
export function isUntold(receipt, pointer) {
  return within(untoldIn(receipt), pointer);
}

// bound says what a number or the length of a list is a bound of. One that may be both
// too small and too large is only what the source told.
export function bound(receipt, pointer) {
  return boundOf(isUntold(receipt, pointer), within(overIn(receipt), pointer));
}

// boundOf is bound for a number of which it is known whether it may be too small, and too
// large.
export function boundOf(under, over) {
  if (under) return over ? "reportedly " : "at least ";
  return over ? "at most " : "";
}

// told is a receipt with words in the place of every text, time and 0 that is listed, and
// of those in a listed object: so no view takes for a statement what is none. A list, and
// what stands in an entry that is listed, was told. Which receipt it is, and whose, is not
// the source's to tell. The receipt itself stays as it is.
export function told(receipt) {
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
    return typeof value === "number" && value !== 0 ? value : notTold;
  };
  const put = (value, names) => {
    const name = names[0].replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return value;
    if (names.length === 1 && Array.isArray(value)) return value;
    const copy = own(value);
    copy[name] = names.length === 1 ? masked(copy[name]) : put(copy[name], names.slice(1));
    return copy;
  };
  return untoldIn(receipt).filter((pointer) => !/^\/(receipt_id|issuer|chain|signatures|metadata)\b/.test(pointer)).reduce((value, pointer) => put(value, pointer.slice(1).split("/")), receipt);
}

function within(listed, pointer) {
  return listed.some((one) => pointer === one || (pointer.startsWith(one + "/") && !/\/\d+(\/|$)/.test(pointer.slice(one.length))));
}
