"""The verification of one receipt in the steps parse, schema, hash, link, and signatures."""

import hashlib

from .finding import Finding, refuted
from .schema import check_receipt
from .signatures import judge_signatures
from .strict_json import canonical, parse
from .trust import strict_base64


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def receipt_hash(receipt):
    """Return the hash of the canonical receipt without the members /chain/receipt_hash and /signatures."""
    chain = {name: value for name, value in receipt["chain"].items() if name != "receipt_hash"}
    preimage = {name: value for name, value in receipt.items() if name != "signatures"} | {"chain": chain}
    return sha256(canonical(preimage).encode())


def judge(data, trust, required_issuer=None, at=None):
    """Return the receipt, or None if it does not match the schema, and the findings."""
    try:
        receipt = parse(data)
        check_receipt(receipt)
    except Finding as finding:
        return None, [finding]

    findings, chain = [], receipt["chain"]
    if chain["receipt_hash"] != receipt_hash(receipt):
        findings.append(refuted("hash", "hash_mismatch", "/chain/receipt_hash"))
    for i, material in enumerate(receipt["replay_input"]["materials"]):
        if "bytes_base64" in material:
            included = strict_base64(material["bytes_base64"])
            if included is None or material.get("sha256", sha256(included)) != sha256(included):
                findings.append(refuted("hash", "material_mismatch", f"/replay_input/materials/{i}/bytes_base64"))
    # No receipt has a hash of zeros. The first receipt of a stream contains null instead.
    if chain["previous_receipt_hash"] == "sha256:" + "0" * 64:
        findings.append(refuted("link", "chain_break", "/chain/previous_receipt_hash"))
    return receipt, findings + judge_signatures(receipt, trust, required_issuer, at)
