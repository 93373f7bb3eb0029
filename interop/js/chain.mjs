// The links between receipts. A stream consists of the receipts of one issuer, tenant, and workspace.
// Each receipt contains the hash of its predecessor; the first receipt contains null instead.

import { refuted, undecided } from "./finding.mjs";
import { lookup } from "./json.mjs";

const streamOf = ({ receipt }) => JSON.stringify([
  lookup(receipt, "issuer", "id"), lookup(receipt, "identifiers", "tenant_id"), lookup(receipt, "identifiers", "workspace_ref"),
]);

const broken = (code) => refuted("link", code, "/chain/previous_receipt_hash");

// judgeLinks adds the findings about links to the receipts and returns the findings about entire streams.
// inputs is a list of lists of opened receipts. Links may join receipts from different inputs.
export function judgeLinks(inputs, { unordered, partial, strict, previous: given, head, count }) {
  const seen = new Set();
  const isFirst = ({ computed }) => computed === undefined || (!seen.has(computed) && seen.add(computed)); // ignores copies
  const distinct = inputs.map((input) => input.filter(isFirst));
  const receipts = distinct.flat().filter((opened) => opened.receipt !== undefined);
  const byHash = new Map(receipts.flatMap((opened) => [[opened.computed, opened], [opened.stated, opened]]));
  const predecessor = (opened) => byHash.get(opened.previous);
  // Each unreadable receipt may be a predecessor, except the last receipt if there is only one input.
  const isGap = ({ receipt, findings }) => receipt === undefined && !(inputs.length === 1 && !unordered && findings[0].code === "torn_tail");
  let gaps = distinct.flat().filter(isGap).length;
  const [named, begun, ids] = [new Set(), new Set(), new Set()];
  const firsts = unordered || inputs.length > 1 ? receipts.filter(({ previous }) => previous === null) : []; // may come later
  for (const opened of new Set([...firsts, ...receipts])) {
    const [stream, before] = [streamOf(opened), predecessor(opened)];
    const place = `${stream} ${opened.previous}`;
    if (before !== undefined && streamOf(before) !== stream) opened.findings.push(broken("chain_break"));
    if (opened.previous !== null && named.has(place)) opened.findings.push(broken("chain_fork")); // two successors
    else if (before === undefined) {
      // A stream begins only once. If the first receipt names a predecessor, that predecessor is unknown.
      const selected = partial && opened.previous !== null;
      const again = begun.has(stream) && !selected && !(opened.previous !== null && gaps-- > 0);
      const elsewhere = given !== undefined && !begun.has(stream) && opened.previous !== given;
      if (again || elsewhere) opened.findings.push(broken("chain_break"));
      if (strict && given === undefined && opened.previous !== null) opened.findings.push(undecided("link", "link_not_checked"));
      begun.add(stream);
    }
    named.add(place);

    // An issuer never uses one receipt_id for two different receipts.
    const id = JSON.stringify([lookup(opened.receipt, "issuer", "id"), opened.receipt.get("receipt_id")]);
    if (ids.has(id)) opened.findings.push(refuted("link", "duplicate_id", "/receipt_id"));
    ids.add(id);
  }

  if (!unordered) distinct.forEach((input) => judgeOrder(input, predecessor));
  const findings = [];
  const followed = new Set(receipts.map(predecessor));
  // A receipt that cannot be read may be the missing receipt.
  const absent = inputs.flat().every(({ receipt }) => receipt !== undefined) ? refuted : undecided;
  const isHead = byHash.has(head) && !followed.has(byHash.get(head));
  if (head !== undefined && !isHead) findings.push((byHash.has(head) ? refuted : absent)("link", "head_mismatch"));
  if (count !== undefined && receipts.length !== count) findings.push((receipts.length > count ? refuted : absent)("link", "count_mismatch"));
  return findings;
}

// judgeOrder checks that a predecessor in the same input comes directly before its successor.
function judgeOrder(input, predecessor) {
  const last = new Map(); // the last receipt of each stream
  for (const opened of input.filter(({ receipt }) => receipt !== undefined)) {
    const before = predecessor(opened);
    if (input.includes(before) && last.get(streamOf(opened)) !== before) opened.findings.push(broken("chain_break"));
    last.set(streamOf(opened), opened);
  }
}
