package scitt

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/receipt"
)

var errCBOR = errors.New("expected one CBOR item in the shortest form, without indefinite lengths and duplicate keys")

// maxNesting is the maximum depth of nested items; valid statements stay below it.
const maxNesting = 16

// decode decodes one CBOR item without tags. The CBOR library silently converts some items, such as
// null to 0, so the result must encode to the bytes that were read.
func decode(data []byte, v any) error {
	if err := decodeWith(cbor.TagsForbidden, data, v); err != nil {
		return err
	}
	if again, err := encoding().Marshal(v); err != nil || !bytes.Equal(again, data) {
		return errCBOR
	}
	return nil
}

func encoding() cbor.EncMode {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return mode
}

// decodeMap decodes a map whose values may have tags.
func decodeMap(data []byte, v *headers) error {
	if len(data) == 0 || data[0]>>5 != majorMap {
		return errors.New("expected a map")
	}
	return decodeWith(cbor.TagsAllowed, data, v)
}

// decodeWith decodes one CBOR item, and rejects trailing data. The CBOR library accepts non-minimal
// lengths, so the lengths are checked separately. Otherwise, one statement could have two digests.
func decodeWith(tags cbor.TagsMode, data []byte, v any) error {
	mode, err := cbor.DecOptions{DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, MaxNestedLevels: maxNesting, TagsMd: tags}.DecMode()
	if err != nil {
		panic(err) // the options are constants
	}
	if err := mode.Wellformed(data); err != nil || !shortest(data) {
		return errCBOR
	}
	return mode.Unmarshal(data, v)
}

// Major types of CBOR items (RFC 8949 section 3.1).
const (
	majorText   = 3 // byte strings precede it
	majorMap    = 5
	majorSimple = 7
)

// shortest reports whether the heads of well-formed items have the shortest form (RFC 8949 section
// 4.2.1). The items of an array directly follow the head of the array, so no recursion is needed.
func shortest(data []byte) bool {
	for len(data) > 0 {
		major, info := data[0]>>5, data[0]&31
		size, arg := 0, uint64(info)
		if info >= 24 {
			size, arg = 1<<(info-24), 0
		}
		for _, b := range data[1 : 1+size] {
			arg = arg<<8 | uint64(b)
		}
		if size > 0 && major != majorSimple && arg < []uint64{24, 1 << 8, 1 << 16, 1 << 32}[info-24] {
			return false
		}

		// Only strings have content that does not consist of items.
		if data = data[1+size:]; major == majorText || major == majorText-1 {
			data = data[arg:]
		}
	}
	return true
}

// headers maps labels to encoded items. A label is an integer or, from some writers, a string.
type headers map[any]cbor.RawMessage

// at decodes the value of a label into v, and reports whether the label has a value of this type.
func (h headers) at(label int64, v any) bool {
	raw, found := h.raw(label)
	return found && decode(raw, v) == nil
}

// raw returns the encoded value of a label, and reports whether the label is present.
func (h headers) raw(label int64) (raw cbor.RawMessage, found bool) {
	if label >= 0 {
		raw, found = h[uint64(label)]
	} else {
		raw, found = h[label]
	}
	return raw, found
}

// text returns the value of a label if it is a string, and "" otherwise.
func (h headers) text(label int64) (s string) {
	h.at(label, &s) // s stays empty if decoding fails
	return s
}

// A message is a COSE_Sign1 message.
type message struct {
	data        []byte
	raw         cbor.RawMessage // the byte string that contains the protected header
	protected   headers
	unprotected headers
	payload     *[]byte // nil if the payload is detached
	signed      []byte  // the signature
}

func open(data []byte) (*message, error) {
	malformed := errors.New("expected a COSE_Sign1 message with its tag, two headers, a payload, and a signature")
	var outer cbor.RawTag
	var parts []cbor.RawMessage
	if err := decodeWith(cbor.TagsAllowed, data, &outer); errors.Is(err, errCBOR) {
		return nil, err
	} else if err != nil || outer.Number != 18 || decodeWith(cbor.TagsAllowed, outer.Content, &parts) != nil || len(parts) != 4 {
		return nil, malformed
	}

	m := &message{data: data, raw: parts[0]}
	var protected []byte
	if decode(parts[0], &protected) != nil || decodeMap(protected, &m.protected) != nil || decodeMap(parts[1], &m.unprotected) != nil ||
		decode(parts[2], &m.payload) != nil || decode(parts[3], &m.signed) != nil || m.signed == nil {
		return nil, malformed
	}
	return m, nil
}

// registered returns the message without its receipts, which is the form that a log registered.
func (m *message) registered() []byte {
	value, found := m.unprotected.raw(labelReceipts)
	if !found {
		return m.data
	}

	// The entry consists of the encoded label 394 and its value.
	entry := append([]byte{0x19, labelReceipts >> 8, labelReceipts & 0xff}, value...)
	_, rest, _ := bytes.Cut(m.data, m.raw)
	count := len(m.unprotected) - 1

	// The new head of the map counts one entry fewer.
	head := []byte{0xa0 | byte(count)}
	if count >= 24 {
		head = []byte{0xb8, byte(count)} // a header with 256 entries would get a different digest
	}
	size := 1
	if count+1 >= 24 {
		size = 2
	}
	before := m.data[:len(m.data)-len(rest)]
	return bytes.Join([][]byte{before, head, bytes.Replace(rest[size:], entry, nil, 1)}, nil)
}

// structure returns the Sig_structure of a message (RFC 9052 section 4.4).
func structure(protected cbor.RawMessage, payload []byte) []byte {
	text, err := cbor.Marshal([]any{"Signature1", protected, []byte{}, payload})
	if err != nil {
		panic(err) // these types can be encoded as CBOR
	}
	return text
}

// signature returns the signature of a message with an embedded or a detached payload.
func (m *message) signature(f *receipt.Foreign, step receipt.Step, payload []byte) (s receipt.ForeignSignature, ok bool) {
	var code int64
	if !m.protected.at(labelAlg, &code) {
		form.Fail(f, step, receipt.CodeMalformedSignature, "", "the protected header names no algorithm")
		return s, false
	}
	if _, critical := m.protected.raw(labelCrit); critical {
		form.Leave(f, step, receipt.CodeUnsupportedAlgorithm, "", "the header has critical parameters, which are not known")
		return s, false
	}

	// An altered message without a key ID cannot be distinguished from a message that was signed
	// with an unknown key.
	s = receipt.ForeignSignature{Algorithm: algorithm(code), Messages: [][]byte{structure(m.raw, payload)}, Value: m.signed}
	var kid []byte
	if m.protected.at(labelKID, &kid) && len(kid) > 0 {
		s.KeyID = string(kid)
	} else {
		s.Unsure = "the message names no key, and none of those in question made the signature"
	}
	return s, true
}

// algorithm returns the JOSE name of a COSE algorithm (RFC 9053 section 2).
func algorithm(code int64) string {
	for name, c := range algorithms() {
		if c == code {
			return name
		}
	}
	return fmt.Sprintf("COSE %d", code)
}

func algorithms() map[string]int64 {
	return map[string]int64{"EdDSA": -8, "ES256": -7, "ES384": -35, "ES512": -36, "ML-DSA-65": -49}
}
