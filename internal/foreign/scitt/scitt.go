// Package scitt reads signed statements (RFC 9943) with the receipts of transparency services (RFC
// 9942) that they contain.
//
//	statement  COSE_Sign1 with its tag; its signed bytes are the Sig_structure of RFC 9052
//	entry      SHA-256(statement without label 394)
//	receipt    COSE_Sign1 over the root, which the reader computes from the entry and the path:
//	           a tree of RFC 9162 (vds 1), or one of CCF (vds 2)
//
// A header that is not protected shows nothing: algorithms and structures are read from the
// protected header only.
package scitt

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

// Labels of headers and claims.
const (
	labelAlg      = 1
	labelCrit     = 2
	labelKID      = 4
	labelClaims   = 15 // CWT claims (RFC 9597)
	labelReceipts = 394
	labelVDS      = 395
	labelProofs   = 396
	claimIssuer   = 1
	claimSubject  = 2
	claimIssuedAt = 6
)

// A sign1 is a COSE_Sign1 message.
type sign1 struct {
	item      item
	protected item // the map inside the byte string
	headers   item // the unprotected map
}

// Read reads a statement.
func Read(data []byte) *receipt.Foreign {
	f := &receipt.Foreign{Format: "cose-sign1"}
	m, err := open(data)
	switch {
	case errors.Is(err, errCBOR):
		f.Fail(receipt.StepParse, receipt.CodeNonDeterministicCBOR, "", "%v", err)
		return f
	case err != nil:
		f.Fail(receipt.StepSchema, receipt.CodeSchemaInvalid, "", "%v", err)
		return f
	}
	claims, _ := m.protected.at(labelClaims)
	issuer, subject := text(&claims, claimIssuer), text(&claims, claimSubject)
	f.ID = subject
	if _, isReceipt := m.protected.at(labelVDS); isReceipt || m.payload().major != byteString {
		f.Leave(receipt.StepHash, receipt.CodeMaterialNotFound, "", "the payload, or the statement to which this receipt belongs, is not in the message")
		return f
	}

	// The digest covers the statement as it was registered.
	entry := m.registered()
	f.Hash = canon.Sum(entry)
	f.Uncovered("", "no signature covers the unprotected header")
	s, ok := m.signature(f, receipt.StepSignatures, m.payload().data)
	if !ok {
		return f
	}
	s.Issuer = issuer
	if at, found := claims.at(claimIssuedAt); found {
		seconds, _ := at.integer() // another type is no time
		s.At = time.Unix(seconds, 0).UTC()
	}
	f.Signatures = []receipt.ForeignSignature{s}
	f.Pass(receipt.StepSchema)

	receipts, _ := m.headers.at(labelReceipts)
	if receipts.raw != nil && receipts.major != array {
		f.Fail(receipt.StepBatch, receipt.CodeProofInvalid, "", "expected an array of receipts")
	}
	for _, n := range receipts.items {
		readReceipt(f, n, sha256.Sum256(entry))
	}
	return f
}

func open(data []byte) (*sign1, error) {
	n, err := parse(data)
	if err != nil {
		return nil, err
	}
	malformed := errors.New("expected a COSE_Sign1 message with its tag, two headers, a payload, and a signature")
	if n.major != tag || n.arg != 18 || n.items[0].major != array || len(n.items[0].items) != 4 {
		return nil, malformed
	}
	m := &sign1{item: n, headers: n.items[0].items[1]}
	payload, protected := m.payload(), n.items[0].items[0]
	if protected.major != byteString || m.headers.major != mapping || n.items[0].items[3].major != byteString || payload.major != byteString && (payload.major != simple || payload.arg != null) {
		return nil, malformed
	}
	if m.protected, err = parse(protected.data); err != nil || m.protected.major != mapping {
		return nil, malformed
	}
	return m, nil
}

func (m *sign1) payload() item { return m.item.items[0].items[2] }

// registered returns the message without its receipts.
func (m *sign1) registered() []byte {
	if _, found := m.headers.at(labelReceipts); !found {
		return m.item.raw
	}
	parts := m.item.items[0].items
	dst := append([]byte{0xd2, 0x84}, parts[0].raw...)
	dst = append(dst, m.headers.without(labelReceipts)...)
	return append(append(dst, parts[2].raw...), parts[3].raw...)
}

// text returns a string of a map, and "" for anything else.
func text(n *item, label int64) string {
	value, _ := n.at(label)
	if value.major != textString {
		return ""
	}
	return string(value.data)
}

// signature returns the signature of a message, whose payload may be detached.
func (m *sign1) signature(f *receipt.Foreign, step receipt.Step, payload []byte) (s receipt.ForeignSignature, ok bool) {
	alg, found := m.protected.at(labelAlg)
	code, isInteger := alg.integer()
	if !found || !isInteger {
		f.Fail(step, receipt.CodeMalformedSignature, "", "the protected header names no algorithm")
		return s, false
	}
	if _, critical := m.protected.at(labelCrit); critical {
		f.Leave(step, receipt.CodeUnsupportedAlgorithm, "", "the header has critical parameters, which are not known")
		return s, false
	}

	// RFC 9052 section 4.4.
	message := appendHead(nil, array, 4)
	message = append(appendHead(message, textString, 10), "Signature1"...)
	message = append(append(message, m.item.items[0].items[0].raw...), 0x40)
	s = receipt.ForeignSignature{Algorithm: algorithm(code), Messages: [][]byte{appendBytes(message, payload)}, Value: m.item.items[0].items[3].data}
	if kid, named := m.protected.at(labelKID); named && kid.major == byteString && len(kid.data) > 0 {
		s.KeyID = string(kid.data)
	} else {
		s.Unsure = "the message names no key, and none of those in question made the signature"
	}
	return s, true
}

// algorithm returns the JOSE name of an algorithm (RFC 9053 section 2).
func algorithm(code int64) string {
	switch code {
	case -8:
		return "EdDSA"
	case -7:
		return "ES256"
	case -35:
		return "ES384"
	case -36:
		return "ES512"
	}
	return fmt.Sprintf("COSE %d", code)
}

// readReceipt reads one receipt for an entry.
func readReceipt(f *receipt.Foreign, n item, entry [32]byte) {
	m, err := open(n.data)
	if n.major != byteString || err != nil {
		f.Fail(receipt.StepBatch, receipt.CodeProofInvalid, "", "a receipt is not a COSE_Sign1 message in a byte string")
		return
	}
	vds, _ := m.protected.at(labelVDS)
	structure, ok := vds.integer()
	if vds.raw == nil || !ok {
		f.Fail(receipt.StepBatch, receipt.CodeProofInvalid, "", "the protected header of a receipt names no structure of its log")
		return
	}
	if structure != 1 && structure != 2 {
		f.Leave(receipt.StepBatch, receipt.CodeBatchNotChecked, "", "the structure %d of a log is not known", structure)
		return
	}

	proofs, _ := m.headers.at(labelProofs)
	inclusion, _ := proofs.at(-1)
	if inclusion.major != array || len(inclusion.items) != 1 || inclusion.items[0].major != byteString || m.payload().major != simple {
		f.Fail(receipt.StepBatch, receipt.CodeProofInvalid, "", "expected a receipt with one proof of inclusion and a detached payload")
		return
	}
	proof, err := parse(inclusion.items[0].data)
	root, included := [32]byte{}, false
	if err == nil && structure == 1 {
		root, included = rootRFC9162(&proof, entry)
	} else if err == nil {
		root, included = rootCCF(&proof, entry)
	}
	if !included {
		f.Fail(receipt.StepBatch, receipt.CodeProofInvalid, "", "the proof is malformed, or is not of this statement")
		return
	}
	if s, ok := m.signature(f, receipt.StepBatch, root[:]); ok {
		s.Role = receipt.RoleCheckpoint
		f.Inclusions = append(f.Inclusions, s)
	}
}

// maxPath is the length of a path in a tree of 2^64 leaves.
const maxPath = 64

// rootRFC9162 computes the root from [size, index, path].
func rootRFC9162(proof *item, entry [32]byte) (root [32]byte, ok bool) {
	if proof.major != array || len(proof.items) != 3 || proof.items[0].major != unsigned || proof.items[1].major != unsigned || proof.items[2].major != array || len(proof.items[2].items) > maxPath {
		return root, false
	}
	var path []merkle.Hash
	for _, n := range proof.items[2].items {
		if n.major != byteString || len(n.data) != len(root) {
			return root, false
		}
		path = append(path, merkle.Hash(n.data))
	}

	// The root is not known, so the check reports the one that it computes.
	var computed *merkle.RootError
	err := merkle.CheckInclusion(merkle.LeafHash(entry[:]), proof.items[1].arg, proof.items[0].arg, path, merkle.Hash{})
	if !errors.As(err, &computed) {
		return root, false
	}
	return computed.Computed, true
}

// rootCCF computes the root from {1: [write set, commit evidence, claim], 2: [[left, hash], …]}.
func rootCCF(proof *item, entry [32]byte) (root [32]byte, ok bool) {
	leaf, _ := proof.at(1)
	path, _ := proof.at(2)
	if leaf.major != array || len(leaf.items) != 3 || path.major != array || len(path.items) > maxPath {
		return root, false
	}
	writes, evidence, claim := leaf.items[0], leaf.items[1], leaf.items[2]
	if writes.major != byteString || len(writes.data) != len(root) || evidence.major != textString || claim.major != byteString || string(claim.data) != string(entry[:]) {
		return root, false
	}
	committed := sha256.Sum256(evidence.data)
	root = sha256.Sum256([]byte(string(writes.data) + string(committed[:]) + string(claim.data)))

	const no, yes = 20, 21 // the simple values false and true
	for _, step := range path.items {
		if step.major != array || len(step.items) != 2 || step.items[0].major != simple || step.items[1].major != byteString || len(step.items[1].data) != len(root) {
			return root, false
		}
		switch step.items[0].arg {
		case yes:
			root = sha256.Sum256([]byte(string(step.items[1].data) + string(root[:])))
		case no:
			root = sha256.Sum256([]byte(string(root[:]) + string(step.items[1].data)))
		default:
			return root, false
		}
	}
	return root, true
}
