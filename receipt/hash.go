package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

const hashPointer = "/chain/receipt_hash"

// A hashStep performs the step [StepHash].
type hashStep struct{ *Verifier }

// check reports whether the receipt hash is valid. The step passes only if the receipt's statements
// about materials are also correct.
func (s hashStep) check(doc *canon.Document, schemaHolds bool, rep *Report) bool {
	computed, err := s.hash(doc, rep)
	// If the hash cannot be computed, although the parser has accepted the document, the step
	// fails.
	if err != nil {
		rep.fail(Check{Step: StepHash, Code: CodeSyntax, Pointer: hashPointer, Detail: err.Error()})
		return false
	}

	rep.ReceiptHash = computed
	node := doc.Root().Member("chain").Member("receipt_hash")
	if node.Kind() != canon.KindString {
		rep.omit(StepHash, CodeStepNotReached, "hash: the receipt states no receipt_hash")
		rep.Checks[len(rep.Checks)-1].Computed = computed.String()
		return false
	}

	// A digest has only one spelling, with 71 bytes and lowercase digits.
	stated, err := canon.ParseDigest(node.Text())
	switch {
	case err != nil:
		rep.fail(Check{Step: StepHash, Code: CodeMalformedHash, Pointer: hashPointer, Stated: misspelt(node.Text()), Computed: computed.String(),
			Detail: fmt.Sprintf("expected sha256: and 64 lowercase hexadecimal digits, found a string of %d bytes", len(node.Text()))})
	case stated != computed:
		rep.fail(Check{Step: StepHash, Code: CodeHashMismatch, Pointer: hashPointer, Stated: stated.String(), Computed: computed.String(),
			Detail: "the content does not match the stated hash", Hint: hashHint(doc, stated)})
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

// hash returns the receipt hash. It also sets the digest of the input in the report, unless the
// policy omits that digest.
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

// maxHinted is the maximum size of a document that hashHint examines. It is limited because
// hashHint makes another pass for each known mistake.
const maxHinted = 1 << 20 // bytes

// hashHint recognizes common mistakes in computing the receipt hash, by computing the hash that
// results from each mistake. It is called only after a mismatch, so its cost is acceptable.
func hashHint(doc *canon.Document, stated canon.Digest) string {
	if len(doc.Source()) > maxHinted {
		return ""
	}

	root := doc.Root()
	chain, signatures := root.Member("chain"), root.Member("signatures")
	hash := chain.Member("receipt_hash")
	const rule = "; the rule is to remove exactly /chain/receipt_hash and /signatures, then RFC 8785, then SHA-256"

	// Each case compares the stated hash with the hash of a preimage that an issuer may have used
	// by mistake.
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

	// This mistake does not omit a member but changes its value, so the document must be written
	// again.
	if blanked, err := blankedHash(doc); err == nil && blanked == stated {
		return `the stated hash was computed with receipt_hash set to "" instead of removed` + rule
	}
	return ""
}

// blankedHash returns the hash that results from a rule of another format, which sets receipt_hash
// to "" instead of removing the member.
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

	// encoding/json sorts names by their bytes and escapes HTML characters. The canonical form does
	// neither (RFC 8785 section 3.2).
	canonical, err := canon.Transform(text)
	if err != nil {
		return canon.Digest{}, err
	}

	return canon.Sum(canonical), nil
}

// misspelt returns text unchanged if it is a digest apart from uppercase letters. For any other
// text, it returns "", because such text may be a secret.
func misspelt(text []byte) string {
	if _, err := canon.ParseDigest(bytes.ToLower(text)); err != nil {
		return ""
	}
	return string(text)
}

// turn is the number of bytes that are hashed from one input before switching to the other: two
// SHA-256 blocks (FIPS 180-4 section 5.2.1). With shorter turns, the function calls cost more than
// is saved. With longer turns, the processor cannot look ahead beyond the end of a turn.
const turn = 2 * sha256.BlockSize

// digests computes the hashes of two inputs in alternating turns. Each step of SHA-256 depends on
// the previous step, so the processor has free capacity for steps of another hash. This takes about
// three quarters as long as hashing the inputs one after the other.
type digests struct {
	one, other hash.Hash
	preimage   []byte
	sum        []byte
}

func newDigests() *digests { return &digests{one: sha256.New(), other: sha256.New()} }

// of returns the digests of a and b.
func (d *digests) of(a, b []byte) (ofA, ofB canon.Digest) {
	d.one.Reset()
	d.other.Reset()
	for len(a) >= turn && len(b) >= turn {
		d.one.Write(a[:turn]) // the Write method of a hash.Hash never returns an error
		d.other.Write(b[:turn])
		a, b = a[turn:], b[turn:]
	}
	d.one.Write(a)
	d.other.Write(b)

	d.sum = d.one.Sum(d.sum[:0])
	copy(ofA[:], d.sum)
	d.sum = d.other.Sum(d.sum[:0])
	copy(ofB[:], d.sum)
	return ofA, ofB
}

// A lender keeps values of type digests for reuse, at most one for each receipt that is verified at
// the same time.
type lender struct{ pool sync.Pool }

// both returns the receipt hash of a document and the digest of its source.
func (l *lender) both(doc *canon.Document) (receipt, source canon.Digest, err error) {
	d, _ := l.pool.Get().(*digests)
	if d == nil {
		d = newDigests()
	}
	defer l.pool.Put(d)

	if d.preimage, err = chain.AppendPreimage(d.preimage[:0], doc); err != nil {
		return canon.Digest{}, canon.Sum(doc.Source()), err
	}
	receipt, source = d.of(d.preimage, doc.Source())
	return receipt, source, nil
}

// weighMaterials checks the receipt's statements about bytes outside the text of the receipt. It
// always checks the bytes_base64 members of materials. If files were supplied, it also checks the
// files that materials and final artifacts refer to. Other digests in a receipt refer to past
// states or to values in the receipt itself.
func weighMaterials(root canon.Node, in Materials, seen *watched, schemaHolds bool, rep *Report) Check {
	if !schemaHolds {
		return Check{Step: StepHash, Status: StatusPassed} // the schema step has failed
	}
	files := fileSearch{in: in, watched: seen}

	// Bytes that are contained in the receipt are always checked.
	for _, m := range root.Member("replay_input").Member("materials").Elements() {
		inline := m.Member("bytes_base64")
		if inline.IsZero() {
			files.look(m)
			continue
		}
		if c := checkInline(m, inline, rep); c.Status != StatusPassed {
			return c
		}
	}

	// If no files were supplied, a missing file proves nothing.
	if files.in == nil {
		return Check{Step: StepHash, Status: StatusPassed}
	}
	for _, a := range root.Member("final_artifacts").Elements() {
		files.look(a)
	}

	return files.result()
}

// checkInline compares the bytes in a material with the sha256 of the material. If there is no
// sha256, it only decodes the bytes.
func checkInline(m, inline canon.Node, rep *Report) Check {
	content, ok := decodeInline(rep, inline.Text())
	if !ok {
		return Check{Step: StepHash, Status: StatusFailed, Code: CodeMaterialMismatch, Pointer: place(inline),
			Detail: fmt.Sprintf("expected strict padded standard base64 (RFC 4648 section 4), found a string of %d bytes", len(inline.Text()))}
	}

	stated, err := canon.ParseDigest(m.Member("sha256").Text())
	if err != nil { // sha256 is absent, because the receipt matches the schema
		return Check{Step: StepHash, Status: StatusPassed}
	}

	// The digest is computed from the bytes, not from their base64 encoding.
	if computed := canon.Sum(content); computed != stated {
		return Check{Step: StepHash, Status: StatusFailed, Code: CodeMaterialMismatch, Pointer: place(m.Member("sha256")), Stated: stated.String(), Computed: computed.String(),
			Detail: fmt.Sprintf("the %d bytes in bytes_base64 have another SHA-256 than stated", len(content))}
	}
	return Check{Step: StepHash, Status: StatusPassed}
}

// maxScratch is the maximum amount of memory, in bytes, that a Report keeps for the next receipt.
const maxScratch = 1 << 20

// decodeInline decodes bytes from base64, accepting only one encoding of the same bytes. The result
// is overwritten by the next call with the same report.
func decodeInline(r *Report, text []byte) ([]byte, bool) {
	n := base64.StdEncoding.DecodedLen(len(text))
	if cap(r.scratch) < n {
		r.scratch = make([]byte, n)
	}

	content := r.scratch[:n]
	if n > maxScratch {
		r.scratch = nil
	}

	// There are at most two padding characters (RFC 4648 section 4).
	padding := 0
	for padding < min(2, len(text)) && text[len(text)-1-padding] == '=' {
		padding++
	}

	decoded, err := base64.StdEncoding.Strict().Decode(content, text)
	// encoding/base64 ignores line breaks, so text with line breaks decodes to fewer bytes than its
	// length implies.
	return content[:max(decoded, 0)], err == nil && len(text)%4 == 0 && decoded == n-padding
}

// A fileSearch looks up the files that a receipt refers to.
type fileSearch struct {
	in      Materials
	watched *watched
	absent  int
	first   Check // the check for the first file that is missing
	differs Check // the check for the first file whose content differs
}

func (f *fileSearch) look(named canon.Node) {
	if f.in == nil || f.differs.Code != "" {
		return
	}
	node := named.Member("sha256")
	d, err := canon.ParseDigest(node.Text())
	if err != nil { // the digest is absent or null, because the receipt matches the schema
		return
	}

	// The receipt contains the digest of a file, so the supplied files are relevant even if they do
	// not include this file.
	f.watched.see(pieceMaterials, 0)
	switch actual, found := f.in.Lookup(d); {
	case !found:
		f.absent++
		if f.absent == 1 {
			f.first = Check{Step: StepHash, Code: CodeMaterialNotFound, Pointer: place(node), Stated: d.String()}
		}
	case actual != d:
		f.differs = Check{Step: StepHash, Status: StatusFailed, Code: CodeMaterialMismatch, Pointer: place(node), Stated: d.String(), Computed: actual.String(),
			Detail: "the file with that digest has different content"}
	}
}

func (f *fileSearch) result() Check {
	switch {
	case f.differs.Code != "":
		return f.differs
	case f.absent > 0:
		c := f.first
		c.Detail = "the receipt's own hash fits, but the file with the digest " + c.Stated + " is not among those given"
		if more := f.absent - 1; more > 0 {
			c.Detail += fmt.Sprintf(", nor are %d more", more)
		}
		return c
	}
	return Check{Step: StepHash, Status: StatusPassed}
}
