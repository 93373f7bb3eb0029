// What the source of a receipt did not tell, as the receipt lists it in
// metadata.unreported: JSON Pointers. What stands there is no statement, and a
// number there is a lower bound. Absent is not zero.
import { list, member } from "./json.js";

export const notTold = "not told by the source";

const most = 1000;

// untoldIn returns the pointers that a receipt lists.
export function untoldIn(receipt) {
  return pointers(receipt, "unreported");
}

// overIn returns the pointers of what may hold more than happened: metadata.at_most.
export function overIn(receipt) {
  return pointers(receipt, "at_most");
}

function pointers(receipt, name) {
  return list(member(receipt, "metadata", name)).slice(0, most).filter((pointer) => typeof pointer === "string" && pointer.startsWith("/"));
}

// isUntold is true of a member that is listed, or that is part of one.
export function isUntold(receipt, pointer) {
  return within(untoldIn(receipt), pointer);
}

// bound says what a number or the length of a list is a bound of. One that may be both
// too small and too large is only what the source told.
export function bound(receipt, pointer) {
  const over = within(overIn(receipt), pointer);
  if (isUntold(receipt, pointer)) return over ? "reportedly " : "at least ";
  return over ? "at most " : "";
}

function within(listed, pointer) {
  return listed.some((one) => pointer === one || pointer.startsWith(one + "/"));
}
