"""The schema of a receipt, receipt-2026-04-25."""

import datetime
import re

from .finding import refuted, undecided

# The members of each closed object: "name:type", or "name?:type" for an optional member. [T] is an array
# of T, and T|U is one of two types or words. Types begin with a capital letter and are in SHAPES or LEAVES.
SHAPES = {
    "Receipt": """schema:receipt-2026-04-25 receipt_id:Text subject:Subject issuer:Issuer issued_at:Time
        identifiers:Identifiers lifecycle:Lifecycle trust:Trust autonomy_budget:Autonomy replay_input:Replay
        model_route:Route cost:Cost side_effects:Effects final_artifacts:[Artifact] chain:Chain
        approvals?:[Approval] deltas?:[Delta] redactions?:[Redaction] signatures?:[Signature] metadata?:Open""",
    "Subject": "object:task|outcome|event|artifact|approval|tool_call|replay_segment id:Text",
    "Issuer": "id:Text kind:harness|host|agent|connector name?:Text version?:Text public_key_id?:Text",
    "Identifiers": """workspace_ref:Text session_id:Text task_id:Text
        tenant_id?:Text persona_ref?:Text branch_id?:Text trace_id?:Text""",
    "Lifecycle": "started_at:Time completed_at:Time final_state:SUCCEEDED|FAILED|CANCELED created_at?:Time failure?:Open|null",
    "Trust": """start_tier:shadow|suggest|act_with_approval|act_auto end_tier:shadow|suggest|act_with_approval|act_auto
        policy_ref?:Text""",
    "Autonomy": "consumed:Budget limit?:Budget",
    "Budget": "usd?:Amount input_tokens?:Count output_tokens?:Count tool_calls?:Count wall_time_ms?:Count",
    "Replay": "determinism:byte_deterministic|best_effort|unavailable materials:[Material] unavailable_reason?:Text",
    "Material": """kind:llm_provider_response|mcp_tool_return|event_log|artifact|host_fact id?:Text uri?:Text
        sha256?:Digest content_type?:Text bytes_base64?:Text metadata?:Open""",
    "Route": "chosen_model:Model alternatives_considered:[Model] route_policy_reason:Text",
    "Model": "provider:Text model:Text version?:Text reason?:Text",
    "Cost": "currency:Currency total:Amount provider_breakdown:[ProviderCost]",
    "ProviderCost": "provider:Text amount:Amount model?:Text input_tokens?:Count output_tokens?:Count metadata?:Open",
    "Effects": "fs_writes:[Write] network_egress:[Egress] tool_calls:[Call] a2a_handoffs:[Handoff]",
    "Write": "path:Text operation:create|modify|delete|rename before_sha256?:Digest|null after_sha256?:Digest|null",
    "Egress": "destination:Text purpose:Text bytes_sent?:Count metadata?:Open",
    "Call": "tool:Text call_id:Text status:succeeded|failed|canceled input_hash?:Digest output_hash?:Digest metadata?:Open",
    "Handoff": "target_agent:Text task_id:Text status:accepted|rejected|failed|completed receipt_id?:Text",
    "Artifact": "artifact_id:Text kind:Text uri?:Text sha256?:Digest",
    "Chain": "previous_receipt_hash:Digest|null receipt_hash:Digest merkle_root?:Digest",
    "Approval": """actor:Text action:Text decision:approved|denied|canceled|timeout decided_at:Time
        approval_id?:Text quorum_proof?:Open|null evidence_hash?:Digest""",
    "Delta": """operation:add|replace|remove path:Text delta_id?:Text override_key?:Text event_id?:Text
        before_sha256?:Digest|null after_sha256?:Digest|null artifact_id?:Text reason?:Text""",
    "Redaction": "field:Text reason:Text proof_hash?:Digest",
    "Signature": "key_id:Text algorithm:Text signature:Text signed_at?:Time",
}
MEMBERS = {  # for each shape, the type of each member and whether it is required
    shape: {name.rstrip("?"): (kind, name[-1] != "?") for name, kind in (member.split(":") for member in members.split())}
    for shape, members in SHAPES.items()
}


def is_digest(value):
    return isinstance(value, str) and re.fullmatch("sha256:[0-9a-f]{64}", value) is not None


LEAVES = {
    "Text": lambda value: isinstance(value, str) and value != "",
    "Amount": lambda value: isinstance(value, float) and value >= 0,
    "Count": lambda value: isinstance(value, float) and value >= 0 and value.is_integer(),
    "Time": lambda value: isinstance(value, str) and seconds(value) is not None,
    "Currency": lambda value: isinstance(value, str) and re.fullmatch("[A-Z]{3}", value),
    "Digest": is_digest,
    "Open": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def check(kind, value, pointer):
    """Raise a Finding with the JSON Pointer of the first fault if a value does not have a type."""
    if kind.startswith("["):
        require(isinstance(value, list), pointer)
        for i, element in enumerate(value):
            check(kind[1:-1], element, f"{pointer}/{i}")
    elif kind in MEMBERS:
        require(isinstance(value, dict), pointer)
        for name, (_, required) in MEMBERS[kind].items():
            require(name in value or not required, pointer)
        for name, inner in value.items():
            place = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"  # RFC 6901, section 3
            require(name in MEMBERS[kind], place)
            check(MEMBERS[kind][name][0], inner, place)
    else:
        choices = kind.split("|")
        require(any(LEAVES[c](value) if c in LEAVES else c == value for c in choices), pointer)

    if kind == "Material":  # a material is referenced by its hash, included with its hash, or described
        by_hash = "sha256" in value and ("uri" in value or "bytes_base64" in value)
        require(by_hash or "metadata" in value, pointer)


def require(condition, pointer):
    if not condition:
        raise refuted("schema", "schema_invalid", pointer)


def check_receipt(value):
    """Raise a Finding for the first fault of a receipt against its schema."""
    if not isinstance(value, dict):
        raise refuted("parse", "not_object")
    marker = value["schema"] if isinstance(value.get("schema"), str) else ""
    if not marker.startswith("receipt-") and not value.keys() & {"receipt_id", "chain"}:
        raise refuted("schema", "not_a_receipt")
    if re.fullmatch("receipt-[0-9]{4}-[0-9]{2}-[0-9]{2}", marker) and marker != "receipt-2026-04-25":
        raise undecided("schema", "unsupported_schema", "/schema")
    check("Receipt", value, "")


TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)


def seconds(text):
    """Return the seconds since 1970 of an RFC 3339 time, without its fraction, or None.

    A leap second is allowed only at the end of a UTC day and has the value of the first second of the next day.
    """
    found = TIME.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    offset_hour, offset_minute = int(found[8] or 0), int(found[9] or 0)
    if hour > 23 or minute > 59 or second > 60 or offset_hour > 23 or offset_minute > 59:
        return None
    try:  # Python does not support the year 0, and the calendar repeats every 400 years, or 146,097 days
        date = datetime.date(2000 + year % 400, month, day)
    except ValueError:
        return None

    days = date.toordinal() - datetime.date(1970, 1, 1).toordinal() + (year // 400 - 5) * 146097
    minutes = hour * 60 + minute - (offset_hour * 60 + offset_minute) * (-1 if found[7] == "-" else 1)
    if second == 60 and minutes % 1440 != 1439:
        return None
    return (days * 1440 + minutes) * 60 + second
