package receipt

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
)

// Supersede returns a draft with metadata.supersedes: the hash of the receipt in
// whose place the draft's receipt shall stand, such as one that should have been
// redacted. Sealed receipts cannot be changed, only superseded by another one of
// another receipt_id. The result is the canonical JSON of the draft.
func Supersede(draft *canon.Document, hash canon.Digest) ([]byte, error) {
	root := draft.Root()
	metadata := root.Member("metadata")
	switch {
	case root.Kind() != canon.KindObject:
		return nil, &InvalidError{[]Problem{{"", CodeNotObject, "expected a JSON object, found " + kindName(root.Kind())}}}
	case !metadata.IsZero() && metadata.Kind() != canon.KindObject:
		return nil, &InvalidError{[]Problem{{"/metadata", CodeSchemaInvalid, "expected an object, found " + kindName(metadata.Kind())}}}
	case !metadata.Member("supersedes").IsZero():
		return nil, &InvalidError{[]Problem{{"/metadata/supersedes", CodeSchemaInvalid, "the draft supersedes a receipt already"}}}
	}

	// What the draft says stays as it is; only its order and spelling become canonical.
	b := fmt.Appendf(nil, `{"metadata":{"supersedes":%s`, canon.AppendString(nil, hash.String()))
	for name, value := range metadata.Members() {
		b = appendMember(b, name, value)
	}
	b = append(b, '}')

	for name, value := range root.Members() {
		if name.String() != "metadata" {
			b = appendMember(b, name, value)
		}
	}

	return canon.Transform(append(b, '}'))
}
