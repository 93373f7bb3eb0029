package redact

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// Disclosures are withheld values with the salts of their commitments: all values from one
// redaction, or a selection that is disclosed to a recipient. They are secret. When printed, they
// show only their field names.
type Disclosures struct {
	ReceiptHash canon.Digest // hash of the receipt to which they belong; zero before the receipt is sealed
	Fields      []Disclosure // in the order of the receipt's entries
}

// A Disclosure is one withheld value.
type Disclosure struct {
	Field string // JSON Pointer (RFC 6901) into the unredacted form
	Salt  string // 32 lowercase hexadecimal digits
	Value []byte // RFC 8785 form
}

// Format prints the field for every verb, because every representation of the value would reveal
// it.
func (d Disclosure) Format(w fmt.State, verb rune) { io.WriteString(w, d.Field) }

// MarshalJSON returns an error, so that programs that write disclosures by accident, for example to
// a log, fail. [Disclosures.Marshal] writes them.
func (d Disclosure) MarshalJSON() ([]byte, error) {
	return nil, errors.New("redact: disclosures are secret; use Disclosures.Marshal to write them")
}

// Format prints the number of fields for every verb.
func (d *Disclosures) Format(w fmt.State, verb rune) {
	fmt.Fprintf(w, "%d disclosures", len(d.Fields))
}

// Bind returns the disclosures bound to the receipt with the given hash. They must not be bound to
// another receipt.
func (d *Disclosures) Bind(receipt canon.Digest) (*Disclosures, error) {
	if err := d.belong(receipt); err != nil {
		return nil, err
	}
	if receipt.IsZero() {
		return nil, errNoHash
	}
	return &Disclosures{receipt, slices.Clone(d.Fields)}, nil
}

var errNoHash = errors.New("redact: the receipt has no hash: disclosures can only be bound to a sealed receipt")

// belong returns an error if the disclosures are bound to another receipt.
func (d *Disclosures) belong(receipt canon.Digest) error {
	switch {
	case d.ReceiptHash.IsZero() || d.ReceiptHash == receipt:
		return nil
	case receipt.IsZero():
		return errNoHash
	}
	return fmt.Errorf("redact: the disclosures belong to the receipt %v, not to %v", d.ReceiptHash, receipt)
}

// Select returns the disclosures for the given fields, each field once. The error is a
// *[DisclosureError].
func (d *Disclosures) Select(fields ...string) (*Disclosures, error) {
	chosen := &Disclosures{ReceiptHash: d.ReceiptHash}
	for _, f := range d.Fields {
		if slices.Contains(fields, f.Field) {
			chosen.Fields = append(chosen.Fields, f)
		}
	}

	// Every requested field needs a disclosure.
	for _, name := range fields {
		if !slices.ContainsFunc(chosen.Fields, func(f Disclosure) bool { return f.Field == name }) {
			return nil, unknown(name, "the file has no disclosure of it")
		}
	}
	return chosen, nil
}

// Marshal returns the disclosures as a file in RFC 8785 form, followed by a newline. The file is
// valid against schemas/disclosures.schema.json.
func (d *Disclosures) Marshal() []byte {
	b := []byte(`{"disclosures_version":1,"fields":[`)
	for i, f := range d.Fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = canon.AppendString(append(b, `{"field":`...), f.Field)
		b = canon.AppendString(append(b, `,"salt":`...), f.Salt)
		b = append(append(append(b, `,"value":`...), f.Value...), '}')
	}
	b = append(b, `],"receipt_hash":`...)
	if d.ReceiptHash.IsZero() {
		return append(b, "null}\n"...)
	}
	return append(canon.AppendString(b, d.ReceiptHash.String()), "}\n"...)
}

// check checks the rules that do not depend on the receipt.
func (d *Disclosures) check() error {
	fields, salts := map[string]bool{}, map[string]bool{}
	for i, f := range d.Fields {
		at := func(member string) string { return fmt.Sprintf("/fields/%d/%s", i, member) }
		if _, err := canon.ParsePointer(f.Field); err != nil || f.Field == "" {
			return malformed(at("field"), "expected a non-empty JSON Pointer (RFC 6901)")
		}
		if !validSalt(f.Salt) {
			return malformed(at("salt"), "expected 32 lowercase hexadecimal digits that are not all 0")
		}
		if lossy(f.Value) {
			return imprecise(f.Field)
		}

		if fields[f.Field] {
			return malformed(at("field"), "the field already has a disclosure")
		}
		if salts[f.Salt] {
			return malformed(at("salt"), "the salt is that of another field")
		}
		fields[f.Field], salts[f.Salt] = true, true
	}

	return nil
}

// Check verifies that each disclosed value is the value that the receipt withholds. It does not
// check the receipt's own hash. Verify the receipt first, because the disclosures are compared with
// its entries. Bound disclosures must be bound to the hash that the receipt states.
//
// The error joins a *[DisclosureError] for each field that does not match, comes from [Consistent],
// or reports that the disclosures are malformed or bound to another receipt.
func (d *Disclosures) Check(receipt *canon.Document) error {
	if err := d.check(); err != nil {
		return err
	}

	// A receipt without a hash states the zero digest, to which no disclosures are bound.
	stated, _ := canon.ParseDigest(receipt.Root().Member("chain").Member("receipt_hash").Text())
	if err := d.belong(stated); err != nil {
		return err
	}

	// Every field is compared, so that one error lists all faults. Mismatched values are listed
	// first.
	var differ, absent []error
	commitments := commitmentsOf(receipt)
	for _, f := range d.Fields {
		switch err := f.check(commitments[f.Field]); {
		case err == nil:
		case len(commitments[f.Field]) > 0:
			differ = append(differ, err)
		default:
			absent = append(absent, err)
		}
	}
	if err := errors.Join(append(differ, absent...)...); err != nil {
		return err
	}
	return Consistent(receipt, d.Fields)
}

// commitmentsOf returns a receipt's commitments, keyed by field. A field may have several
// commitments, and a disclosure must match one of them.
func commitmentsOf(receipt *canon.Document) map[string][]canon.Digest {
	commitments := map[string][]canon.Digest{}
	for _, e := range receipt.Root().Member("redactions").Elements() {
		if proof, err := canon.ParseDigest(e.Member("proof_hash").Text()); err == nil {
			field := e.Member("field").String()
			commitments[field] = append(commitments[field], proof)
		}
	}
	return commitments
}

// Fitting returns the indexes in Fields of the values that match a receipt's commitments. If the
// disclosures are bound to no receipt, these values belong to the receipt. For bound disclosures,
// it returns no indexes.
func (d *Disclosures) Fitting(receipt *canon.Document) (places []int) {
	if !d.ReceiptHash.IsZero() {
		return nil
	}
	commitments := commitmentsOf(receipt)
	for i, f := range d.Fields {
		if lossy(f.Value) { // neighboring integers share its commitment; Consistent rejects it
			if canonical, err := canon.Transform(f.Value); err == nil {
				f.Value = canonical
			}
		}
		if validSalt(f.Salt) && f.check(commitments[f.Field]) == nil {
			places = append(places, i)
		}
	}
	return places
}

// check compares a disclosure with the commitments for its field. A field has several commitments
// if a part of its value was withheld first and the remaining part later.
func (d Disclosure) check(commitments []canon.Digest) error {
	if len(commitments) == 0 {
		return unknown(d.Field, "the receipt has no commitment for the disclosed field")
	}

	computed := d.Commitment()
	for _, c := range commitments {
		if c == computed {
			return nil
		}
	}
	return &DisclosureError{d.Field, "disclosure_mismatch", "the disclosed value is not the one that was withheld", commitments[0], computed}
}

// ParseDisclosures parses the output of [Disclosures.Marshal], in any JSON spelling. It rejects a
// duplicate field or salt, and a salt that is not 32 lowercase hexadecimal digits. The error may be
// a *[DisclosureError].
func ParseDisclosures(data []byte) (*Disclosures, error) {
	doc, err := canon.Parse(data)
	if err != nil {
		return nil, notJSON(err)
	}

	root := doc.Root()
	if err := members(root, "", "disclosures_version", "fields", "receipt_hash"); err != nil {
		return nil, err
	}
	if v := root.Member("disclosures_version"); v.Kind() != canon.KindNumber || v.Float() != 1 {
		return nil, malformed("/disclosures_version", "expected 1")
	}

	// null means unbound, which the zero digest represents here. A digest of zeros is invalid.
	d := &Disclosures{}
	if bound := root.Member("receipt_hash"); bound.Kind() != canon.KindNull {
		if d.ReceiptHash, err = canon.ParseDigest(bound.Text()); err != nil || d.ReceiptHash.IsZero() {
			return nil, malformed("/receipt_hash", "expected a digest or null")
		}
	}

	list := root.Member("fields")
	if list.Kind() != canon.KindArray {
		return nil, malformed("/fields", "expected an array")
	}

	for i, n := range list.Elements() {
		at := fmt.Sprintf("/fields/%d", i)
		if err := members(n, at, "field", "salt", "value"); err != nil {
			return nil, err
		}
		d.Fields = append(d.Fields, Disclosure{n.Member("field").String(), n.Member("salt").String(), n.Member("value").AppendCanonical(nil)})
	}

	// The same rules apply to disclosures supplied by a caller.
	if err := d.check(); err != nil {
		return nil, err
	}
	return d, nil
}

// members returns an error unless the value is an object with exactly these members.
func members(n canon.Node, at string, names ...string) error {
	if n.Kind() != canon.KindObject {
		return malformed(at, "expected an object")
	}
	for _, name := range names {
		if n.Member(name).IsZero() {
			return malformed(at, fmt.Sprintf("expected the member %q", name))
		}
	}
	if n.Len() > len(names) {
		return malformed(at, fmt.Sprintf("expected only the members %q", names))
	}
	return nil
}

// notJSON reports the location at which a text is not JSON, without quoting the text.
func notJSON(err error) error {
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return malformed("", "expected JSON")
	}
	return malformed("", fmt.Sprintf("line %d, column %d: expected JSON: %s", syntax.Line, syntax.Column, syntax.Code))
}
