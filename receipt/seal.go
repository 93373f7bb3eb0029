package receipt

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/schemas"
)

// A Problem is one thing that keeps a draft from being sealed.
type Problem struct {
	Pointer string // RFC 6901, into the receipt that the draft would become
	Code    Code
	Detail  string
}

// An InvalidError names every problem of a draft at once.
type InvalidError struct{ Problems []Problem }

// Error lists the problems, one a line after the first.
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

// A Sealer seals drafts. It is immutable and safe for concurrent use.
type Sealer struct{ schema *schemas.Schema }

// NewSealer returns a Sealer.
func NewSealer() (*Sealer, error) {
	schema, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		return nil, err
	}
	return &Sealer{schema}, nil
}

// Seal makes a receipt of a draft: it links it to the head of its stream (the
// zero Head makes it the first), and computes its hash. A draft that does not
// make a valid receipt is an *[InvalidError].
func Seal(d *Draft, head chain.Head) (*Sealed, error) {
	s, err := NewSealer()
	if err != nil {
		return nil, err
	}
	return s.Seal(d, head)
}

// SealDocument seals a draft that is given as JSON. Nothing of it is dropped,
// filled in or re-typed, but that the schema marker is added where it is
// missing. A draft may have a chain without receipt_hash, for its merkle_root;
// a previous_receipt_hash in it must be the head's.
func SealDocument(d *canon.Document, head chain.Head) (*Sealed, error) {
	s, err := NewSealer()
	if err != nil {
		return nil, err
	}
	return s.SealDocument(d, head)
}

// Seal is the function [Seal].
func (s *Sealer) Seal(d *Draft, head chain.Head) (*Sealed, error) {
	problems := d.unsetTimes(nil)
	text, err := d.encode(Chain{PreviousReceiptHash: OptionalDigest{Digest: head.Hash}})
	if err != nil {
		problems = append(problems, Problem{Code: CodeSchemaInvalid, Detail: err.Error()})
	} else if bytes.Contains(text, []byte(`\ufffd`)) || bytes.ContainsRune(text, utf8.RuneError) {
		// encoding/json refuses values that contain themselves, so badText ends
		problems = badText(problems, "", reflect.ValueOf(*d))
	}
	if len(problems) > 0 {
		return nil, &InvalidError{problems}
	}

	// The text may be longer than its canonical form, which alone the format bounds.
	doc := new(canon.Document)
	if err := doc.Parse(text, canon.Limits{Bytes: 2 * MaxBytes}); err != nil {
		return nil, invalidSyntax(err)
	}
	if problems := impossible(head); len(problems) > 0 {
		return nil, &InvalidError{problems}
	}

	return s.seal(doc, text, head)
}

// encode writes the draft as JSON, with its chain; lists are never null.
func (d *Draft) encode(link Chain) ([]byte, error) {
	c := *d
	notNil(&c.Approvals)
	notNil(&c.Deltas)
	notNil(&c.Redactions)
	notNil(&c.FinalArtifacts)
	notNil(&c.ReplayInput.Materials)
	notNil(&c.ModelRoute.AlternativesConsidered)
	notNil(&c.Cost.ProviderBreakdown)
	notNil(&c.SideEffects.FSWrites)
	notNil(&c.SideEffects.NetworkEgress)
	notNil(&c.SideEffects.ToolCalls)
	notNil(&c.SideEffects.A2AHandoffs)
	if c.Metadata == nil {
		c.Metadata = Object{}
	}

	return json.Marshal(struct {
		Schema string `json:"schema"`
		Draft
		Chain Chain `json:"chain"`
	}{SchemaMarker, c, link})
}

func notNil[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}

// unsetTimes finds required times that the producer forgot: the zero time is
// the year 1, which the format would accept.
func (d *Draft) unsetTimes(problems []Problem) []Problem {
	unset := func(at string, t Time) {
		if t.IsZero() {
			problems = append(problems, Problem{at, CodeSchemaInvalid, "the time is not set"})
		}
	}

	unset("/issued_at", d.IssuedAt)
	unset("/lifecycle/started_at", d.Lifecycle.StartedAt)
	unset("/lifecycle/completed_at", d.Lifecycle.CompletedAt)
	for i, a := range d.Approvals {
		unset(fmt.Sprintf("/approvals/%d/decided_at", i), a.DecidedAt)
	}
	return problems
}

// badText finds the strings that are not UTF-8. encoding/json would replace
// their bytes by U+FFFD, and the receipt would say something else than the
// producer did.
func badText(problems []Problem, at string, v reflect.Value) []Problem {
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			problems = append(problems, Problem{at, codeInvalidUTF8, "the text is no UTF-8"})
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			problems = badText(problems, at, v.Elem())
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			name, _, _ := strings.Cut(cmp.Or(field.Tag.Get("json"), field.Name), ",")
			if field.IsExported() && name != "-" {
				problems = badText(problems, string(canon.AppendToken([]byte(at), cmp.Or(name, field.Name))), value)
			}
		}
	case reflect.Slice, reflect.Array:
		// Bytes become base64, which is always text.
		if v.Type().Elem().Kind() == reflect.Uint8 {
			break
		}
		for i := range v.Len() {
			problems = badText(problems, fmt.Sprintf("%s/%d", at, i), v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			name := string(canon.AppendToken([]byte(at), key.String()))
			problems = badText(problems, name, key)
			problems = badText(problems, name, v.MapIndex(key))
		}
	}
	return problems
}

func invalidSyntax(err error) error {
	p := Problem{Code: CodeSyntax, Detail: err.Error()}
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) {
		p.Code, p.Pointer = Code(syntax.Code), syntax.Pointer
	}
	return &InvalidError{[]Problem{p}}
}

// SealDocument is the function [SealDocument].
func (s *Sealer) SealDocument(d *canon.Document, head chain.Head) (*Sealed, error) {
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
	return s.seal(doc, text, head)
}

// seal puts the hash into a receipt that is complete but for it. text is what doc
// was parsed from, with the zero digest in the hash's place.
func (s *Sealer) seal(doc *canon.Document, text []byte, head chain.Head) (*Sealed, error) {
	// The preimage does not hold receipt_hash, and all hashes have the same length:
	// its digits are written into the text, and the index over it stays right.
	hash, err := chain.Hash(doc)
	if err != nil {
		return nil, err
	}
	digits := doc.Root().Member("chain").Member("receipt_hash").Offset() + len(`"`)
	copy(text[digits:], hash.String())

	// What is sealed must pass every verifier: it is held to the same schema and limits.
	if problems := s.problems(doc); len(problems) > 0 {
		return nil, &InvalidError{problems}
	}
	return newSealed(doc, hash, countAfter(head)), nil
}

// refusals finds what makes a document no draft, or none for this stream.
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

	// A draft may name its predecessor, and then it names the head.
	previous := link.Member("previous_receipt_hash")
	if !previous.IsZero() && string(previous.AppendCanonical(nil)) != string(previousText(head)) {
		problems = append(problems, Problem{"/chain/previous_receipt_hash", CodeChainBreak,
			fmt.Sprintf("the draft names %s, the predecessor given is %s", namedHash(previous), previousText(head))})
	}

	return problems
}

// namedHash is the hash that a draft names; of anything else only what it is.
func namedHash(n canon.Node) string {
	if _, err := canon.ParseDigest(n.String()); err == nil || n.Kind() == canon.KindNull {
		return string(n.AppendCanonical(nil))
	}
	return kindName(n.Kind())
}

// impossible finds what no head of a stream can be.
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

// assemble writes the draft with its chain, in which the zero digest stands for the
// hash. The result is not canonical.
func assemble(root canon.Node, head chain.Head) []byte {
	// The chain, with a digest of the right width in the place of the hash.
	b := []byte(`{"chain":{"previous_receipt_hash":`)
	b = append(b, previousText(head)...)
	b = append(append(b, `,"receipt_hash":`...), canon.AppendString(nil, canon.Digest{}.String())...)
	for name, value := range root.Member("chain").Members() {
		if name.String() != "previous_receipt_hash" {
			b = appendMember(b, name, value)
		}
	}
	b = append(b, '}')

	// The marker is added where it is missing. Nothing else is filled in.
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

// problems lists everything that would make a verifier refuse the receipt.
func (s *Sealer) problems(doc *canon.Document) []Problem {
	var problems []Problem

	// The limits of the format, which are those of the canonical form.
	if size := len(doc.AppendCanonical(nil)); size > MaxBytes {
		problems = append(problems, Problem{"", CodeSizeLimit, fmt.Sprintf("expected at most %d bytes, found %d", MaxBytes, size)})
	}
	if doc.Depth() > MaxDepth {
		problems = append(problems, Problem{"", codeDepthLimit, fmt.Sprintf("expected at most %d nested levels, found %d", MaxDepth, doc.Depth())})
	}
	if n, found := doc.LossyInteger(); found {
		problems = append(problems, Problem{place(n), CodeNumberPrecision, foreign.Number(n.Raw()) + " is outside ±9007199254740991; write it as a string"})
	}

	result := s.schema.Check(doc.Root())
	for _, p := range result.Problems {
		problems = append(problems, Problem{p.Pointer, CodeSchemaInvalid, p.Detail})
	}

	if more := result.Total - len(result.Problems); more > 0 {
		problems = append(problems, Problem{"", CodeSchemaInvalid, fmt.Sprintf("and %d more places", more)})
	}

	// Bytes that do not fit their digest would refute the receipt.
	if c := weighMaterials(doc.Root(), nil, new(watched), result.Total == 0, new(Report)); c.Status == StatusFailed {
		problems = append(problems, Problem{c.Pointer, c.Code, c.Detail})
	}

	return problems
}

// countAfter counts the receipts up to the one after head; 0 says that the
// number is not known.
func countAfter(head chain.Head) uint64 {
	if head.Count == 0 && !head.IsZero() {
		return 0
	}
	return head.Count + 1
}
