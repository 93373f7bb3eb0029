package redact

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
)

// ParseDisclosures reads what [Disclosures.Marshal] writes, in any spelling of
// its JSON. A field or a salt that occurs twice is refused, and so is a salt
// that is not 32 lower-case hexadecimal digits. The error may be a
// *[PrecisionError].
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
		return nil, &formatError{Pointer: "/disclosures_version", Detail: "expected 1"}
	}

	// null says unbound, which is the zero digest here; zeros do not spell it.
	d := &Disclosures{}
	if bound := root.Member("receipt_hash"); bound.Kind() != canon.KindNull {
		if d.ReceiptHash, err = canon.ParseDigest(bound.Text()); err != nil || d.ReceiptHash.IsZero() {
			return nil, &formatError{Pointer: "/receipt_hash", Detail: "expected a digest or null"}
		}
	}

	list := root.Member("fields")
	if list.Kind() != canon.KindArray {
		return nil, &formatError{Pointer: "/fields", Detail: "expected an array"}
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

// members refuses what is not an object with exactly these members.
func members(n canon.Node, at string, names ...string) error {
	if n.Kind() != canon.KindObject {
		return &formatError{Pointer: at, Detail: "expected an object"}
	}
	for _, name := range names {
		if n.Member(name).IsZero() {
			return &formatError{Pointer: at, Detail: fmt.Sprintf("expected the member %q", name)}
		}
	}
	if n.Len() > len(names) {
		return &formatError{Pointer: at, Detail: fmt.Sprintf("expected the members %q only", names)}
	}
	return nil
}

// notJSON says where a text is not JSON, without a word of it.
func notJSON(err error) error {
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return &formatError{Detail: "expected JSON"}
	}
	return &formatError{Line: syntax.Line, Column: syntax.Column, Detail: "expected JSON: " + string(syntax.Code)}
}
