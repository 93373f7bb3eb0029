package chain

import (
	"encoding/json"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
)

// ErrNotObject indicates that a document is not a JSON object and therefore has no preimage.
var ErrNotObject = errors.New("chain: a receipt is a JSON object")

// AppendPreimage appends the preimage of a receipt to dst. The receipt only has to be an object, so
// that even an invalid receipt has a hash.
func AppendPreimage(dst []byte, d *canon.Document) ([]byte, error) {
	root := d.Root()
	if root.Kind() != canon.KindObject {
		return dst, ErrNotObject
	}
	return d.AppendCanonical(dst, statedHash(root), root.Member("signatures")), nil
}

// Hash returns the receipt hash of d, which is the SHA-256 digest of its preimage.
func Hash(d *canon.Document) (canon.Digest, error) {
	root := d.Root()
	if root.Kind() != canon.KindObject {
		return canon.Digest{}, ErrNotObject
	}
	return d.Digest(statedHash(root), root.Member("signatures")), nil
}

func statedHash(root canon.Node) canon.Node {
	return root.Member("chain").Member("receipt_hash")
}

// ReferenceHash computes the receipt hash without using this module's parser: it uses gowebpki/jcs,
// and encoding/json for bytes that jcs has already made canonical. It is used to cross-check
// [Hash]. src must have been accepted by [canon.Parse].
func ReferenceHash(src []byte) (canon.Digest, error) {
	preimage, err := referencePreimage(src)
	if err != nil {
		return canon.Digest{}, err
	}
	return canon.Sum(preimage), nil
}

// referencePreimage returns the bytes that [ReferenceHash] hashes.
func referencePreimage(src []byte) ([]byte, error) {
	members, err := referenceMembers(src)
	if err != nil {
		return nil, err
	}

	delete(members, "signatures")
	if inner, ok := members["chain"]; ok {
		var chain map[string]json.RawMessage
		// If chain is not an object, there is no receipt_hash to remove.
		if json.Unmarshal(inner, &chain) == nil && chain != nil {
			delete(chain, "receipt_hash")
			if members["chain"], err = json.Marshal(chain); err != nil {
				return nil, err
			}
		}
	}

	return referenceForm(members)
}

// ReferenceContent returns the canonical form of a receipt without its members chain and
// signatures. Like [ReferenceHash], it does not use this module's parser.
func ReferenceContent(src []byte) ([]byte, error) {
	members, err := referenceMembers(src)
	if err != nil {
		return nil, err
	}
	delete(members, "signatures")
	delete(members, "chain")
	return referenceForm(members)
}

// referenceMembers returns the members of an object. It first makes src canonical, because jcs
// rejects duplicate names and invalid Unicode, which encoding/json would silently repair. The
// members are then copied as raw bytes, so that encoding/json does not interpret them.
func referenceMembers(src []byte) (members map[string]json.RawMessage, err error) {
	canonical, err := canon.Reference(src)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(canonical, &members); err != nil || members == nil {
		return nil, ErrNotObject
	}
	return members, nil
}

// referenceForm returns the canonical form of an object with the given members. It uses jcs again,
// because encoding/json sorts names and escapes strings in a different way.
func referenceForm(members map[string]json.RawMessage) ([]byte, error) {
	text, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return canon.Reference(text)
}
