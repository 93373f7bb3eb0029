package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A hash of a value that few texts could be, a PIN or a yes, tells the value to
// whoever tries them all. So three kinds of hashes are withheld with a value,
// each with an entry and a commitment of its own:
//
//  1. digests that the format puts beside it: [hashRules];
//  2. members of an open object whose names say that they are hashes of it:
//     [isHashName];
//  3. wherever they stand, as sha256:… or as 64 hexadecimal digits: the SHA-256
//     of the value, of a string in it, and the digests of 1 and 2.
//
// Digests that cover the value along with much else (of files, of other
// receipts) stay, and so do links of the chain.

// A hashRule says which digests of an element are of which of its values.
type hashRule struct {
	element string
	values  string                  // members; * is any
	hashes  string                  // members that are digests of them
	when    func(e canon.Node) bool // nil: always
}

func hashRules() []hashRule {
	return []hashRule{
		{"/approvals/*", "action quorum_proof", "evidence_hash", nil}, // what the actor was shown
		{"/replay_input/materials/*", "bytes_base64", "sha256", nil},
		{"/replay_input/materials/*", "metadata", "sha256", describedOnly},
		{"/replay_input/materials/*", "uri", "sha256", inlineURI},
		{"/side_effects/tool_calls/*", "*", "input_hash output_hash", nil},
		{"/final_artifacts/*", "uri", "sha256", inlineURI},
		{"/deltas/*", "path override_key", "before_sha256 after_sha256", nil}, // and by path: deltaHashes
	}
}

// describedOnly reports whether a material is nothing but its metadata. Else its
// sha256 is of bytes that are elsewhere, or in bytes_base64.
func describedOnly(e canon.Node) bool {
	return e.Member("uri").IsZero() && e.Member("bytes_base64").IsZero()
}

// inlineURI reports whether the URI is the content itself (RFC 2397).
func inlineURI(e canon.Node) bool {
	uri := e.Member("uri").Text()
	return len(uri) > 5 && bytes.EqualFold(uri[:5], []byte("data:"))
}

// covers reports whether the rule's digests are of the named member.
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

// hashWords are what a name of a hash begins or ends with.
const hashWords = "sha256sum sha256 sha512 sha384 sha224 sha1 md5 sha hash digest checksum fingerprint hmac crc32"

// isHashName reports whether a member of an open object is named as the hash of
// one of the withheld members: pin_sha256 or hash_of_pin beside pin, or just
// hash, or one of the names for hashes of tools' inputs and results. All names
// are folded.
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

// digestsIn yields the digests that stand in a text as 64 hexadecimal digits.
func digestsIn(text []byte, yield func(canon.Digest)) {
	const size = 2 * len(canon.Digest{})
	for at := 0; len(text)-at >= size; {
		// Only a run of exactly this length is a digest: a longer one is something else.
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

// sums yields the digests that a value could be confirmed by: of the canonical
// form, and of each string in it as it is, with a newline, and decoded from
// base64. Nothing is withheld for the hash of nothing.
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
