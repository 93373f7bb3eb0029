// The trust file, which is a JWK Set (RFC 7517) of public keys and their permitted uses. An invalid key
// invalidates the entire file.

import schema from "../../schemas/keys.schema.json" with { type: "json" };
import { strictBase64, sha256 } from "./finding.mjs";
import { canonical, encode, lookup, parse } from "./json.mjs";
import { isValid, seconds } from "./schema.mjs";

const fail = (what) => { throw new Error(`invalid trust file: ${what}`); };

// For each type of key: the algorithms, the parameters for WebCrypto, and the members of the key, which
// are also the members of its thumbprint (RFC 7638).
const elliptic = (namedCurve, alg, hash) => ({ type: "EC", algorithms: [alg], params: { name: "ECDSA", namedCurve, hash }, members: ["crv", "kty", "x", "y"] });
const kinds = {
  Ed25519: { type: "OKP", algorithms: ["ed25519", "Ed25519", "EdDSA"], params: { name: "Ed25519" }, members: ["crv", "kty", "x"] },
  "P-256": elliptic("P-256", "ES256", "SHA-256"),
  "P-384": elliptic("P-384", "ES384", "SHA-384"),
  "P-521": elliptic("P-521", "ES512", "SHA-512"),
};
for (const size of [256, 384, 512]) {
  const params = { hash: `SHA-${size}`, saltLength: size / 8 };
  const rsa = (alg, name) => ({ type: "RSA", algorithms: [alg], params: { name, ...params }, members: ["e", "kty", "n"] });
  kinds[`PS${size}`] = rsa(`PS${size}`, "RSA-PSS");
  kinds[`RS${size}`] = rsa(`RS${size}`, "RSASSA-PKCS1-v1_5");
}

// A key of a type without an implementation is kept, and signatures that name it are undecided.
for (const [alg, size] of [["ML-DSA-44", 1312], ["ML-DSA-65", 1952]]) kinds[alg] = { type: "AKP", algorithms: [alg], size, members: ["alg", "kty", "pub"] };

// readTrust returns a map from IDs to the keys in a trust file.
export async function readTrust(bytes) {
  const set = parse(bytes); // throws a Finding
  if (!isValid(schema, set)) fail("it does not match keys.schema.json");
  const keys = new Map();
  for (const jwk of set.get("keys")) {
    const key = await readKey(jwk);
    if (keys.has(key.id)) fail(`two keys with the ID ${key.id}`);
    keys.set(key.id, key);
  }
  return keys;
}

async function readKey(jwk) {
  const id = jwk.get("kid");
  const roles = jwk.get("roles") ?? ["issuer"];
  const date = (name, alternative) => jwk.get(name) ?? (jwk.has(alternative) ? seconds(jwk.get(alternative)) ?? fail(`${alternative} of ${id}`) : undefined);
  return {
    id,
    ...(await readMaterial(jwk, id)),
    issuers: jwk.get("issuers"), // if undefined, the key is trusted only for the issuer that the caller names
    roles,
    origin: jwk.get("origin") ?? (roles.includes("witness") ? id : undefined),
    notBefore: date("nbf", "valid_from") ?? -Infinity,
    notAfter: date("exp", "valid_until") ?? Infinity,
    revokedAt: lookup(jwk, "revoked", "at"),
    superseded: lookup(jwk, "revoked", "reason") === "superseded",
  };
}

// readMaterial returns the algorithms of a key and the key itself. Keys with the same thumbprint have the
// same material.
async function readMaterial(jwk, id) {
  const [type, alg] = [jwk.get("kty"), jwk.get("alg")];
  const kind = Object.hasOwn(kinds, jwk.get("crv") ?? alg) ? kinds[jwk.get("crv") ?? alg] : undefined;
  if (kind?.type !== type || !kind.algorithms.includes(alg ?? kind.algorithms[0])) fail(`${id} is of an unsupported type`);

  const members = new Map(kind.members.map((name) => [name, jwk.get(name)]));
  const [first, second] = ["e", "n", "x", "y", "pub"].filter((name) => members.has(name))
    .map((name) => strictBase64(members.get(name), true) ?? fail(`${name} of ${id} is not base64url`));
  if ((type === "OKP" && isWeak(first)) || (type === "RSA" && isWeakRSA(second, first))) fail(`${id} is a weak key`);
  if (kind.size !== undefined) return first.length === kind.size ? { algorithms: [], material: canonical(members) } : fail(`${id} is not a valid key`);
  const key = await crypto.subtle.importKey("jwk", Object.fromEntries(members), kind.params, true, ["verify"]).catch(() => fail(`${id} is not a valid key`));
  return { algorithms: kind.algorithms, params: kind.params, key, point: type === "OKP" ? first : undefined, material: canonical(members) };
}

function isWeakRSA(modulus, exponent) {
  const bits = modulus.length * 8 - Math.clz32(modulus[0]) + 24;
  return bits < 2048 || bits > 8192 || (exponent.length === 1 && exponent[0] <= 3) || exponent.at(-1) % 2 === 0;
}

// The y coordinates of the points of low order, without the sign bit: 0, 1, −1, and the two coordinates of
// points of order 8.
const prime = 2n ** 255n - 19n;
const order8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022n;
const lowOrder = [0n, 1n, prime - 1n, order8, prime - order8];

// isWeak reports whether an Ed25519 key is a point of low order or is not the canonical encoding of its
// point (RFC 8032, section 5.1.3).
function isWeak(point) {
  const y = point.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n) & (2n ** 255n - 1n);
  return point.length !== 32 || y >= prime || lowOrder.includes(y);
}

// noteId returns the ID of a key in the signature lines of a note (C2SP signed-note, tlog-cosignature).
export const noteId = async (name, type, point) => (await sha256(encode(name), Uint8Array.of(0x0a, type), point)).subarray(0, 4);
