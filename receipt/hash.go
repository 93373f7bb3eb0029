package receipt

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

const hashPointer = "/chain/receipt_hash"

// A hashStep is the step [StepHash].
type hashStep struct{ *Verifier }

// check reports whether the receipt hash holds. The step passes when what the
// hashed content says of materials holds too.
func (s hashStep) check(doc *canon.Document, schemaHolds bool, rep *Report) bool {
	computed, err := s.hash(doc, rep)
	if err != nil { // the plain path refused what the parse accepted: never a success
		rep.fail(Check{Step: StepHash, Code: CodeSyntax, Pointer: hashPointer, Detail: err.Error()})
		return false
	}

	rep.ReceiptHash = computed
	node := doc.Root().Member("chain").Member("receipt_hash")
	if node.Kind() != canon.KindString {
		rep.omit(StepHash, codeStepNotReached, "hash: the receipt states no receipt_hash")
		rep.Checks[len(rep.Checks)-1].Computed = computed.String()
		return false
	}

	// There is one spelling of a digest: 71 bytes, lower case.
	stated, err := canon.ParseDigest(node.Text())
	switch {
	case err != nil:
		rep.fail(Check{Step: StepHash, Code: codeMalformedHash, Pointer: hashPointer, Stated: misspelt(node.Text()), Computed: computed.String(),
			Detail: fmt.Sprintf("expected sha256: and 64 lower-case hexadecimal digits, found a text of %d bytes", len(node.Text()))})
	case stated != computed:
		rep.fail(Check{Step: StepHash, Code: CodeHashMismatch, Pointer: hashPointer, Stated: stated.String(), Computed: computed.String(),
			Detail: "the content does not fit the stated hash", Hint: hashHint(doc, stated)})
	default:
		if c := weighMaterials(doc.Root(), s.evidence.materials, &s.watched, schemaHolds, rep); c.Status == StatusPassed {
			rep.pass(StepHash)
		} else if c.Status == StatusFailed {
			rep.fail(c)
		} else {
			rep.leave(c)
		}
		return true
	}

	return false
}

// hash returns the receipt hash, and tells the report the digest of the input, unless
// nobody wants it.
func (s hashStep) hash(doc *canon.Document, rep *Report) (computed canon.Digest, err error) {
	switch {
	case s.policy.Plain:
		s.digestInput(doc.Source(), rep)
		return chain.ReferenceHash(doc.Source())
	case s.policy.NoInputDigest:
		return chain.Hash(doc)
	default:
		computed, rep.InputSHA256, err = s.lender.both(doc)
		return computed, err
	}
}

// maxHinted bounds the documents that hashHint looks at: each mistake it knows
// costs another pass.
const maxHinted = 1 << 20 // bytes

// hashHint recognizes the mistakes that issuers' tools make with the hash rule,
// by computing the hash each would have given. It is only asked after a
// mismatch, so it may cost something.
func hashHint(doc *canon.Document, stated canon.Digest) string {
	if len(doc.Source()) > maxHinted {
		return ""
	}

	root := doc.Root()
	chain, signatures := root.Member("chain"), root.Member("signatures")
	hash := chain.Member("receipt_hash")
	const rule = "; the rule is to remove exactly /chain/receipt_hash and /signatures, then RFC 8785, then SHA-256"

	// Each case is another preimage that an issuer may have taken.
	switch stated {
	case doc.Digest(hash):
		return "the stated hash was computed with /signatures left in" + rule
	case doc.Digest(chain, signatures):
		return "the stated hash was computed without the whole of /chain" + rule
	case doc.Digest(hash, signatures, chain.Member("merkle_root")):
		return "the stated hash was computed without /chain/merkle_root, which belongs to the hashed content" + rule
	case doc.Digest(hash, signatures, root.Member("metadata")):
		return "the stated hash was computed without /metadata, which belongs to the hashed content" + rule
	}

	// That rule leaves nothing out, so the document has to be written anew.
	if blanked, err := blankedHash(doc); err == nil && blanked == stated {
		return `the stated hash was computed with receipt_hash set to "" instead of removed` + rule
	}
	return ""
}

// blankedHash is the hash by another format's rule, which sets receipt_hash to
// "" where this one removes it.
func blankedHash(doc *canon.Document) (canon.Digest, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(doc.AppendCanonical(nil, doc.Root().Member("signatures")), &members); err != nil {
		return canon.Digest{}, err
	}

	var chain map[string]json.RawMessage
	if err := json.Unmarshal(members["chain"], &chain); err != nil {
		return canon.Digest{}, err
	}

	chain["receipt_hash"] = json.RawMessage(`""`)
	var err error
	if members["chain"], err = json.Marshal(chain); err != nil {
		return canon.Digest{}, err
	}

	text, err := json.Marshal(members)
	if err != nil {
		return canon.Digest{}, err
	}

	// encoding/json sorts names by their bytes and escapes HTML: RFC 8785 section 3.2 does neither.
	canonical, err := canon.Transform(text)
	if err != nil {
		return canon.Digest{}, err
	}

	return canon.Sum(canonical), nil
}

// misspelt returns a digest in capital letters as it stands. What is not a digest may be
// anything, also a secret, and is not told: "".
func misspelt(text []byte) string {
	if _, err := canon.ParseDigest(bytes.ToLower(text)); err != nil {
		return ""
	}
	return string(text)
}
