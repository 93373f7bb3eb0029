"""The links between receipts. Each receipt contains the hash of its predecessor, or null if it is the first."""

from .finding import refuted, undecided


def judge_links(inputs, previous=None, head=None, count=None, partial=False, unordered=False):
    """Return the findings about links. inputs is a list of lists of (receipt or None, computed hash).

    Links may join receipts from different inputs.
    """
    seen, distinct = set(), []
    for opened in inputs:
        distinct.append([pair for pair in opened if pair[0] is None or not (pair[1] in seen or seen.add(pair[1]))])
    receipts = [(receipt, computed) for opened in distinct for receipt, computed in opened if receipt]
    by_hash = {receipt["chain"]["receipt_hash"]: receipt for receipt, _ in receipts}
    by_hash |= {computed: receipt for receipt, computed in receipts}
    gaps = sum(len(opened) for opened in distinct) - len(receipts)  # each unreadable receipt may be a predecessor

    codes, named, begun, ids = [], set(), set(), {}
    for receipt, computed in receipts:
        stream, stated = stream_of(receipt), receipt["chain"]["previous_receipt_hash"]
        before = by_hash.get(stated)
        if before and stream_of(before) != stream:
            codes.append("chain_break")
        if stated and (stream, stated) in named:
            codes.append("chain_fork")  # two receipts name the same predecessor
        elif before is None:
            # A stream begins only once. If the first receipt names a predecessor, that predecessor is unknown.
            excused = stated and (partial or gaps > 0)
            gaps -= bool(stated and stream in begun)
            if stream in begun and not excused or stream not in begun and previous not in (None, stated):
                codes.append("chain_break")
            begun.add(stream)
        named.add((stream, stated))
        if ids.setdefault((stream[0], receipt["receipt_id"]), computed) != computed:
            codes.append("duplicate_id")

    for opened in [] if unordered else distinct:
        last = {}
        for receipt in (receipt for receipt, _ in opened if receipt):
            before = by_hash.get(receipt["chain"]["previous_receipt_hash"])
            inside = any(before is other for other, _ in opened if other)
            if inside and last.get(stream_of(receipt)) is not before:
                codes.append("chain_break")  # the receipt does not directly follow its predecessor
            last[stream_of(receipt)] = receipt

    # A receipt that cannot be read may be the missing receipt.
    absent = undecided if any(receipt is None for opened in distinct for receipt, _ in opened) else refuted
    is_head = head in by_hash.keys() - {stated for _, stated in named}
    ends = [(refuted if head in by_hash else absent)("link", "head_mismatch")] if head is not None and not is_head else []
    ends += [(refuted if len(receipts) > count else absent)("link", "count_mismatch")] if count not in (None, len(receipts)) else []
    return [refuted("link", code) for code in codes] + ends


def stream_of(receipt):
    return receipt["issuer"]["id"], *map(receipt["identifiers"].get, ("tenant_id", "workspace_ref"))
