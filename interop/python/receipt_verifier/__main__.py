"""The command line:

python3 -m receipt_verifier CASE           verifies a case of the corpus (fixtures/corpus/README.md)
python3 -m receipt_verifier --cases        verifies the cases whose paths are on stdin, one per line
python3 -m receipt_verifier --batch TRUST  verifies receipts from stdin, each with a length prefix of 4 bytes
"""

import json
import pathlib
import sys

from .chain import judge_links
from .finding import worst
from .receipt import judge, receipt_hash
from .schema import seconds
from .trust import read_trust

LINKS = {"previous", "head", "count", "partial", "unordered"}
ANSWERS = {"verified": ("valid", 0), "refuted": ("invalid", 1), "undecided": ("undecidable", 2)}


def answer(path):
    """Return the output line and the exit code for a case."""
    case = json.loads(pathlib.Path(path).read_bytes())
    files = [(entry["role"], (pathlib.Path(path).parent / entry["file"]).read_bytes()) for entry in case["inputs"]]
    sources = [data for role, data in files if role == "receipts"]
    inputs = [split(data) for data in sources]
    options = case["options"]
    known = {role for role, _ in files} == {"receipts", "trust"} and options.keys() <= LINKS | {"at", "issuer"}
    if case["task"] != "verify" or not known or None in inputs:
        return "", 4

    trust = read_trust(dict(files)["trust"])
    at = seconds(options["at"]) if "at" in options else None
    judged = [[judge(item, trust, options.get("issuer"), at) for item in items] for items in inputs]
    opened = [[(receipt, receipt and receipt_hash(receipt)) for receipt, _ in items] for items in judged]
    # An unreadable last line without a newline may be truncated, which this verifier does not support.
    if any(items[1:] and items[-1][0] is None and not data.endswith(b"\n") for items, data in zip(judged, sources)):
        return "", 4
    links = judge_links(opened, **{name: options[name] for name in options.keys() & LINKS})
    finding = worst([finding for items in judged for _, found in items for finding in found] + links)
    verdict, code = ANSWERS[finding.outcome if finding else "verified"]
    return json.dumps({"verdict": verdict, "code": finding and finding.code}, separators=(",", ":")), code


def split(data):
    """Return the receipts in a document or in JSON lines, or None for an archive, an array, or an attestation."""
    if data[:1] and data[0] >> 5 == 5 or data.lstrip()[:1] == b"[" or b'"dsseEnvelope"' in data:
        return None
    lines = [line for line in data.split(b"\n") if line.strip(b" \t\r")]
    is_lines = lines and (lines[0].rstrip().endswith(b"}") or lines[1:] and lines[1].lstrip().startswith(b"{"))
    return lines if is_lines else [data]


def batch(trust):
    """Write an output line for each receipt. The length prefixes are big-endian."""
    while size := sys.stdin.buffer.read(4):
        finding = worst(judge(sys.stdin.buffer.read(int.from_bytes(size, "big")), trust)[1])
        print(f"{finding.outcome} {finding.code}" if finding else "verified ")


if sys.argv[1] == "--batch":
    batch(read_trust(pathlib.Path(sys.argv[2]).read_bytes()))
elif sys.argv[1] == "--cases":
    print(*(answer(each)[0] for each in sys.stdin.read().splitlines()), sep="\n")
else:
    print((verdict := answer(sys.argv[1]))[0])
    sys.exit(verdict[1])
