package redact

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/canon"
)

// commitmentPrefix distinguishes commitments from all other hashes of JSON.
const commitmentPrefix = "receipt-redaction-v1\n"

// saltSize is the size of a salt in bytes. Its hexadecimal form is twice as long.
const saltSize = 16

// Commitment returns the proof_hash for a withheld value:
//
//	SHA-256("receipt-redaction-v1\n" ‖ JCS({"field": field, "salt": salt, "value": value}))
//
// where the field is the JSON Pointer to the value in the unredacted form, the salt is 32 lowercase
// hexadecimal digits, and the value is the complete original value in RFC 8785 form. With a shell:
//
//	(printf 'receipt-redaction-v1\n'; printf '{"field":"/metadata/pin","salt":"%s","value":"1234"}' "$salt") | sha256sum
//
// Without the salt, nobody can confirm a guess of the value. The hash also covers the field, so
// that a value cannot be presented as the value of another field.
func (d Disclosure) Commitment() canon.Digest {
	b := canon.AppendString([]byte(commitmentPrefix+`{"field":`), d.Field)
	b = canon.AppendString(append(b, `,"salt":`...), d.Salt)
	b = append(append(b, `,"value":`...), d.Value...)
	return canon.Sum(append(b, '}'))
}

// lossy reports whether a value contains an integer that has the same canonical form as neighboring
// integers. Receipts contain no such integer, and a commitment could not distinguish it from its
// neighbors.
func lossy(value []byte) bool {
	doc := new(canon.Document)
	if doc.Parse(value, canon.Limits{Depth: anyDepth}) != nil {
		return false
	}
	_, found := doc.LossyInteger()
	return found
}

// anyDepth imposes no depth limit, because the document has already been parsed within the limits
// of package canon.
const anyDepth = 1 << 30

// disclose creates a disclosure with its own salt for each hit.
func disclose(hits []hit, salts io.Reader) (*Disclosures, error) {
	d := &Disclosures{}
	seen := map[[saltSize]byte]bool{{}: true}

	for _, h := range hits {
		var salt [saltSize]byte
		if _, err := io.ReadFull(salts, salt[:]); err != nil {
			return nil, fmt.Errorf("redact: reading a salt: %w", err)
		}
		if seen[salt] {
			return nil, errors.New("redact: source of salts is not random: it returned the same 16 bytes twice, or zeros")
		}
		seen[salt] = true
		d.Fields = append(d.Fields, Disclosure{h.pointer, hex.EncodeToString(salt[:]), h.at.node.AppendCanonical(nil)})
	}
	return d, nil
}

// validSalt reports whether a salt is in the only valid form.
func validSalt(salt string) bool {
	if len(salt) != 2*saltSize {
		return false
	}
	for _, c := range []byte(salt) {
		if !isHex(c) || c >= 'A' && c <= 'F' {
			return false
		}
	}
	return !bytes.Equal([]byte(salt), bytes.Repeat([]byte{'0'}, 2*saltSize))
}
