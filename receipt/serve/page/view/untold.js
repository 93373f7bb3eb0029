// What the source of a receipt did not tell, as the receipt lists it in
// metadata.unreported: JSON Pointers. What stands there is no statement, and a
// number there is a lower bound. Absent is not zero.
import { list, member } from "./json.js";

export const notTold = "not told by the source";

const most = 1000;

// untoldIn returns the pointers that a receipt lists.
export function untoldIn(receipt) {
  return list(member(receipt, "metadata", "unreported")).slice(0, most).filter((pointer) => typeof pointer === "string" && pointer.startsWith("/"));
}

// isUntold is true of a member that is listed, or that is part of one.
export function isUntold(receipt, pointer) {
  return untoldIn(receipt).some((listed) => pointer === listed || pointer.startsWith(listed + "/"));
}
