"""The signatures of a receipt, which cover the 71 characters of chain.receipt_hash, and the policy."""

import base64
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, utils

from .finding import Finding, refuted, undecided
from .schema import seconds
from .strict_json import parse
from .trust import strict_base64

STEP = "signatures"
LIMIT = 100  # the maximum number of entries to check, because anyone can add entries
KNOWN = re.compile("ed25519|EdDSA|ES(256|384|512)|[PR]S(256|384|512)")
LENGTHS = {"ed25519": {64}, "EdDSA": {64}, "ES256": {64}, "ES384": {96}, "ES512": {132}}  # all other algorithms use RSA


def judge_signatures(receipt, trust, required_issuer, at):
    """Return the findings of the step signatures."""
    issuer, named = receipt["issuer"]["id"], receipt["issuer"].get("public_key_id")
    entries = receipt.get("signatures", [])
    at = seconds(receipt["issued_at"]) if at is None else at
    findings, missing, dropped, met = [], [], [], False
    none = undecided(STEP, "unsigned", "/signatures")

    if required_issuer not in (None, issuer):
        findings.append(refuted(STEP, "issuer_mismatch", "/issuer/id"))
    for i, entry in enumerate(entries[:LIMIT]):
        pointer = f"/signatures/{i}"
        relevant = named in (None, entry["key_id"])
        try:
            key = check_entry(entry, receipt["chain"]["receipt_hash"], trust, pointer)
        except Finding as finding:
            (findings if finding.outcome == "refuted" else missing).append(finding)
            continue

        # The signature matches the key. The key must also be valid and trusted for the issuer.
        code = key.rejection(trust, at)
        if "issuer" not in key.roles:
            if "witness" in key.roles and named != key.id:
                continue
            code = "role_mismatch"
        unbound = code is None and key.issuers is None and issuer != required_issuer
        if code is None and not key.speaks_for(issuer, required_issuer):
            code = "issuer_mismatch"
        if not relevant:
            none = undecided(STEP, "named_key_missing", "/issuer/public_key_id")
        elif unbound:
            missing.append(undecided(STEP, "issuer_unbound", pointer))
        elif code:
            dropped.append(refuted(STEP, code, pointer))
        else:
            met = True

    if len(entries) > LIMIT:
        findings.append(undecided(STEP, "signature_limit", "/signatures"))
    if not met:
        findings += dropped + missing + [none]
    return findings


def check_entry(entry, stated_hash, trust, pointer):
    """Return the trusted key that made a signature. Raise a Finding if the entry is invalid or cannot be checked."""
    algorithm = entry["algorithm"]
    if not KNOWN.fullmatch(algorithm):
        raise undecided(STEP, "unsupported_algorithm", pointer)
    if algorithm == "ed25519":
        prefix, _, value = entry["signature"].partition(":")
        signature = strict_base64(value) if prefix == "base64" else None
        message = stated_hash.encode()
    else:
        header, signature = read_token(entry)
        payload = base64.urlsafe_b64encode(stated_hash.encode()).rstrip(b"=").decode()
        message = f"{header}.{payload}".encode()
    if not signature or len(signature) not in LENGTHS.get(algorithm, range(256, 1025)):
        raise refuted(STEP, "malformed_signature", pointer)

    key = trust.get(entry["key_id"])
    if key is None:
        raise undecided(STEP, "unknown_key", pointer)
    if algorithm not in key.algorithms:
        raise refuted(STEP, "algorithm_mismatch", pointer)
    try:
        verify(key, algorithm, signature, message)
    except (InvalidSignature, ValueError) as error:
        raise refuted(STEP, "signature_invalid", pointer) from error
    return key


def read_token(entry):
    """Return the header and the signature of a compact JWS with a detached payload (RFC 7515), or two Nones.

    The header must contain alg and kid, may contain iat but no other members, and must agree with the entry.
    """
    found = re.fullmatch(r"jws:([A-Za-z0-9_-]+)\.\.([A-Za-z0-9_-]+)", entry["signature"])
    json, signature = (strict_base64(part, url=True) for part in found.groups()) if found else (None, None)
    if not json or not signature:
        return None, None
    try:
        members = parse(json)
    except Finding:
        return None, None
    expected = {"alg": entry["algorithm"], "kid": entry["key_id"]}
    if isinstance(members, dict) and re.search(rb'"iat"\s*:\s*-?[0-9]+\s*[,}]', json):  # iat must be an integer that does not contradict signed_at
        expected["iat"] = seconds(entry["signed_at"]) if "signed_at" in entry else members.get("iat")
    return (found[1], signature) if members == expected else (None, None)


def verify(key, algorithm, signature, message):
    """Raise InvalidSignature if the key did not make the signature."""
    if "EdDSA" in key.algorithms:
        return key.public.verify(signature, message)
    hashed = getattr(hashes, "SHA" + algorithm[2:])()
    if algorithm.startswith("ES"):
        half = len(signature) // 2
        r, s = (int.from_bytes(part, "big") for part in (signature[:half], signature[half:]))
        return key.public.verify(utils.encode_dss_signature(r, s), message, ec.ECDSA(hashed))
    if algorithm.startswith("PS"):
        pss = padding.PSS(padding.MGF1(hashed), hashed.digest_size)
        return key.public.verify(signature, message, pss, hashed)
    return key.public.verify(signature, message, padding.PKCS1v15(), hashed)
