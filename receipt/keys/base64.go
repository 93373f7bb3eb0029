package keys

import (
	"bytes"
	"encoding/base64"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
)

var errBase64 = errors.New("not canonical base64url without padding")

// decodeURL decodes base64url as defined in RFC 7515 section 2: without padding, whitespace, or
// unused bits that are set. encoding/base64 would ignore line breaks.
func decodeURL(src []byte) ([]byte, error) {
	if bytes.ContainsAny(src, "\r\n") {
		return nil, errBase64
	}
	dst := make([]byte, base64.RawURLEncoding.DecodedLen(len(src)))
	n, err := base64.RawURLEncoding.Strict().Decode(dst, src)
	if err != nil {
		return nil, errBase64
	}
	return dst[:n], nil
}

func encodeURL(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// octets decodes a base64url member whose value must be exactly size bytes long.
func octets(key canon.Node, name string, size int) ([]byte, *SetError) {
	b, err := binary(key, name)
	if err == nil && len(b) != size {
		err = invalid("/"+name, "%s has %d bytes, expected %d", name, len(b), size)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// integer decodes a Base64urlUInt (RFC 7518 section 2), which is big-endian and has no leading
// zeros.
func integer(key canon.Node, name string) ([]byte, *SetError) {
	b, err := binary(key, name)
	if err == nil && (len(b) == 0 || b[0] == 0) {
		err = invalid("/"+name, "%s is empty or has leading zero bytes", name)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

func binary(key canon.Node, name string) ([]byte, *SetError) {
	n := key.Member(name)
	if n.Kind() != canon.KindString {
		return nil, invalid("/"+name, "expected %s as a string of base64url", name)
	}
	b, err := decodeURL(n.Text())
	if err != nil {
		return nil, invalid("/"+name, "%s is %v", name, err)
	}
	return b, nil
}
