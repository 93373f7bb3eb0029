// This module reads the JSON Pointers in metadata.unreported, which refer to values that the source
// of a receipt did not record. Such a value is not a statement, and a number other than 0 is a
// lower bound.
import { isObject, list, member } from "./json.js";

export const notRecorded = "not recorded";

// The number of entries that are read from a list. This is more than a receipt needs.
const most = 1 << 18;

// unreportedIn returns the pointers in metadata.unreported: values that the source did not record.
export function unreportedIn(receipt) { return pointers(receipt, "unreported"); }

// overIn returns the pointers in metadata.at_most: values that may be too large.
export function overIn(receipt) { return pointers(receipt, "at_most"); }

// estimatedIn returns the pointers in metadata.estimated: amounts that the source estimated.
export function estimatedIn(receipt) { return pointers(receipt, "estimated"); }

// inferredIn returns the pointers in metadata.inferred: values that were inferred from other
// records.
export function inferredIn(receipt) { return pointers(receipt, "inferred"); }

function pointers(receipt, name) {
  return list(member(receipt, "metadata", name)).slice(0, most).filter((pointer) => typeof pointer === "string" && pointer.startsWith("/"));
}

// isUnreported reports whether a member is listed, or is a part of a listed member. If a list is
// listed as incomplete, its entries were still recorded.
export function isUnreported(receipt, pointer) {
  return within(unreportedIn(receipt), pointer);
}

// bound returns a prefix for a number or a list length that states which kind of bound it is.
export function bound(receipt, pointer) {
  return boundOf(isUnreported(receipt, pointer), within(overIn(receipt), pointer));
}

// boundOf is like bound, but for a number that may be too small (under), too large (over), or both.
export function boundOf(under, over) {
  if (under) return over ? "reportedly " : "at least ";
  return over ? "at most " : "";
}

// recorded returns a copy of a receipt in which "not recorded" replaces every listed value except
// nonzero numbers, so that no view displays a placeholder as a statement. In a listed object, it
// replaces the members. Lists and listed entries of a list are not changed. Pointers to the ID, the
// issuer, the chain, the signatures, and the metadata are ignored. The ID and the issuer do not
// depend on the source.
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
