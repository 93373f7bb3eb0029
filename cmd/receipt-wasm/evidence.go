package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/batch"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/redact"
)

// A besideFile is a file with evidence for receipts. The method Beside returns true for its kind,
// which cannot be kind.Keys, because keys are not evidence.
type besideFile struct {
	Name string
	Kind kind.Kind
	Data []byte
}

// evidence contains the parsed evidence files.
type evidence struct {
	receipt.Evidence
	checkpoint []byte
	findings   []stream.Finding // malformed evidence, which refutes the input regardless of the receipts
	names      map[receipt.Piece]string
}

// readEvidence reads the files in the same way as the command "receipt verify".
func readEvidence(files []besideFile) (*evidence, error) {
	ev := &evidence{names: map[receipt.Piece]string{}}
	for _, f := range files {
		if err := ev.read(f); err != nil {
			return nil, fmt.Errorf("%q: %w", f.Name, err)
		}
	}
	return ev, nil
}

// proofDetail describes the malformed part of a proof.
func proofDetail(err error) string {
	var malformed *tlog.ProofError
	if errors.As(err, &malformed) {
		return fmt.Sprintf("malformed %s, line %d: %s", malformed.Format, malformed.Line, malformed.Detail)
	}
	return err.Error()
}

func (ev *evidence) read(f besideFile) error {
	switch f.Kind {
	case kind.Checkpoint:
		if ev.checkpoint != nil {
			return errors.New("there is already a checkpoint for these receipts")
		}
		ev.checkpoint = f.Data
		return nil

	case kind.Proof:
		p, err := tlog.ParseProof(f.Data)
		if err != nil {
			ev.refute(f, receipt.CodeProofInvalid, proofDetail(err), "ask the log for an undamaged copy")
			return nil
		}
		ev.names[receipt.Piece{Kind: "proof", Index: len(ev.Proofs)}] = f.Name
		ev.Proofs = append(ev.Proofs, p)
		return nil

	case kind.Disclosures:
		d, err := redact.ParseDisclosures(f.Data)
		if precision := (*redact.DisclosureError)(nil); errors.As(err, &precision) {
			ev.refute(f, receipt.Code(precision.Code), err.Error(), "ask for the value as a string")
			return nil
		}
		if err != nil {
			return err
		}
		ev.names[receipt.Piece{Kind: "disclosures", Index: len(ev.Disclosures)}] = f.Name
		ev.Disclosures = append(ev.Disclosures, d)
		return nil

	case kind.Batch:
		m, err := batch.ParseManifest(f.Data)
		if wrong := (*batch.RootError)(nil); errors.As(err, &wrong) {
			ev.refute(f, receipt.CodeMerkleRootMismatch, wrong.Detail, "ask the issuer for the batch with which the receipts were sealed")
			return nil
		}
		if err != nil {
			return err
		}
		ev.names[receipt.Piece{Kind: "batch", Index: len(ev.Batches)}] = f.Name
		ev.Batches = append(ev.Batches, m)
		return nil
	}
	return fmt.Errorf("%q is not a kind of evidence", f.Kind)
}

func (ev *evidence) refute(f besideFile, code receipt.Code, detail, hint string) {
	ev.findings = append(ev.findings, stream.Finding{Code: code, Source: f.Name, Detail: detail, Hint: hint})
}

// apply adds the evidence to a verifier, and to the options of its run.
func (ev *evidence) apply(v *receipt.Verifier, o *stream.Options) (*receipt.Verifier, error) {
	o.Checkpoint = ev.checkpoint
	o.Summing.Evidence = func(p receipt.Piece) string {
		if name, ok := ev.names[p]; ok {
			return fmt.Sprintf("%q", name)
		}
		return p.String()
	}
	if len(ev.Proofs)+len(ev.Batches)+len(ev.Disclosures) == 0 {
		return v, nil
	}
	return v.With(ev.Evidence)
}

// fitting returns the indexes of the evidence files that belong to the receipt at the given index
// in a source. A proof belongs to the receipt if its path leads from the receipt's hash to the root
// of the checkpoint. Disclosures belong to the receipt if they are bound to it, or if they are
// unbound and a value matches one of its commitments. Nothing else is verified. In particular,
// fitting does not check who signed the checkpoint.
func fitting(ctx context.Context, s stream.Source, index int, files []besideFile) ([]int, error) {
	d, err := open(ctx, s, index)
	if err != nil || d.Preimage == nil {
		return nil, err
	}

	hash, list := canon.Sum(d.Preimage), []int{}
	for i, f := range files {
		if f.Kind == kind.Proof && proves(f.Data, hash) || f.Kind == kind.Disclosures && discloses(f.Data, hash, d.Canonical) {
			list = append(list, i)
		}
	}
	return list, nil
}

// proves reports whether the path of a proof leads from a receipt to its checkpoint.
func proves(data []byte, hash canon.Digest) bool {
	p, err := tlog.ParseProof(data)
	if err != nil {
		return false
	}
	text, _, _ := strings.Cut(string(p.Checkpoint), "\n\n")
	c, err := tlog.ParseCheckpoint(text + "\n")
	return err == nil && merkle.CheckInclusion(receipt.CheckpointLeaf(hash), p.Index, c.Size, p.Hashes, c.Root) == nil
}

// discloses reports whether disclosed values belong to a receipt. It also returns true for a file
// that cannot be read, so that the verification reports the error.
func discloses(data []byte, hash canon.Digest, text []byte) bool {
	d, err := redact.ParseDisclosures(data)
	if err != nil || d.ReceiptHash == hash {
		return true
	}
	doc, err := canon.Parse(text)
	return err == nil && len(d.Fitting(doc)) > 0
}
