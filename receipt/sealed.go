package receipt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

// A Sealed is a receipt whose hash is computed. It is immutable: its content can
// no longer be edited or redacted; only signatures can be added, which lie outside
// the hash.
type Sealed struct {
	doc    *canon.Document // whose source is this package's own
	id     string
	hash   canon.Digest
	stream chain.Stream
	count  uint64
}

// newSealed keeps doc, whose source nobody else may have.
func newSealed(doc *canon.Document, hash canon.Digest, count uint64) *Sealed {
	return &Sealed{
		doc:    doc,
		id:     doc.Root().Member("receipt_id").String(),
		hash:   hash,
		stream: chain.StreamOf(doc),
		count:  count,
	}
}

// ParseSealed reads a sealed receipt, signed or not. It checks the schema and
// the hash, not the signatures; otherwise the error is a *[RefutedError] or an
// *[UndecidedError].
func ParseSealed(data []byte) (*Sealed, error) {
	s, err := NewSealer()
	if err != nil {
		return nil, err
	}
	return s.Parse(data)
}

// Parse is the function [ParseSealed].
func (s *Sealer) Parse(data []byte) (*Sealed, error) {
	v := &Verifier{policy: Policy{IntegrityOnly: true}, schema: s.schema, lender: new(lender)}
	doc, rep := new(canon.Document), new(Report)
	v.VerifyBytes(slices.Clone(data), doc, rep)

	switch rep.Verdict {
	case Verified:
		return newSealed(doc, rep.ReceiptHash, 0), nil
	case Refuted:
		return nil, &RefutedError{rep}
	}
	return nil, &UndecidedError{rep}
}

// JSON returns the receipt in canonical form (RFC 8785), without a newline.
func (s *Sealed) JSON() []byte { return s.doc.AppendCanonical(nil) }

// Document returns the receipt as it was parsed, once, when it was sealed, signed or
// read; its source may not be canonical. The document is shared, so its method Parse
// must not be called.
func (s *Sealed) Document() *canon.Document { return s.doc }

// ID returns the receipt_id.
func (s *Sealed) ID() string { return s.id }

// Hash returns the receipt hash.
func (s *Sealed) Hash() canon.Digest { return s.hash }

// Stream returns the stream that the receipt belongs to.
func (s *Sealed) Stream() chain.Stream { return s.stream }

// Head returns the head of the stream after this receipt: what the next one is
// sealed with. Its count is 0 for a receipt that was read, not sealed.
func (s *Sealed) Head() chain.Head { return chain.Head{Hash: s.hash, Count: s.count} }

// Message returns what signatures are made over: the 71 ASCII bytes of
// chain.receipt_hash. Of a receipt a key signs nothing else.
func (s *Sealed) Message() []byte { return []byte(s.hash.String()) }

// Sign returns a copy of the receipt with one more signature.
func (s *Sealed) Sign(ctx context.Context, signer Signer) (*Sealed, error) {
	signature, err := signer.Sign(ctx, s.Message())
	if err != nil {
		return nil, fmt.Errorf("receipt: sign: %w", err)
	}
	if signature.KeyID == "" || signature.Algorithm == "" || signature.Signature == "" {
		return nil, errors.New("receipt: sign: the signer returned a signature without key id, algorithm or value")
	}

	entry, err := json.Marshal(signature)
	if err != nil {
		return nil, fmt.Errorf("receipt: sign: %w", err)
	}

	// Verifiers examine no more than so many: one more would never count.
	root := s.doc.Root()
	if root.Member("signatures").Len() >= maxSignatures {
		return nil, fmt.Errorf("receipt: sign: the receipt has %d signatures, and verifiers examine no more", maxSignatures)
	}

	// The hash does not cover the signatures, so it stays.
	c := *s
	if c.doc, err = canon.Parse(withSignature(root, entry)); err != nil {
		return nil, fmt.Errorf("receipt: sign: %w", err)
	}

	return &c, nil
}

// withSignature writes the receipt with one more entry. It is not canonical.
func withSignature(root canon.Node, entry []byte) []byte {
	b := []byte(`{"signatures":[`)
	for _, n := range root.Member("signatures").Elements() {
		b = append(append(b, n.Raw()...), ',')
	}
	b = append(append(b, entry...), ']')

	for name, value := range root.Members() {
		if name.String() != "signatures" {
			b = appendMember(b, name, value)
		}
	}
	return append(b, '}')
}
