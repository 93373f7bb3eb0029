package harness

import (
	"encoding/json"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// textMember returns a string member of the body, or "" if the member is absent or null.
func textMember(r *protocol.Request, name string) (string, error) {
	switch member := r.JSON.Root().Member(name); member.Kind() {
	case canon.KindInvalid, canon.KindNull:
		return "", nil
	case canon.KindString:
		return member.String(), nil
	}
	return "", protocol.Invalid(name, "expected a string")
}

// requiredText returns a member of the body, which must be a non-empty string.
func requiredText(r *protocol.Request, name string) (string, error) {
	text, err := textMember(r, name)
	if err == nil && text == "" {
		err = protocol.Invalid(name, "expected a string that is not empty")
	}
	return text, err
}

// objectMember returns the text of an object member of the body, or nil if the member is absent or
// null.
func objectMember(r *protocol.Request, name string) (json.RawMessage, error) {
	switch member := r.JSON.Root().Member(name); member.Kind() {
	case canon.KindInvalid, canon.KindNull:
		return nil, nil
	case canon.KindObject:
		return member.Raw(), nil
	}
	return nil, protocol.Invalid(name, "expected an object")
}
