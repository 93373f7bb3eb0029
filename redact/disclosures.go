package redact

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// Disclosures are withheld values with the salts of their commitments. They are all values from one
// redaction, or a selection for a recipient. They are secret. When printed, Disclosures show only
// how many fields they have.
type Disclosures struct {
	ReceiptHash canon.Digest // hash of the receipt to which the values belong; zero until the receipt is sealed
	Fields      []Disclosure // in the order of the entries in the receipt
}

// A Disclosure is a withheld value with the salt of its commitment.
type Disclosure struct {
	Field string // JSON Pointer (RFC 6901) to the value in the unredacted form
	Salt  string // 32 lowercase hexadecimal digits
	Value []byte // RFC 8785 form
}

// Format prints only the field for every verb, because any representation of the value would reveal
// it.
func (d Disclosure) Format(w fmt.State, verb rune) { io.WriteString(w, d.Field) }

// MarshalJSON always returns an error, so that a disclosure is not written by mistake, for example
// to a log. [Disclosures.Marshal] writes them.
func (d Disclosure) MarshalJSON() ([]byte, error) {
	return nil, errors.New("redact: disclosures are secret; use Disclosures.Marshal to write them")
}

// Format prints only the number of fields, for every verb.
func (d *Disclosures) Format(w fmt.State, verb rune) {
	fmt.Fprintf(w, "%d disclosures", len(d.Fields))
}

// Bind returns a copy of the disclosures, bound to the receipt with the given hash. The disclosures
// must not already be bound to another receipt.
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

// belong returns an error if the disclosures are bound to a receipt with another hash.
func (d *Disclosures) belong(receipt canon.Digest) error {
	switch {
	case d.ReceiptHash.IsZero() || d.ReceiptHash == receipt:
		return nil
	case receipt.IsZero():
		return errNoHash
	}
	return fmt.Errorf("redact: the disclosures belong to the receipt %v, not to %v", d.ReceiptHash, receipt)
}

// Select returns the disclosures for the given fields, with each field included once. The error is
// a *[DisclosureError].
func (d *Disclosures) Select(fields ...string) (*Disclosures, error) {
	chosen := &Disclosures{ReceiptHash: d.ReceiptHash}
	for _, f := range d.Fields {
		if slices.Contains(fields, f.Field) {
			chosen.Fields = append(chosen.Fields, f)
		}
	}

	// Every field that is selected must have a disclosure.
	for _, name := range fields {
		if !slices.ContainsFunc(chosen.Fields, func(f Disclosure) bool { return f.Field == name }) {
			return nil, unknown(name, "the file has no disclosure of it")
		}
	}
	return chosen, nil
}

// Marshal returns the content of a disclosure file, in RFC 8785 form and followed by a newline. The
// content is valid against schemas/disclosures.schema.json.
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

// check checks the requirements that do not depend on a receipt.
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
// verify the hash of the receipt. Verify the receipt first, because the disclosures are compared
// with entries in the receipt. If the disclosures are bound, they must be bound to the hash in the
// receipt.
//
// The error joins a *[DisclosureError] for each field that does not match. Otherwise, it is an
// error from [Consistent], or it reports that the disclosures are malformed or are bound to another
// receipt.
func (d *Disclosures) Check(receipt *canon.Document) error {
	if err := d.check(); err != nil {
		return err
	}

	// If the receipt states no hash, stated is the zero digest, to which no disclosures are bound.
	stated, _ := canon.ParseDigest(receipt.Root().Member("chain").Member("receipt_hash").Text())
	if err := d.belong(stated); err != nil {
		return err
	}

	// All fields are compared, so that the error contains every mismatch. Values that do not match
	// their commitments are listed first.
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

// commitmentsOf returns the commitments in a receipt, keyed by field. A field may have several
// commitments; a disclosure must match one of them.
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

// Fitting returns the indexes of the elements of Fields whose values match commitments in a
// receipt. If the disclosures are not bound, these values belong to the receipt. If the disclosures
// are bound, the result is empty.
func (d *Disclosures) Fitting(receipt *canon.Document) (places []int) {
	if !d.ReceiptHash.IsZero() {
		return nil
	}
	commitments := commitmentsOf(receipt)
	for i, f := range d.Fields {
		if lossy(f.Value) { // neighboring integers have the same commitment, so Consistent rejects the value
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

// check compares a disclosure with the commitments for the same field. There are several
// commitments if part of a value was withheld first and the rest was withheld later.
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

// ParseDisclosures parses a disclosure file. The JSON does not need to have the form that
// [Disclosures.Marshal] writes. ParseDisclosures rejects files in which a field or a salt occurs
// twice or a salt is not 32 lowercase hexadecimal digits. The error may be a *[DisclosureError].
func ParseDisclosures(data []byte) (*Disclosures, error) {
	doc, err := canon.Parse(data)
	if err != nil {
		return nil, notJSON(err)
	}

	root := doc.Root()
	if err := members(root, "", "disclosures_version", "fields", "receipt_hash"); err != nil {
		return nil, err
	}
	if v := root.Member("disclosures_version"); v.Float() != 1 {
		return nil, malformed("/disclosures_version", "expected 1")
	}

	// The value null means that the disclosures are not bound. This is represented by the zero
	// digest. A digest that consists of zeros is therefore invalid in a file.
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

	// The same requirements apply to disclosures that a caller has created.
	if err := d.check(); err != nil {
		return nil, err
	}
	return d, nil
}

// members returns an error unless the value is an object with exactly the named members.
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

// notJSON returns an error with the location at which a string is not valid JSON, without quoting
// the string.
func notJSON(err error) error {
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return malformed("", "expected JSON")
	}
	return malformed("", fmt.Sprintf("line %d, column %d: expected JSON: %s", syntax.Line, syntax.Column, syntax.Code))
}
