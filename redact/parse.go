package redact

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
)

// ParseDisclosures reads what [Disclosures.Marshal] writes, in any spelling of
// its JSON. A field or a salt that occurs twice is refused, and so is a salt
// that is not 32 lower-case hexadecimal digits. The error is a *[FormatError], or a
// *[PrecisionError].
func ParseDisclosures(data []byte) (*Disclosures, error) {
	doc, err := canon.Parse(data)
	if err != nil {
		return nil, formatError(err)
	}

	root := doc.Root()
	if err := members(root, "", "disclosures_version", "fields", "receipt_hash"); err != nil {
		return nil, err
	}
	if v := root.Member("disclosures_version"); v.Kind() != canon.KindNumber || v.Float() != 1 {
		return nil, &FormatError{Pointer: "/disclosures_version", Detail: "expected 1"}
	}

	// null says unbound, which is the zero digest here; zeros do not spell it.
	d := &Disclosures{}
	if bound := root.Member("receipt_hash"); bound.Kind() != canon.KindNull {
		if d.ReceiptHash, err = canon.ParseDigest(bound.Text()); err != nil || d.ReceiptHash.IsZero() {
			return nil, &FormatError{Pointer: "/receipt_hash", Detail: "expected a digest or null"}
		}
	}

	list := root.Member("fields")
	if list.Kind() != canon.KindArray {
		return nil, &FormatError{Pointer: "/fields", Detail: "expected an array"}
	}

	for i, n := range list.Elements() {
		at := fmt.Sprintf("/fields/%d", i)
		if err := members(n, at, "field", "salt", "value"); err != nil {
			return nil, err
		}
		d.Fields = append(d.Fields, Disclosure{n.Member("field").String(), n.Member("salt").String(), n.Member("value").AppendCanonical(nil)})
	}

	// The same as for disclosures that a caller made.
	if err := d.check(); err != nil {
		return nil, err
	}
	return d, nil
}

// check checks what holds for the disclosures of every receipt.
func (d *Disclosures) check() error {
	fields, salts := map[string]bool{}, map[string]bool{}
	for i, f := range d.Fields {
		at := func(member string) string { return fmt.Sprintf("/fields/%d/%s", i, member) }
		if _, err := canon.ParsePointer(f.Field); err != nil || f.Field == "" {
			return &FormatError{Pointer: at("field"), Detail: "expected a JSON Pointer (RFC 6901) that is not empty"}
		}
		if !validSalt(f.Salt) {
			return &FormatError{Pointer: at("salt"), Detail: "expected 32 lower-case hexadecimal digits, of which not all are 0"}
		}
		if lossy(f.Value) {
			return &PrecisionError{f.Field}
		}

		if fields[f.Field] {
			return &FormatError{Pointer: at("field"), Detail: "the field has a disclosure already"}
		}
		if salts[f.Salt] {
			return &FormatError{Pointer: at("salt"), Detail: "the salt is that of another field"}
		}
		fields[f.Field], salts[f.Salt] = true, true
	}

	return nil
}

// members refuses what is not an object with exactly these members.
func members(n canon.Node, at string, names ...string) error {
	if n.Kind() != canon.KindObject {
		return &FormatError{Pointer: at, Detail: "expected an object"}
	}
	for _, name := range names {
		if n.Member(name).IsZero() {
			return &FormatError{Pointer: at, Detail: fmt.Sprintf("expected the member %q", name)}
		}
	}
	if n.Len() > len(names) {
		return &FormatError{Pointer: at, Detail: fmt.Sprintf("expected the members %q only", names)}
	}
	return nil
}

// formatError says where a text is not JSON, without a word of it.
func formatError(err error) error {
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return &FormatError{Detail: "expected JSON"}
	}
	return &FormatError{Line: syntax.Line, Column: syntax.Column, Detail: "expected JSON: " + string(syntax.Code)}
}

// Check shows that each disclosed value is the one that the receipt withholds.
// The receipt's own hash is not checked: verify it first, its entries are what
// the disclosures are compared with. Disclosures that are bound must be bound to
// the hash that the receipt states.
//
// The error is a *[FormatError], a *[PrecisionError] or a *[BindingError], or it joins an
// *[UnknownFieldError] or a *[MismatchError] for each field that does not fit.
func (d *Disclosures) Check(receipt *canon.Document) error {
	if err := d.check(); err != nil {
		return err
	}

	// A receipt without a hash states the zero digest, to which nothing is bound.
	stated, _ := canon.ParseDigest(receipt.Root().Member("chain").Member("receipt_hash").Text())
	if !d.ReceiptHash.IsZero() && d.ReceiptHash != stated {
		return &BindingError{d.ReceiptHash, stated}
	}

	// Several entries may name one field; a disclosure has to fit one of them.
	commitments := map[string][]canon.Digest{}
	for _, e := range receipt.Root().Member("redactions").Elements() {
		if proof, err := canon.ParseDigest(e.Member("proof_hash").Text()); err == nil {
			field := e.Member("field").String()
			commitments[field] = append(commitments[field], proof)
		}
	}

	var all []error
	for _, f := range d.Fields {
		all = append(all, f.check(commitments[f.Field]))
	}

	return errors.Join(all...)
}

// check compares a disclosure with the commitments for its field. There are
// several when a part of a value was withheld first, and then the rest.
func (d Disclosure) check(commitments []canon.Digest) error {
	if len(commitments) == 0 {
		return &UnknownFieldError{d.Field}
	}
	computed := d.Commitment()
	for _, c := range commitments {
		if c == computed {
			return nil
		}
	}
	return &MismatchError{d.Field, commitments[0], computed}
}
