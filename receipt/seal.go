package receipt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/schemas"
)

// A Problem is one reason why a draft cannot be sealed.
type Problem struct {
	Pointer string // RFC 6901 pointer into the receipt that the draft would become
	Code    Code
	Detail  string
}

// An InvalidError lists all problems in a draft.
type InvalidError struct{ Problems []Problem }

// Error lists the problems, each on a separate line after the first line.
func (e *InvalidError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "receipt: the draft cannot be sealed: %d problem", len(e.Problems))
	if len(e.Problems) != 1 {
		b.WriteByte('s')
	}
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n%s: %s", p.Code, p.Detail)
		if p.Pointer != "" {
			fmt.Fprintf(&b, " at %s", quoted(p.Pointer))
		}
	}
	return b.String()
}

// Seal creates a receipt from a draft. It links the draft to the head of its stream (the zero Head
// starts a stream) and computes the hash. If the result would not be a valid receipt, the error is
// an *[InvalidError].
func Seal(d *Draft, head chain.Head) (*Sealed, error) {
	doc, err := d.Document()
	if err != nil {
		return nil, err
	}
	return SealDocument(doc, head)
}

// SealDocument seals a draft that is given as JSON. It does not remove, add, or convert anything,
// except that it adds the schema marker if that is missing. A draft may have a chain without a
// receipt_hash, to specify chain.merkle_root. If the chain has a previous_receipt_hash, it must be
// the hash of the head.
func SealDocument(d *canon.Document, head chain.Head) (*Sealed, error) {
	root := d.Root()
	if root.Kind() != canon.KindObject {
		return nil, &InvalidError{[]Problem{{"", CodeNotObject, "expected a JSON object, found " + kindName(root.Kind())}}}
	}
	if problems := refusals(root, head); len(problems) > 0 {
		return nil, &InvalidError{problems}
	}

	doc, text := new(canon.Document), assemble(root, head)
	if err := doc.Parse(text, canon.Limits{Bytes: 4 * MaxBytes}); err != nil {
		return nil, invalidSyntax(err)
	}
	return seal(doc, text, head)
}

func invalidSyntax(err error) error {
	p := Problem{Code: CodeSyntax, Detail: err.Error()}
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) {
		p.Code, p.Pointer = Code(syntax.Code), syntax.Pointer
	}
	return &InvalidError{[]Problem{p}}
}

// seal inserts the hash into an otherwise complete receipt. text is the source of doc, which
// contains the zero digest in place of the hash.
func seal(doc *canon.Document, text []byte, head chain.Head) (*Sealed, error) {
	// The preimage does not contain receipt_hash, and all hashes have the same length. The digits
	// are therefore overwritten in the text, and the index of the text remains correct.
	hash, err := chain.Hash(doc)
	if err != nil {
		return nil, err
	}
	schema, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		return nil, err
	}
	digits := doc.Root().Member("chain").Member("receipt_hash").Offset() + len(`"`)
	copy(text[digits:], hash.String())

	// A sealed receipt must be accepted by every verifier, so the same schema and limits apply
	// here.
	if problems := problemsOf(doc, schema); len(problems) > 0 {
		return nil, &InvalidError{problems}
	}
	return newSealed(doc, hash, countAfter(head)), nil
}

// refusals returns the reasons why a document is not a draft, or why it cannot follow the given
// head.
func refusals(root canon.Node, head chain.Head) []Problem {
	var problems []Problem
	link := root.Member("chain")
	if !link.Member("receipt_hash").IsZero() {
		problems = append(problems, Problem{hashPointer, CodeSchemaInvalid, "this is a sealed receipt, not a draft; a receipt cannot be sealed again"})
	}
	if !root.Member("signatures").IsZero() {
		problems = append(problems, Problem{"/signatures", CodeSchemaInvalid, "a draft has no signatures; they are made over the hash that sealing computes"})
	}

	if !link.IsZero() && link.Kind() != canon.KindObject {
		problems = append(problems, Problem{"/chain", CodeSchemaInvalid, "expected an object, found " + kindName(link.Kind())})
	}
	problems = append(problems, impossible(head)...)

	// If a draft names its predecessor, the predecessor must be the head.
	previous := link.Member("previous_receipt_hash")
	if !previous.IsZero() && string(previous.AppendCanonical(nil)) != string(previousText(head)) {
		problems = append(problems, Problem{"/chain/previous_receipt_hash", CodeChainBreak,
			fmt.Sprintf("the draft names %s, the predecessor given is %s", namedHash(previous), previousText(head))})
	}

	return problems
}

// namedHash returns the hash that a draft names. For any value that is not a hash, it returns only
// the type of the value.
func namedHash(n canon.Node) string {
	if _, err := canon.ParseDigest(n.String()); err == nil || n.Kind() == canon.KindNull {
		return string(n.AppendCanonical(nil))
	}
	return kindName(n.Kind())
}

// impossible returns the reason why no stream can have the given head.
func impossible(head chain.Head) []Problem {
	if !head.Hash.IsZero() || head.Count == 0 {
		return nil
	}
	return []Problem{{"/chain/previous_receipt_hash", CodeChainBreak, fmt.Sprintf("the head counts %d receipts, but has no hash", head.Count)}}
}

func previousText(head chain.Head) []byte {
	if head.Hash.IsZero() {
		return []byte("null")
	}
	return canon.AppendString(nil, head.Hash.String())
}

// assemble returns the draft with a chain added. The chain contains the zero digest in place of the
// hash. The result is not canonical.
func assemble(root canon.Node, head chain.Head) []byte {
	// The zero digest has the same length as the hash.
	b := []byte(`{"chain":{"previous_receipt_hash":`)
	b = append(b, previousText(head)...)
	b = append(append(b, `,"receipt_hash":`...), canon.AppendString(nil, canon.Digest{}.String())...)
	for name, value := range root.Member("chain").Members() {
		if name.String() != "previous_receipt_hash" {
			b = appendMember(b, name, value)
		}
	}
	b = append(b, '}')

	// The schema marker is added if it is missing; nothing else is added.
	if root.Member("schema").IsZero() {
		b = append(b, `,"schema":"`+SchemaMarker+`"`...)
	}

	for name, value := range root.Members() {
		if name.String() != "chain" {
			b = appendMember(b, name, value)
		}
	}

	return append(b, '}')
}

func appendMember(b []byte, name, value canon.Node) []byte {
	b = append(append(b, ','), name.Raw()...)
	return append(append(b, ':'), value.Raw()...)
}

// problemsOf returns all reasons why a verifier would reject the receipt.
func problemsOf(doc *canon.Document, schema *schemas.Schema) []Problem {
	var problems []Problem

	// The limits of the format apply to the canonical form.
	if size := len(doc.AppendCanonical(nil)); size > MaxBytes {
		problems = append(problems, Problem{"", CodeSizeLimit, fmt.Sprintf("expected at most %d bytes, found %d", MaxBytes, size)})
	}
	if doc.Depth() > MaxDepth {
		problems = append(problems, Problem{"", CodeDepthLimit, fmt.Sprintf("expected at most %d nested levels, found %d", MaxDepth, doc.Depth())})
	}
	if n, found := doc.LossyInteger(); found {
		problems = append(problems, Problem{place(n), CodeNumberPrecision, untrusted.Number(n.Raw()) + " is outside ±9007199254740991; write it as a string"})
	}

	result := schema.Check(doc.Root())
	for _, p := range result.Problems {
		problems = append(problems, Problem{p.Pointer, CodeSchemaInvalid, p.Detail})
	}

	if more := result.Total - len(result.Problems); more > 0 {
		problems = append(problems, Problem{"", CodeSchemaInvalid, fmt.Sprintf("and %d more places", more)})
	}

	// If inline bytes did not match their digest, the receipt would be refuted.
	if c := weighMaterials(doc.Root(), nil, new(watched), result.Total == 0, new(Report)); c.Status == StatusFailed {
		problems = append(problems, Problem{c.Pointer, c.Code, c.Detail})
	}

	return problems
}

// countAfter returns the number of receipts up to and including the receipt that follows head, or 0
// if that number is not known.
func countAfter(head chain.Head) uint64 {
	if head.Count == 0 && !head.IsZero() {
		return 0
	}
	return head.Count + 1
}

// A Sealed is a receipt whose hash has been computed. It is immutable, so its content can no longer
// be edited or redacted. Only signatures can be added, because the hash does not cover them. The
// zero Sealed has an empty document and empty JSON, and cannot be signed.
type Sealed struct {
	doc    *canon.Document // only this package has access to the source of the document
	id     string
	hash   canon.Digest
	stream chain.Stream
	count  uint64
}

// newSealed keeps doc. No other code has access to the source of the document.
func newSealed(doc *canon.Document, hash canon.Digest, count uint64) *Sealed {
	return &Sealed{
		doc:    doc,
		id:     doc.Root().Member("receipt_id").String(),
		hash:   hash,
		stream: chain.StreamOf(doc),
		count:  count,
	}
}

// ParseSealed parses a sealed receipt, which may be signed or unsigned. It checks the schema and
// the hash, but not the signatures. If a check fails, the error is a *[RefutedError] or an
// *[UndecidedError].
func ParseSealed(data []byte) (*Sealed, error) {
	schema, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		return nil, err
	}
	// A sealed receipt does not have to be signed yet.
	v := &Verifier{policy: Policy{IntegrityOnly: true}, schema: schema, lender: new(lender)}
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

// JSON returns the receipt in canonical form (RFC 8785), without a final newline.
func (s *Sealed) JSON() []byte { return s.Document().AppendCanonical(nil) }

var errEmptySealed = errors.New("the receipt is empty; Seal, SealDocument, and ParseSealed return receipts")

// MarshalJSON returns the receipt in canonical form. It returns an error if the Sealed is zero.
func (s Sealed) MarshalJSON() ([]byte, error) {
	if s.doc == nil {
		return nil, errEmptySealed
	}
	return s.JSON(), nil
}

// Document returns the receipt as a document. The source of the document may not be canonical. The
// document is shared, so the caller must not call its Parse method.
func (s *Sealed) Document() *canon.Document {
	if s.doc == nil {
		return new(canon.Document)
	}
	return s.doc
}

// ID returns the receipt_id.
func (s *Sealed) ID() string { return s.id }

// Hash returns the hash of the receipt.
func (s *Sealed) Hash() canon.Digest { return s.hash }

// Stream returns the stream to which the receipt belongs.
func (s *Sealed) Stream() chain.Stream { return s.stream }

// Head returns the head of the stream after this receipt, which is needed to seal the next receipt.
// The count of the head is 0 if the receipt was parsed and not sealed by this program.
func (s *Sealed) Head() chain.Head { return chain.Head{Hash: s.hash, Count: s.count} }

// Sign returns a copy of the receipt with an additional signature.
func (s *Sealed) Sign(ctx context.Context, signer Signer) (*Sealed, error) {
	if s.doc == nil {
		return nil, fmt.Errorf("receipt: sign: %w", errEmptySealed)
	}
	// The message consists of the 71 ASCII bytes of chain.receipt_hash. No other part of a receipt
	// is signed.
	signature, err := signer.Sign(ctx, []byte(s.hash.String()))
	if err != nil {
		return nil, fmt.Errorf("receipt: sign: %w", err)
	}
	if signature.KeyID == "" || signature.Algorithm == "" || signature.Signature == "" {
		return nil, errors.New("receipt: sign: the signer returned a signature without key ID, algorithm, or value")
	}

	entry, err := json.Marshal(signature)
	if err != nil {
		return nil, fmt.Errorf("receipt: sign: %w", err)
	}

	// Verifiers examine only this many signatures, so a further signature would never count.
	root := s.doc.Root()
	if root.Member("signatures").Len() >= maxSignatures {
		return nil, fmt.Errorf("receipt: sign: the receipt has %d signatures, and verifiers examine no more", maxSignatures)
	}

	// The hash does not cover the signatures, so the hash remains the same.
	c := *s
	if c.doc, err = canon.Parse(withSignature(root, entry)); err != nil {
		return nil, fmt.Errorf("receipt: sign: %w", err)
	}

	return &c, nil
}

// withSignature returns the receipt with an additional signature entry. The result is not
// canonical.
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

// Supersede returns a copy of a draft in which metadata.supersedes is the hash of a receipt to be
// replaced. For example, this may be a receipt that should have been redacted. A sealed receipt
// cannot be changed, but it can be superseded by a receipt with another receipt_id. The result is
// in canonical form.
func Supersede(draft *canon.Document, hash canon.Digest) (*canon.Document, error) {
	root := draft.Root()
	metadata := root.Member("metadata")
	switch {
	case root.Kind() != canon.KindObject:
		return nil, &InvalidError{[]Problem{{"", CodeNotObject, "expected a JSON object, found " + kindName(root.Kind())}}}
	case !metadata.IsZero() && metadata.Kind() != canon.KindObject:
		return nil, &InvalidError{[]Problem{{"/metadata", CodeSchemaInvalid, "expected an object, found " + kindName(metadata.Kind())}}}
	case hash.IsZero():
		return nil, &InvalidError{[]Problem{{"/metadata/supersedes", CodeSchemaInvalid, "no receipt has a hash of 64 zeros"}}}
	case !metadata.Member("supersedes").IsZero():
		return nil, &InvalidError{[]Problem{{"/metadata/supersedes", CodeSchemaInvalid, "the draft supersedes a receipt already"}}}
	}

	// The content of the draft does not change, except for the order and spelling of its members.
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

	text, err := canon.Transform(append(b, '}'))
	if err != nil {
		return nil, err
	}
	return canon.Parse(text)
}
