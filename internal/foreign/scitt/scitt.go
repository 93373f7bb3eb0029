// Package scitt reads signed statements (RFC 9943) and the receipts of transparency services (RFC
// 9942) that they contain.
//
//	statement  COSE_Sign1 with its tag; its signed bytes are the Sig_structure of RFC 9052
//	entry      SHA-256(statement without label 394)
//	receipt    COSE_Sign1 over the root, which the reader computes from the entry and the path:
//	           a tree of RFC 9162 (vds 1), or one of CCF (vds 2)
//
// Anyone can change an unprotected header, so algorithms and structures are read only from the
// protected header.
package scitt

import (
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

// Labels of COSE header parameters and CWT claims.
const (
	labelAlg         = 1
	labelCrit        = 2
	labelContentType = 3
	labelKID         = 4
	labelClaims      = 15 // CWT claims (RFC 9597)
	labelReceipts    = 394
	labelVDS         = 395
	labelProofs      = 396
	claimIssuer      = 1
	claimSubject     = 2
	claimIssuedAt    = 6
)

// Read reads a signed statement.
func Read(data []byte) *receipt.Foreign {
	f := &receipt.Foreign{Format: "cose-sign1"}
	m, err := open(data)
	switch {
	case errors.Is(err, errCBOR):
		form.Fail(f, receipt.StepParse, receipt.CodeNonDeterministicCBOR, "", "%v", err)
		return f
	case err != nil:
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, "", "%v", err)
		return f
	}
	var claims headers
	if raw, found := m.protected.raw(labelClaims); found && decodeMap(raw, &claims) != nil {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, "", "the claims (label %d) are not a map", labelClaims)
		return f
	}
	f.ID = claims.text(claimSubject)
	if _, isReceipt := m.protected.raw(labelVDS); isReceipt || m.payload == nil {
		form.Leave(f, receipt.StepHash, receipt.CodeMaterialNotFound, "", "the payload, or the statement to which this receipt belongs, is not in the message")
		return f
	}

	// The digest covers the statement without its receipts, as it was registered.
	entry := m.registered()
	f.Hash = canon.Sum(entry)
	form.Uncovered(f, "", "no signature covers the unprotected header")
	f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeStatementNotChecked, Detail: "the payload, which the issuer states"})
	s, ok := m.signature(f, receipt.StepSignatures, *m.payload)
	if !ok {
		return f
	}
	s.Issuer = claims.text(claimIssuer)
	var seconds int64
	if claims.at(claimIssuedAt, &seconds) {
		s.At = time.Unix(seconds, 0).UTC()
	}
	f.Signatures = []receipt.ForeignSignature{s}
	form.Pass(f, receipt.StepSchema)

	var receipts [][]byte
	if _, found := m.unprotected.raw(labelReceipts); found && !m.unprotected.at(labelReceipts, &receipts) {
		form.Fail(f, receipt.StepBatch, receipt.CodeProofInvalid, "", "expected an array of receipts in byte strings")
	}
	for _, data := range receipts {
		readReceipt(f, data, sha256.Sum256(entry))
	}
	return f
}

// readReceipt reads one receipt for the entry with the given digest.
func readReceipt(f *receipt.Foreign, data []byte, entry [32]byte) {
	m, err := open(data)
	if err != nil {
		form.Fail(f, receipt.StepBatch, receipt.CodeProofInvalid, "", "a receipt is not a COSE_Sign1 message")
		return
	}
	var structure int64
	if !m.protected.at(labelVDS, &structure) {
		form.Fail(f, receipt.StepBatch, receipt.CodeProofInvalid, "", "the protected header of a receipt names no structure of its log")
		return
	}
	if structure != 1 && structure != 2 {
		form.Leave(f, receipt.StepBatch, receipt.CodeBatchNotChecked, "", "the structure %d of a log is not known", structure)
		return
	}

	var proofs headers
	var inclusion [][]byte
	if !m.unprotected.at(labelProofs, &proofs) || !proofs.at(-1, &inclusion) || len(inclusion) == 0 || len(inclusion) > maxProofs || m.payload != nil {
		form.Fail(f, receipt.StepBatch, receipt.CodeProofInvalid, "", "expected a receipt with proofs of inclusion and a detached payload")
		return
	}

	// The log signed one root, to which every proof leads.
	read := rootRFC9162
	if structure == 2 {
		read = rootCCF
	}
	root, included := read(inclusion[0], entry)
	for _, proof := range inclusion[1:] {
		again, ok := read(proof, entry)
		included = included && ok && again == root
	}
	if !included {
		form.Fail(f, receipt.StepBatch, receipt.CodeProofInvalid, "", "a proof is malformed, or is not of this statement")
		return
	}
	if s, ok := m.signature(f, receipt.StepBatch, root[:]); ok {
		s.Role = receipt.RoleCheckpoint
		f.Inclusions = append(f.Inclusions, s)
	}
}

// maxProofs is the maximum number of proofs in one receipt.
const maxProofs = 16

// maxPath is the length of an inclusion path in a tree of 2^64 leaves.
const maxPath = 64

// rootRFC9162 computes the root from the proof [size, index, path].
func rootRFC9162(data []byte, entry [32]byte) (root [32]byte, ok bool) {
	var proof struct {
		_           struct{} `cbor:",toarray"`
		Size, Index uint64
		Path        [][]byte
	}
	if decode(data, &proof) != nil || len(proof.Path) > maxPath {
		return root, false
	}
	var path []merkle.Hash
	for _, hash := range proof.Path {
		if len(hash) != len(root) {
			return root, false
		}
		path = append(path, merkle.Hash(hash))
	}

	// The expected root is unknown, so the computed root is taken from the error that
	// CheckInclusion returns.
	var computed *merkle.RootError
	err := merkle.CheckInclusion(merkle.LeafHash(entry[:]), proof.Index, proof.Size, path, merkle.Hash{})
	if !errors.As(err, &computed) {
		return root, false
	}
	return computed.Computed, true
}

// A ccfProof is {1: [write set, commit evidence, claim], 2: [[left, hash], …]}.
type ccfProof struct {
	Leaf struct {
		_        struct{} `cbor:",toarray"`
		Writes   []byte
		Evidence string
		Claim    []byte
	} `cbor:"1,keyasint"`
	Path []struct {
		_    struct{} `cbor:",toarray"`
		Left bool
		Hash []byte
	} `cbor:"2,keyasint"`
}

// rootCCF computes the root from the proof of a CCF ledger.
func rootCCF(data []byte, entry [32]byte) (root [32]byte, ok bool) {
	var proof ccfProof
	if decode(data, &proof) != nil || len(proof.Path) > maxPath || len(proof.Leaf.Writes) != len(root) || string(proof.Leaf.Claim) != string(entry[:]) {
		return root, false
	}
	committed := sha256.Sum256([]byte(proof.Leaf.Evidence))
	root = sha256.Sum256(slices.Concat(proof.Leaf.Writes, committed[:], entry[:]))
	for _, step := range proof.Path {
		pair := [][]byte{root[:], step.Hash}
		if step.Left {
			slices.Reverse(pair)
		}
		if len(step.Hash) != len(root) {
			return root, false
		}
		root = sha256.Sum256(slices.Concat(pair...))
	}
	return root, true
}
