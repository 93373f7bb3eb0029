package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// The hash of a value with only a few candidates, such as a PIN, reveals the value to anyone who
// tries all candidates. Three kinds of hashes are therefore withheld together with a value, each
// with its own entry and commitment:
//
//  1. digests that the format stores in a member next to the value (see [hashRules]);
//  2. members of an open object whose names show that they are hashes of the value (see
//     [isHashName]);
//  3. anywhere, written as sha256:… or as 64 hexadecimal digits: the SHA-256 of the value or of a
//     string in it, and the digests of kinds 1 and 2.
//
// Digests that cover the value together with other data, such as digests of files or of other
// receipts, are kept, and so are the links of the chain.

// A hashRule maps the digests in an element to the values that they cover.
type hashRule struct {
	element string
	values  string                  // names of members with values; * matches any member
	hashes  string                  // names of members with digests of these values
	when    func(e canon.Node) bool // nil: always
}

func hashRules() []hashRule {
	return []hashRule{
		{"/approvals/*", "action quorum_proof", "evidence_hash", nil}, // digest of the data that the actor saw
		{"/replay_input/materials/*", "bytes_base64", "sha256", nil},
		{"/replay_input/materials/*", "metadata", "sha256", describedOnly},
		{"/replay_input/materials/*", "uri", "sha256", inlineURI},
		{"/side_effects/tool_calls/*", "*", "input_hash output_hash", nil},
		{"/final_artifacts/*", "uri", "sha256", inlineURI},
		{"/deltas/*", "path override_key", "before_sha256 after_sha256", nil}, // deltaHashes also uses the path
	}
}

// describedOnly reports whether a material has only metadata. The sha256 of any other material is
// the digest of bytes, which are in bytes_base64 or elsewhere.
func describedOnly(e canon.Node) bool {
	return e.Member("uri").IsZero() && e.Member("bytes_base64").IsZero()
}

// inlineURI reports whether the URI itself contains the content (RFC 2397).
func inlineURI(e canon.Node) bool {
	uri := e.Member("uri").Text()
	return len(uri) > 5 && bytes.EqualFold(uri[:5], []byte("data:"))
}

// covers reports whether the digests of the rule cover the named member.
func (r hashRule) covers(e canon.Node, member string) bool {
	if r.values != anyToken && !hasWord(r.values, member) || hasWord(r.hashes, member) {
		return false
	}
	return r.when == nil || r.when(e)
}

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// hashWords are the words that may begin or end the name of a hash.
const hashWords = "sha256sum sha256 sha512 sha384 sha224 sha1 md5 sha hash digest checksum fingerprint hmac crc32"

// isHashName reports whether the name of a member of an open object denotes a hash of a withheld
// member. For a member pin, such names are pin_sha256, hash_of_pin, hash, and the names that are
// used for hashes of tool inputs and results. All names must be folded.
func isHashName(name string, withheld map[string]bool) bool {
	switch name {
	case "argshash", "argumentshash", "inputhash", "outputhash", "resulthash", "contenthash", "bodyhash", "valuehash":
		return true
	}
	for word := range strings.FieldsSeq(hashWords) {
		if before, ok := strings.CutSuffix(name, word); ok && (before == "" || withheld[before]) {
			return true
		}
		if behind, ok := strings.CutPrefix(name, word); ok && (withheld[behind] || withheld[strings.TrimPrefix(behind, "of")]) {
			return true
		}
	}
	return false
}

// digestsIn yields the digests in text that are written as 64 hexadecimal digits.
func digestsIn(text []byte, yield func(canon.Digest)) {
	const size = 2 * len(canon.Digest{})
	for at := 0; len(text)-at >= size; {
		// Only a run of exactly this many digits is treated as a digest.
		n := 0
		for at+n < len(text) && isHex(text[at+n]) {
			n++
		}
		if n == size {
			var d canon.Digest
			hex.Decode(d[:], text[at:at+n]) // cannot fail
			yield(d)
		}
		at += n + 1
	}
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// sums yields the digests that could confirm a guess of a value, starting with the digest of the
// canonical form. For each string, number, and Boolean in the value, it also yields the digests of
// the text, of the text with a newline, and of the text decoded from base64. It yields no digests
// of empty values.
func sums(n canon.Node, add func(canon.Digest)) {
	switch n.Kind() {
	case canon.KindObject, canon.KindArray:
		if n.Len() == 0 {
			return
		}
	case canon.KindString:
		if len(n.Text()) == 0 {
			return
		}
	}
	add(canon.Sum(n.AppendCanonical(nil)))
	leafSums(n, add)
}

func leafSums(n canon.Node, add func(canon.Digest)) {
	switch n.Kind() {
	case canon.KindObject:
		for _, v := range n.Members() {
			leafSums(v, add)
		}
	case canon.KindArray:
		for _, v := range n.Elements() {
			leafSums(v, add)
		}
	case canon.KindString:
		textSums(n.Text(), add)
	case canon.KindNumber, canon.KindBool:
		textSums(n.AppendCanonical(nil), add)
	}
}

func textSums(text []byte, add func(canon.Digest)) {
	if len(text) == 0 {
		return
	}
	add(canon.Sum(text))
	add(canon.Sum(append(text[:len(text):len(text)], '\n')))

	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
		if decoded, err := enc.AppendDecode(nil, text); err == nil && len(decoded) > 0 {
			add(canon.Sum(decoded))
		}
	}
}
