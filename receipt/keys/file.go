package keys

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A File is a trust file that is being edited. The zero File has no keys. It
// keeps the members that it does not know. It is not safe for concurrent use,
// and writing it somewhere is the caller's task.
type File struct {
	keys  []*PublicKey
	other []member // beside "keys"
}

// ParseFile reads a trust file by the rules of [ParseSet].
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
	for i, n := range list.Elements() { // first of all: is anything here secret?
		if err := checkPublic(n); err != nil {
			return nil, err.at(i).of(n.Member("kid").String())
		}
	}

	// One bad key refuses the whole file: without it, the file would say something else.
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

// parseMember reads a key of a set, where receipts find it by its kid.
func parseMember(n canon.Node) (*PublicKey, *SetError) {
	if n.Kind() == canon.KindObject && n.Member("kid").IsZero() {
		return nil, invalid("/kid", "no kid; receipts name keys by it")
	}
	return parseKey(n, "", "")
}

// Keys returns copies of the keys.
func (f *File) Keys() []*PublicKey { return cloneAll(f.keys) }

// Set returns the keys for verification. A file without keys is an error.
func (f *File) Set() (*Set, error) { return index(cloneAll(f.keys)) }

// Add appends keys. If the file revokes the material of one under another ID, for a reason
// other than [receipt.ReasonSuperseded], the key is revoked, too. On error, a *[SetError],
// the file is unchanged.
func (f *File) Add(keys ...*PublicKey) error {
	list := slices.Clone(f.keys)
	for _, k := range keys {
		c, err := k.checked()
		if err != nil {
			return err
		}
		list = append(list, c)
	}

	// A file may have no keys, unlike a set.
	if len(list) > 0 {
		if _, err := index(list); err != nil {
			return err
		}
	}

	f.keys = ended(list)
	return nil
}

// Revoke revokes a key from a time on, cut to the second. With the reason
// [receipt.ReasonSuperseded], earlier signatures keep counting, and other IDs of the same
// key material are not affected. With any other reason, the key material is revoked under
// every ID that it has in the file. A key that was superseded can still be revoked for
// another reason; any other revocation stands. On error, a *[SetError], the file is
// unchanged.
func (f *File) Revoke(id string, at time.Time, reason string) error {
	i := slices.IndexFunc(f.keys, func(k *PublicKey) bool { return k.ID == id })
	if i < 0 {
		return invalid("/keys", "no key of this id among %d", len(f.keys)).of(id)
	}

	// A revocation can become stricter, and never milder.
	k := f.keys[i]
	if r := k.Revoked; r != nil && (stolen(r) || reason == receipt.ReasonSuperseded) {
		return invalid("/revoked", "revoked already, at %s", receipt.At(r.At)).at(i).of(id)
	}

	k, err := revoked(k, at, reason).checked()
	if err != nil {
		return err
	}

	list := slices.Clone(f.keys)
	list[i] = k
	f.keys = ended(list)
	return nil
}

// Marshal returns the file: JSON, indented by two spaces, with a newline at its
// end. Where that would be more than [MaxSetBytes], white space is left out; a
// file that is too large even so is a *[SetError], as nobody could read it. The
// order is that of the keys; of one key: kid, the key, what it is trusted for,
// the other members.
func (f *File) Marshal() ([]byte, error) {
	list := []byte{'['}
	for i, k := range f.keys {
		if i > 0 {
			list = append(list, ',')
		}
		list = appendObject(list, k.members())
	}

	// RFC 7517 section 5: an object with the member keys, in which others may stand.
	text := appendObject(nil, append([]member{{"keys", append(list, ']')}}, f.other...))
	var b bytes.Buffer
	_ = json.Indent(&b, text, "", "  ") // of text written by canon, or parsed by it
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
