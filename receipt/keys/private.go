package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"

	"filippo.io/mldsa"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A PrivateKey can sign receipts. Printing it with any verb shows only its ID and algorithm. Only
// [PrivateKey.MarshalPrivate] writes the secret.
type PrivateKey struct {
	algorithm string        // algorithm of signatures; for an Ed25519 key, EdDSA if that is its alg, and ed25519 otherwise
	key       crypto.Signer // from crypto/ed25519, crypto/ecdsa, crypto/rsa, or filippo.io/mldsa
	public    *PublicKey
}

// newPrivate checks a public key, and combines it with its private key. The algorithm is one of
// [Algorithms], "Ed25519", or "" for the algorithm that the type of the key implies.
func newPrivate(key crypto.Signer, id, algorithm string) (*PrivateKey, error) {
	public, err := FromPublic(key.Public(), id, algorithm)
	if err != nil {
		return nil, err
	}
	k := &PrivateKey{algorithm: public.Algorithm, key: key, public: public}
	if k.algorithm == Ed25519 {
		if algorithm == edDSA {
			k.algorithm = edDSA
		} else {
			public.alg = jwkAlgorithm(Ed25519)
		}
	}
	return k, nil
}

// Public returns the public key, with the roles and the origin from the file of the private key.
// The public key has no issuers yet.
func (k *PrivateKey) Public() *PublicKey { return k.public.clone() }

// Format writes the ID and the algorithm for every verb.
func (k PrivateKey) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "private key %s (%s)", quote(k.Public().ID), k.algorithm)
}

// rsaBits is the size in bits of generated RSA keys, which provides 128 bits of security (NIST SP
// 800-57 part 1).
const rsaBits = 3072

// Generate generates a private key for one of [Algorithms] or [MLDSA44]. If id is empty, the ID is
// derived from the key as in [FromPublic].
//
// Ed25519 keys and the seeds of ML-DSA keys are 32 bytes read from random. crypto/ecdsa and
// crypto/rsa ignore random and use randomness from the system (since Go 1.26).
func Generate(random io.Reader, algorithm, id string) (*PrivateKey, error) {
	return generate(random, algorithm, id, rsaBits)
}

func generate(random io.Reader, algorithm, id string, bits int) (*PrivateKey, error) {
	if err := checkAlgorithm(algorithm); err != nil {
		return nil, err
	}
	if random == nil {
		return nil, errors.New("keys: source of randomness is missing")
	}
	key, err := generateKey(random, algorithm, bits)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return newPrivate(key, id, algorithm)
}

func generateKey(random io.Reader, algorithm string, bits int) (crypto.Signer, error) {
	switch algorithm {
	case Ed25519, edDSA:
		_, key, err := ed25519.GenerateKey(random)
		return key, err
	case es256:
		return ecdsa.GenerateKey(elliptic.P256(), random)
	case es384:
		return ecdsa.GenerateKey(elliptic.P384(), random)
	case es512:
		return ecdsa.GenerateKey(elliptic.P521(), random)
	case MLDSA44, mldsa65:
		seed := make([]byte, mldsa.PrivateKeySize)
		if _, err := io.ReadFull(random, seed); err != nil {
			return nil, err
		}
		parameters, _ := parametersOf(algorithm)
		return mldsa.NewPrivateKey(parameters, seed)
	}
	return rsa.GenerateKey(random, bits)
}

// ParsePrivate parses a private JWK of type Ed25519 (RFC 8037), EC, RSA with two primes (RFC 7518
// section 6), or ML-DSA (RFC 9964). If kid is absent, the ID is derived from the key as in
// [FromPublic]. alg is required for RSA. An Ed25519 key whose alg is EdDSA makes JWS signatures.
// Any other Ed25519 key makes native ed25519 signatures. The public members are required, and must
// match the private members. The error is a *[SetError] and never contains key material.
func ParsePrivate(data []byte) (*PrivateKey, error) {
	root, err := parsePrivateJSON(data)
	if err != nil {
		return nil, err
	}

	key, bad := parsePrivate(root)
	if bad != nil {
		return nil, bad.of(root.Member("kid").String())
	}
	if bad := checkUse(root, "sign"); bad != nil {
		return nil, bad.of(root.Member("kid").String())
	}

	// If a member is absent, the default is used. An empty member is an error.
	id, alg := root.Member("kid"), root.Member("alg")
	if !id.IsZero() && id.String() == "" {
		return nil, invalid("/kid", "expected kid as a string that is not empty")
	}
	if !alg.IsZero() && alg.String() == "" {
		return nil, invalid("/alg", "expected alg as a string that is not empty")
	}

	k, err := newPrivate(key, id.String(), alg.String())
	if err != nil {
		return nil, err
	}

	// The roles and the origin are only for signers. A verifier uses only the roles and the origin
	// in the trust file.
	bound := new(PublicKey)
	if bad := bound.parseBindings(root); bad != nil {
		return nil, bad.of(k.public.ID)
	}

	return k.For(bound.Roles, bound.Origin), nil
}

// For returns a copy of the key with the given roles and origin. The public key is trusted for
// these roles, and the key signs or cosigns checkpoints for this origin. The roles and the origin
// are only for signers. A verifier uses only the roles and the origin in the trust file.
func (k *PrivateKey) For(roles []receipt.Role, origin string) *PrivateKey {
	c := *k
	c.public = k.public.clone()
	c.public.Roles, c.public.Origin = slices.Clone(roles), origin
	return &c
}

const maxPrivate = 64 << 10 // maximum length of a private JWK, in bytes

func parsePrivateJSON(data []byte) (canon.Node, error) {
	doc := new(canon.Document)
	if err := doc.Parse(data, canon.Limits{Bytes: maxPrivate, Depth: maxDepth}); err != nil {
		if recognize(data) != nil {
			return canon.Node{}, invalid("", "this is not a JWK but a PEM or an OpenSSH file")
		}
		return canon.Node{}, syntax(err)
	}

	// Recognize documents that are often passed instead of a private JWK by mistake.
	root := doc.Root()
	switch {
	case root.Kind() != canon.KindObject:
		return root, invalid("", "expected a private JWK, a JSON object")
	case !root.Member("keys").IsZero():
		return root, invalid("/keys", "this is a JWK Set; expected one private JWK")
	case root.Member("kty").String() == "oct":
		return root, invalid("/kty", "kty is \"oct\", a symmetric key; receipts are signed with OKP, EC, RSA and AKP keys")
	case !root.Member("kty").IsZero() && root.Member("d").IsZero() && root.Member("priv").IsZero():
		return root, invalid("", "this is a public key; signing needs the private one").of(root.Member("kid").String())
	}

	return root, nil
}

func parsePrivate(n canon.Node) (crypto.Signer, *SetError) {
	m, _, err := parseMaterial(n)
	if err != nil {
		return nil, err
	}

	// If the keys did not match, signatures could not be verified with the public key.
	switch pub := m.(type) {
	case ed25519.PublicKey:
		seed, err := octets(n, "d", ed25519.SeedSize)
		if err != nil {
			return nil, err
		}
		if key := ed25519.NewKeyFromSeed(seed); pub.Equal(key.Public()) {
			return key, nil
		}
	case *ecdsa.PublicKey:
		d, err := octets(n, "d", coordinate(pub.Curve))
		if err != nil {
			return nil, err
		}
		if key, err := ecdsa.ParseRawPrivateKey(pub.Curve, d); err == nil && pub.Equal(key.Public()) {
			return key, nil
		}
	case *rsa.PublicKey:
		return parsePrivateRSA(n, pub)
	case *mldsa.PublicKey:
		seed, err := octets(n, "priv", mldsa.PrivateKeySize)
		if err != nil {
			return nil, err
		}
		if key, err := mldsa.NewPrivateKey(pub.Parameters(), seed); err == nil && pub.Equal(key.Public()) {
			return key, nil
		}
		return nil, invalid("/priv", "the private and the public members are not one key")
	}

	return nil, invalid("/d", "the private and the public members are not one key")
}

// parsePrivateRSA parses the members that are defined in RFC 7518 section 6.3.2. dp, dq, and qi can
// be computed from the others. If they are present, they must be correct.
func parsePrivateRSA(n canon.Node, pub *rsa.PublicKey) (crypto.Signer, *SetError) {
	if !n.Member("oth").IsZero() {
		return nil, invalid("/oth", "an RSA key with more than two primes")
	}

	// d, p, and q are required; dp, dq, and qi can be computed from them (RFC 7518 section 6.3.2).
	value := make(map[string]*big.Int)
	for _, name := range []string{"d", "p", "q", "dp", "dq", "qi"} {
		if optional := len(name) == 2; optional && n.Member(name).IsZero() {
			continue
		}
		b, err := integer(n, name)
		if err != nil {
			return nil, err
		}
		value[name] = new(big.Int).SetBytes(b)
	}

	if err := checkPrimes(pub.N, value["d"], value["p"], value["q"]); err != nil {
		return nil, err
	}

	key := &rsa.PrivateKey{PublicKey: *pub, D: value["d"], Primes: []*big.Int{value["p"], value["q"]}}
	if err := key.Validate(); err != nil {
		return nil, invalid("/d", "the private and the public members are not one key")
	}

	// dp, dq, and qi must be correct, because another reader might use them (RFC 7518 sections
	// 6.3.2.4 to 6.3.2.6).
	key.Precompute()
	for name, want := range map[string]*big.Int{"dp": key.Precomputed.Dp, "dq": key.Precomputed.Dq, "qi": key.Precomputed.Qinv} {
		if got := value[name]; got != nil && got.Cmp(want) != 0 {
			return nil, invalid("/"+name, "%s does not belong to the other members", name)
		}
	}

	return key, nil
}

// checkPrimes limits the size of the numbers, because crypto/rsa would exponentiate them before it
// detects that they are not a key.
func checkPrimes(n, d, p, q *big.Int) *SetError {
	switch {
	case n.BitLen() > maxModulus:
		return weak("", "the RSA modulus has %d bits, at most %d are read", n.BitLen(), maxModulus)
	case p.Sign() <= 0, q.Sign() <= 0, d.Sign() <= 0, d.Cmp(n) >= 0, p.Cmp(n) >= 0, q.Cmp(n) >= 0:
		return invalid("", "the members of the RSA private key are not one key")
	}
	return nil
}

// MarshalPrivate returns the private JWK, including the secret, as one line that ends with a line
// feed. Only the owner should have permission to read a file that contains it.
func (k *PrivateKey) MarshalPrivate() ([]byte, error) {
	secret, err := privateMembers(k.key)
	if err != nil {
		return nil, err
	}
	return append(appendObject(nil, append(k.public.members(), secret...)), '\n'), nil
}

func privateMembers(key crypto.Signer) ([]member, error) {
	switch key := key.(type) {
	case ed25519.PrivateKey:
		return []member{text("d", encodeURL(key.Seed()))}, nil
	case *ecdsa.PrivateKey:
		d, err := key.Bytes()
		if err != nil {
			return nil, errors.New("keys: ECDSA key cannot be encoded")
		}
		return []member{text("d", encodeURL(d))}, nil
	case *rsa.PrivateKey:
		if len(key.Primes) != 2 {
			return nil, errors.New("keys: RSA key has more than two primes")
		}
		key.Precompute()
		unsigned := func(name string, n *big.Int) member { return text(name, encodeURL(n.Bytes())) }
		return []member{unsigned("d", key.D), unsigned("p", key.Primes[0]), unsigned("q", key.Primes[1]),
			unsigned("dp", key.Precomputed.Dp), unsigned("dq", key.Precomputed.Dq), unsigned("qi", key.Precomputed.Qinv)}, nil
	case *mldsa.PrivateKey:
		return []member{text("priv", encodeURL(key.Bytes()))}, nil
	}
	return nil, errors.New("keys: private key is empty")
}
