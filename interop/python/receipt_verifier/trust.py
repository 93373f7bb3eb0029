"""The trust file, which is a JWK Set (RFC 7517) of public keys and their permitted uses."""

import base64
import re
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from .finding import Finding
from .schema import seconds
from .strict_json import canonical, parse

CURVES = {"P-256": ("ES256", ec.SECP256R1, 32), "P-384": ("ES384", ec.SECP384R1, 48),
          "P-521": ("ES512", ec.SECP521R1, 66)}
MEMBERS = {"OKP": ("crv", "kty", "x"), "EC": ("crv", "kty", "x", "y"), "RSA": ("e", "kty", "n"), "AKP": ("alg", "kty", "pub")}  # RFC 7638
PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"}
PRIME = 2**255 - 19
ORDER8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022
LOW_ORDER = (0, 1, PRIME - 1, ORDER8, PRIME - ORDER8)  # the y coordinates of the points of low order


class KeyFileError(Exception):
    """An invalid key, which invalidates the entire file."""


@dataclass
class Key:
    id: str
    algorithms: tuple
    public: object
    material: str  # the same for keys with the same thumbprint
    issuers: list  # if None, the key is trusted only for the issuer that the caller names
    roles: list
    not_before: float
    not_after: float
    revoked_at: float
    superseded: bool

    def speaks_for(self, issuer, named):
        return issuer in self.issuers if self.issuers is not None else issuer == named

    def rejection(self, trust, at):
        """Return the code that explains why the key is not valid at a time, or None.

        A revocation, except of a superseded ID, applies to the material under every ID.
        """
        for other in trust.values():
            if other.material == self.material and other.revoked_at is not None and not other.superseded:
                return "key_revoked"
        if self.superseded and at >= self.revoked_at:
            return "key_revoked"
        if at < self.not_before:
            return "key_not_yet_valid"
        return "key_expired" if at >= self.not_after else None


def strict_base64(value, url=False):
    """Decode padded base64 or unpadded base64url (RFC 4648). Return None if the text is not canonical."""
    if url:
        value = value.translate({45: "+", 95: "/", 43: "!", 47: "!", 61: "!"}) + "=" * (-len(value) % 4)
    try:
        data = base64.b64decode(value, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data).decode() == value else None


def read_trust(data):
    """Return a mapping from IDs to the keys in a trust file."""
    try:
        keys = [read_key(jwk) for jwk in parse(data)["keys"]]
    except (Finding, KeyError, TypeError, ValueError, AttributeError) as error:
        raise KeyFileError(str(error)) from error
    trust = {key.id: key for key in keys}
    if not keys or len(trust) < len(keys):
        raise KeyFileError("no keys, or two with one ID")
    return trust


def read_key(jwk):
    require(isinstance(jwk["kid"], str) and jwk["kid"] != "", "a key without kid")
    require(not PRIVATE & jwk.keys(), "not a public key")
    require(jwk.get("use", "sig") == "sig" and "verify" in jwk.get("key_ops", ["verify"]), "not for signatures")
    roles = jwk.get("roles", ["issuer"])
    require(roles and set(roles) <= {"issuer", "witness", "checkpoint"}, "unknown roles")
    require(jwk.get("issuers", ["x"]), "an empty list of issuers")
    revoked = jwk.get("revoked", {"at": None})
    return Key(
        jwk["kid"], *read_material(jwk), jwk.get("issuers"), roles,
        jwk.get("nbf", seconds(jwk["valid_from"]) if "valid_from" in jwk else float("-inf")),
        jwk.get("exp", seconds(jwk["valid_until"]) if "valid_until" in jwk else float("inf")),
        revoked["at"], revoked.get("reason") == "superseded",
    )


def read_material(jwk):
    """Return the algorithms, the public key, and the material of a key."""
    kind, alg = jwk["kty"], jwk.get("alg")
    numbers = {name: strict_base64(jwk[name], url=True) for name in MEMBERS[kind] if len(name) == 1}
    material = canonical({name: jwk[name] for name in MEMBERS[kind]})
    if kind == "AKP":  # the key is kept, and signatures that name it are undecided
        require(len(strict_base64(jwk["pub"], url=True) or b"") == {"ML-DSA-44": 1312, "ML-DSA-65": 1952}[alg], "an unsupported key")
        return (), None, material
    if kind == "OKP":
        require(jwk["crv"] == "Ed25519" and alg in (None, "ed25519", "Ed25519", "EdDSA"), "an unsupported key")
        y = int.from_bytes(numbers["x"], "little") & (2**255 - 1)
        # RFC 8032, section 5.1.3, requires y to be less than the prime. A key of low order accepts any message.
        require(y < PRIME and y not in LOW_ORDER, "a weak key")
        return ("ed25519", "EdDSA"), ed25519.Ed25519PublicKey.from_public_bytes(numbers["x"]), material

    integers = {name: int.from_bytes(data, "big") for name, data in numbers.items()}
    if kind == "EC":
        only, group, size = CURVES[jwk["crv"]]
        require(alg in (None, only) and {len(data) for data in numbers.values()} == {size}, "an unsupported key")
        return (only,), ec.EllipticCurvePublicNumbers(integers["x"], integers["y"], group()).public_key(), material

    require(re.fullmatch("[PR]S(256|384|512)", alg), "an unsupported key")
    n, e = integers["n"], integers["e"]
    require(2048 <= n.bit_length() <= 8192 and e > 3 and e % 2 == 1, "a weak key")
    return (alg,), rsa.RSAPublicNumbers(e, n).public_key(), material


def require(condition, message):
    if not condition:
        raise ValueError(message)
