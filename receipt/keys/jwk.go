package keys

import (
	"math"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// parseKey parses a public JWK. If id is not empty, it is used instead of kid. If neither is
// present, the ID is derived from the key material. For a key in a set, the caller must check first
// that kid is present. algorithm is used if alg is missing.
func parseKey(n canon.Node, id, algorithm string) (*PublicKey, *SetError) {
	if n.Kind() != canon.KindObject {
		return nil, invalid("", "expected a JWK, a JSON object")
	}
	if err := checkPublic(n); err != nil {
		return nil, err.of(n.Member("kid").String())
	}

	known := []string{"kid", "kty", "crv", "x", "y", "n", "e", "alg", "issuers", "roles", "origin", "nbf", "exp", "revoked"}
	if n.Member("kty").String() == "AKP" {
		known = append(known, "pub")
	}

	// Parse the ID first, because errors from the later steps contain it.
	k := &PublicKey{other: otherMembers(n, known...)}
	for _, step := range []func(*PublicKey, canon.Node) *SetError{
		func(k *PublicKey, n canon.Node) *SetError { return k.parseID(n, id) },
		func(_ *PublicKey, n canon.Node) *SetError { return checkUse(n, "verify") },
		func(k *PublicKey, n canon.Node) *SetError { return k.parseMaterial(n, algorithm) },
		(*PublicKey).parseBindings, (*PublicKey).parseValidity, (*PublicKey).parseRevoked,
	} {
		if err := step(k, n); err != nil {
			return nil, err.of(k.ID)
		}
	}

	return k, nil
}

// checkPublic rejects members that only private and symmetric keys have (RFC 7518 sections 6.2.2,
// 6.3.2, and 6.4, RFC 9964). The error does not contain their values.
func checkPublic(n canon.Node) *SetError {
	for _, name := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"} {
		if !n.Member(name).IsZero() {
			return invalid("/"+name, "the member %q belongs to a private or symmetric key, and this must be a public one; "+
				"give the public half, and if others have seen this file, make a new key", name).form("private JWK")
		}
	}
	return nil
}

func (k *PublicKey) parseID(n canon.Node, id string) *SetError {
	kid := n.Member("kid")
	if id == "" && !kid.IsZero() {
		if kid.Kind() != canon.KindString || len(kid.Text()) == 0 {
			return invalid("/kid", "expected kid, the key's name, as a string that is not empty")
		}
		id = kid.String()
	}
	if len(id) > maxIDBytes {
		return invalid("/kid", "kid has %d bytes, at most %d are read", len(id), maxIDBytes)
	}
	k.ID = id
	return nil
}

func (k *PublicKey) parseMaterial(n canon.Node, algorithm string) *SetError {
	m, natural, err := parseMaterial(n)
	if err != nil {
		return err
	}
	if err := checkForeign(n); err != nil {
		return err
	}

	// alg is the algorithm that the key is intended for (RFC 7517 section 4.4). A token cannot
	// change it.
	if alg := n.Member("alg"); !alg.IsZero() {
		if alg.Kind() != canon.KindString {
			return invalid("/alg", "expected alg as a string")
		}
		algorithm = alg.String()
		if algorithm == "" {
			return invalid("/alg", "alg is empty")
		}
	}

	if k.Algorithm, err = chooseAlgorithm(natural, algorithm); err != nil {
		return err
	}
	k.alg, k.material, k.Thumbprint = algorithm, m, thumbprint(m)
	if k.ID == "" {
		k.ID = defaultID(m, k.Algorithm)
	}

	return nil
}

// checkForeign rejects members that belong to a different type of key. A reader that uses these
// members could otherwise obtain a different key.
func checkForeign(n canon.Node) *SetError {
	foreign := map[string][]string{"OKP": {"y", "n", "e"}, "EC": {"n", "e"}, "RSA": {"crv", "x", "y"}, "AKP": {"crv", "x", "y", "n", "e"}}
	for _, name := range foreign[n.Member("kty").String()] {
		if !n.Member(name).IsZero() {
			return invalid("/"+name, "the member %q does not belong to a key of type %s", name, n.Member("kty").String())
		}
	}
	return nil
}

// chooseAlgorithm returns the algorithm of a key. If the type of the key implies an algorithm, that
// algorithm is used, and alg must be consistent with it if present. The type of an RSA key implies
// no algorithm, so alg is used.
func chooseAlgorithm(natural, alg string) (string, *SetError) {
	switch {
	case natural == Ed25519:
		if alg != "" && !isEd25519Name(alg) {
			return "", invalid("/alg", "alg is %s, expected EdDSA, Ed25519 or ed25519 for an Ed25519 key", quote(alg))
		}
	case natural != "":
		if alg != "" && alg != natural {
			return "", invalid("/alg", "alg is %s, expected %s, the one of the key", quote(alg), natural)
		}
	default:
		const which = "; an RSA key must state which of PS256, PS384, PS512, RS256, RS384 and RS512 it is for"
		if alg == "" {
			return "", invalid("/alg", "no alg"+which)
		}
		a, known := algorithmOf(alg)
		if !known || a.family != familyPSS && a.family != familyPKCS1 {
			return "", invalid("/alg", "alg is %s"+which, quote(alg))
		}
		return alg, nil
	}
	return natural, nil
}

// checkUse checks that a key may be used for signatures, and for the given operation (RFC 7517
// sections 4.2 and 4.3).
func checkUse(n canon.Node, operation string) *SetError {
	if use := n.Member("use"); !use.IsZero() && use.String() != "sig" {
		return invalid("/use", "use is %s, expected \"sig\"; the key is not for signatures", quote(use.Text()))
	}
	ops := n.Member("key_ops")
	if ops.IsZero() {
		return nil
	}
	list, err := stringList(ops, "key_ops")
	if err == nil && !slices.Contains(list, operation) {
		err = invalid("/key_ops", "key_ops does not contain %q", operation)
	}
	return err
}

func (k *PublicKey) parseBindings(n canon.Node) (err *SetError) {
	if list := n.Member("issuers"); !list.IsZero() {
		if k.Issuers, err = stringList(list, "issuers"); err != nil {
			return err
		}
	}

	// Reject unknown roles, so that a misspelled role is not silently ignored.
	if list := n.Member("roles"); !list.IsZero() {
		names, err := stringList(list, "roles")
		if err != nil {
			return err
		}
		for _, name := range names {
			role := receipt.Role(name)
			if role != receipt.RoleIssuer && role != receipt.RoleWitness && role != receipt.RoleCheckpoint {
				return invalid("/roles", "a role is %s, expected issuer, witness or checkpoint", quote(name))
			}
			k.Roles = append(k.Roles, role)
		}
	}

	if origin := n.Member("origin"); !origin.IsZero() {
		if k.Origin = origin.String(); k.Origin == "" {
			return invalid("/origin", "expected origin, the log's name, as a string that is not empty")
		}
	}

	return nil
}

// stringList parses an array of strings that are not empty. It must contain at least one string,
// and no string twice.
func stringList(n canon.Node, name string) ([]string, *SetError) {
	if n.Kind() != canon.KindArray || n.Len() == 0 {
		return nil, invalid("/"+name, "expected %s as an array of at least one string", name)
	}

	list := make([]string, 0, n.Len())
	seen := make(map[string]bool, n.Len())
	for _, e := range n.Elements() {
		s := e.String()
		if s == "" {
			return nil, invalid("/"+name, "expected strings in %s that are not empty", name)
		}
		if seen[s] {
			return nil, invalid("/"+name, "%s holds %s twice", name, quote(s))
		}
		seen[s] = true
		list = append(list, s)
	}

	return list, nil
}

func (k *PublicKey) parseValidity(n canon.Node) (err *SetError) {
	if k.NotBefore, err = validity(n, "nbf", "valid_from"); err != nil {
		return err
	}
	if k.NotAfter, err = validity(n, "exp", "valid_until"); err != nil {
		return err
	}
	if !k.NotBefore.IsZero() && !k.NotAfter.IsZero() && !k.NotBefore.Before(k.NotAfter) {
		return invalid("/exp", "exp is not after nbf, so the key is never valid")
	}
	return nil
}

func (k *PublicKey) parseRevoked(n canon.Node) *SetError {
	revoked := n.Member("revoked")
	if revoked.IsZero() {
		return nil
	}
	if revoked.Kind() != canon.KindObject || revoked.Member("at").IsZero() {
		return invalid("/revoked", `expected revoked as {"at": seconds since 1970, "reason": text}`)
	}

	at, err := numericDate(revoked.Member("at"), "/revoked/at")
	if err != nil {
		return err
	}

	reason := revoked.Member("reason")
	if !reason.IsZero() && reason.String() == "" {
		return invalid("/revoked/reason", "expected reason as a string that is not empty")
	}
	// Here, unknown members are rejected, because they could change the meaning of the revocation.
	if other := otherMembers(revoked, "at", "reason"); len(other) > 0 {
		return invalid("/revoked", "unknown member %s; expected at and reason", quote(other[0].name))
	}

	k.Revoked = &receipt.Revocation{At: at, Reason: reason.String()}
	return nil
}

const endOf9999 int64 = 253402300799 // 9999-12-31T23:59:59Z

// validity parses the start or the end of the period in which a key is valid. The value is a
// NumericDate or, if there is none, an RFC 3339 time, as in the JWK Sets of Veritas Acta.
func validity(n canon.Node, name, text string) (time.Time, *SetError) {
	if at := n.Member(text); n.Member(name).IsZero() && !at.IsZero() {
		t, err := receipt.ParseTime(at.Text())
		if err != nil {
			return time.Time{}, invalid("/"+text, "expected a time of RFC 3339")
		}
		return t, nil
	}
	return numericDate(n.Member(name), "/"+name)
}

// numericDate parses a number of whole seconds since 1970-01-01T00:00:00Z (RFC 7519 section 2). It
// returns the zero time if n is absent.
func numericDate(n canon.Node, pointer string) (time.Time, *SetError) {
	if n.IsZero() {
		return time.Time{}, nil
	}
	seconds := n.Float()
	if n.Kind() != canon.KindNumber || seconds < 0 || seconds > float64(endOf9999) || seconds != math.Trunc(seconds) {
		return time.Time{}, invalid(pointer, "expected whole seconds since 1970, at most %d", endOf9999)
	}
	return time.Unix(int64(seconds), 0).UTC(), nil
}
