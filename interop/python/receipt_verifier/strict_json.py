"""A parser of strict I-JSON (RFC 7493) and an encoder of canonical JSON (RFC 8785).

It uses Python's json module and adds checks that json lacks. All numbers are floats, as in RFC 8785.
"""

import itertools
import json
import math
import re

from .finding import refuted

MAX_DEPTH = 128  # the maximum depth of arrays and objects in a receipt
MAX_SIZE = 16 << 20  # the maximum size of a receipt in bytes
STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
SURROGATE = re.compile("[\ud800-\udfff]")


def parse(data, max_depth=MAX_DEPTH):
    """Return the value of a JSON text, or raise a Finding of the step parse."""
    if len(data) > MAX_SIZE:
        raise refuted("parse", "size_limit")
    # Bytes that are not UTF-8 become lone surrogates, which valid UTF-8 cannot contain.
    text = data.decode("utf-8", "surrogateescape")
    damage = SURROGATE.search(text)
    if not text.strip(" \t\n\r"):
        raise refuted("parse", "empty_input")
    if deeper(text, max_depth):
        raise refuted("parse", "depth_limit")

    try:
        value = json.loads(text, parse_int=number, parse_float=number, parse_constant=word, object_pairs_hook=members)
    except json.JSONDecodeError as error:
        if damage and damage.start() < error.pos:
            raise refuted("parse", "invalid_utf8") from error
        raise refuted("parse", "trailing_data" if error.msg == "Extra data" else "syntax") from error
    if damage:
        raise refuted("parse", "invalid_utf8")
    if SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise refuted("parse", "lone_surrogate")  # RFC 7493, section 2.1
    return value


def deeper(text, limit):
    """Return whether the brackets outside of strings are nested more deeply than the limit."""
    brackets = re.findall(r"[\[\]{}]", STRING.sub("", text))
    return max(itertools.accumulate(1 if bracket in "[{" else -1 for bracket in brackets), default=0) > limit


def number(text):
    # The format limits the length because some libraries misread longer numbers with an exponent.
    if re.search("^[^eE]{801,}[eE]", text):
        raise refuted("parse", "number_range")
    value = float(text)
    if math.isinf(value):
        raise refuted("parse", "number_range")
    # Every double above 2^53 is an integer, and several integers have the same canonical text (section 2.2).
    if abs(value) > 2**53 - 1:
        raise refuted("parse", "number_precision")
    return value


def word(_):  # rejects NaN and Infinity, which Python accepts by default
    raise refuted("parse", "syntax")


def members(pairs):
    result = dict(pairs)
    if len(result) < len(pairs):
        raise refuted("parse", "duplicate_name")  # RFC 7493, section 2.3
    return result


def canonical(value):
    """Return the canonical JSON text (RFC 8785). Members are sorted by UTF-16 code units (section 3.2.3)."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False)


def number_text(value):
    """Format a number like Number::toString of ECMA-262. repr returns the same digits in another notation."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")

    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    dot = "." if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{dot}{digits[1:]}e{point - 1:+d}"
