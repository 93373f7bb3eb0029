package keys

import (
	"bytes"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
)

// recognize refuses the key files of other formats, with what to do about them.
func recognize(data []byte) error {
	start := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case bytes.HasPrefix(start, []byte("-----BEGIN ")) && bytes.Contains(start[:min(len(start), 64)], []byte("PRIVATE KEY")):
		return invalid("", "this is a PEM file with a private key; trust files hold public keys").form("PEM private key")
	case bytes.HasPrefix(start, []byte("-----BEGIN ")):
		return invalid("", "this is a PEM file, not a JWK; add its key to a trust file").form("PEM")
	case bytes.HasPrefix(start, []byte("ssh-")), bytes.HasPrefix(start, []byte("ecdsa-sha2-")), bytes.HasPrefix(start, []byte("sk-")):
		return invalid("", "this is an OpenSSH key, not a JWK; add it to a trust file").form("OpenSSH")
	}
	return nil
}

// recognizeSet returns the keys of a JWK Set, or says what the document is
// instead.
func recognizeSet(root canon.Node) (canon.Node, *SetError) {
	list := root.Member("keys")
	switch {
	case list.Kind() == canon.KindArray && list.Len() == 0:
		return list, invalid("/keys", "no keys; with none every signature would be unknown")
	case list.Kind() == canon.KindArray:
		return list, nil
	case !list.IsZero():
		return list, invalid("/keys", "expected keys as an array of JWKs")
	case root.Kind() == canon.KindArray:
		return list, invalid("", `this is an array; a JWK Set is an object: {"keys": […]}`)
	case root.Kind() != canon.KindObject:
		return list, invalid("", `expected a JWK Set: {"keys": […]}`)
	}

	// A secret is the worst of what is wrong, and told first.
	if err := checkPublic(root); err != nil && !root.Member("kty").IsZero() {
		return list, err.of(root.Member("kid").String())
	}

	switch {
	case !root.Member("kty").IsZero():
		return list, invalid("", `this is a single JWK; a trust file is a set of them: {"keys": […]}`).form("JWK")
	case !root.Member("receipt_id").IsZero():
		return list, invalid("", "this is a receipt, not a key file; keys never come from receipts. Get them from the issuer")
	case !root.Member("verdict").IsZero(), !root.Member("reports").IsZero():
		return list, invalid("", "this is a verification report, not a key file")
	}

	return list, invalid("", `no member "keys"; expected a JWK Set: {"keys": […]}`)
}

// syntax wraps an error of package canon.
func syntax(err error) *SetError {
	e := invalid("", "%v", err)
	e.err = err
	if found, ok := errors.AsType[*canon.SyntaxError](err); ok {
		e.Pointer = found.Pointer
		if found.Hint != "" {
			e.Detail += "; " + found.Hint
		}
	}
	return e
}
