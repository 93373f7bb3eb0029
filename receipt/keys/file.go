package keys

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A File is a trust file that can be edited. The zero File has no keys. A File keeps unknown
// members. It is not safe for concurrent use. To save the File, the caller writes the result of
// Marshal to disk.
type File struct {
	keys  []*PublicKey
	other []member // next to "keys"
}

// ParseFile parses a trust file, and follows the same rules as [ParseSet].
func ParseFile(data []byte) (*File, error) {
	root, err := parseJSON(data)
	if err != nil {
		return nil, err
	}

	list, bad := recognizeSet(root)
	if bad != nil {
		return nil, bad
	}
	if n := list.Len(); n > MaxKeys {
		return nil, invalid("/keys", "%d keys, at most %d are read", n, MaxKeys)
	}

	f := &File{other: otherMembers(root, "keys")}
	for i, n := range list.Elements() { // reject secrets first
		if err := checkPublic(n); err != nil {
			return nil, err.at(i).of(n.Member("kid").String())
		}
	}

	// The entire file is rejected if one key is invalid. If only that key were omitted, the meaning
	// of the file would change.
	for i, n := range list.Elements() {
		k, err := parseMember(n)
		if err != nil {
			return nil, err.at(i)
		}
		f.keys = append(f.keys, k)
	}

	if _, err := index(f.keys); err != nil {
		return nil, err
	}

	f.keys = ended(f.keys)
	return f, nil
}

// parseMember parses one key of a set. Receipts refer to a key by its kid, so the kid is required.
func parseMember(n canon.Node) (*PublicKey, *SetError) {
	if n.Kind() == canon.KindObject && n.Member("kid").IsZero() {
		return nil, invalid("/kid", "no kid; receipts name keys by it")
	}
	return parseKey(n, "", "")
}

// Keys returns copies of the keys.
func (f *File) Keys() []*PublicKey { return cloneAll(f.keys) }

// Add appends keys. If the file revokes the same key material under a different ID, for a reason
// other than [receipt.ReasonSuperseded], the added key is revoked, too. The error is a *[SetError],
// and the file is then unchanged.
func (f *File) Add(keys ...*PublicKey) error {
	list := slices.Clone(f.keys)
	for _, k := range keys {
		c, err := k.checked()
		if err != nil {
			return err
		}
		list = append(list, c)
	}

	// A File may be empty, but a Set must have at least one key.
	if len(list) > 0 {
		if _, err := index(list); err != nil {
			return err
		}
	}

	f.keys = ended(list)
	return nil
}

// Revoke revokes a key as of the given time, which is truncated to seconds. If the reason is
// [receipt.ReasonSuperseded], earlier signatures remain valid, and the same key material under
// other IDs is not affected. For any other reason, the key material is revoked under all of its IDs
// in the file. A superseded key can later be revoked for another reason. Any other revocation
// cannot be changed. The error is a *[SetError], and the file is then unchanged.
func (f *File) Revoke(id string, at time.Time, reason string) error {
	i := slices.IndexFunc(f.keys, func(k *PublicKey) bool { return k.ID == id })
	if i < 0 {
		return invalid("/keys", "no key of this id among %d", len(f.keys)).of(id)
	}

	// A revocation can be made stricter, but not weaker.
	k := f.keys[i]
	if r := k.Revoked; r != nil && (stolen(r) || reason == receipt.ReasonSuperseded) {
		return invalid("/revoked", "revoked already, at %s", receipt.At(r.At)).at(i).of(id)
	}

	// The revoked key must still follow the rules of the file.
	k, err := revoked(k, at, reason).checked()
	if err != nil {
		return err
	}

	list := slices.Clone(f.keys)
	list[i] = k
	f.keys = ended(list)
	return nil
}

// Marshal returns the file as JSON that is indented by two spaces and ends with a line feed. If
// this JSON is longer than [MaxSetBytes], Marshal omits the whitespace. If the result is still too
// long, the error is a *[SetError], because no reader would accept the file. The keys are in their
// original order. The members of a key are kid, the key material, the attributes that affect trust,
// and the other members, in this order.
func (f *File) Marshal() ([]byte, error) {
	list := []byte{'['}
	for i, k := range f.keys {
		if i > 0 {
			list = append(list, ',')
		}
		list = appendObject(list, k.members())
	}

	// A JWK Set is an object with the member keys, and possibly with other members (RFC 7517
	// section 5).
	text := appendObject(nil, append([]member{{"keys", append(list, ']')}}, f.other...))
	var b bytes.Buffer
	_ = json.Indent(&b, text, "", "  ") // cannot fail, because canon wrote or parsed the JSON
	if b.Len() >= MaxSetBytes {
		b.Reset()
		_ = json.Compact(&b, text)
	}

	b.WriteByte('\n')
	if b.Len() > MaxSetBytes {
		return nil, invalid("", "the file would have %d bytes, at most %d are read", b.Len(), MaxSetBytes)
	}

	return b.Bytes(), nil
}

// A member consists of a name and the JSON form of a value.
type member struct {
	name  string
	value []byte
}

func text(name, value string) member { return member{name, canon.AppendString(nil, value)} }

// otherMembers returns copies of the members of an object whose names are not in known.
func otherMembers(object canon.Node, known ...string) []member {
	var others []member
	for name, value := range object.Members() {
		if !slices.Contains(known, name.String()) {
			others = append(others, member{name.String(), slices.Clone(value.Raw())})
		}
	}
	return others
}

func appendObject(dst []byte, members []member) []byte {
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, m.name), ':')
		dst = append(dst, m.value...)
	}
	return append(dst, '}')
}

func appendStrings[S ~string](dst []byte, list []S) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canon.AppendString(dst, string(s))
	}
	return append(dst, ']')
}

func sorted(members []member) []member {
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return members
}

// recognize rejects key files in other formats. The error describes the format.
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

// recognizeSet returns the keys of a JWK Set, or an error that describes the document if it is not
// one.
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

	// Report secrets first, because they are the most serious problem.
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

// syntax wraps an error from package canon.
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
