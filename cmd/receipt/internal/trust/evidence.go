package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/batch"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/redact"
)

// EvidenceFlags specifies the evidence for receipts.
type EvidenceFlags struct {
	batches, proofs       []string
	disclosures           []string
	Checkpoint, artifacts string

	Findings []stream.Finding // malformed evidence, which refutes the input regardless of the receipts

	opened *receipt.Checkpoint // the opened Checkpoint, or nil

	timestampFlags

	readProofs, readBatches, readDisclosures []string // the paths of the evidence files, except malformed files
}

// Register adds the flags to a command.
func (f *EvidenceFlags) Register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.batches, "batch", nil, "manifest of a batch; repeatable (`FILE`)")
	flags.StringVar(&f.Checkpoint, "checkpoint", "", "checkpoint that covers the input (`FILE`)")
	flags.StringArrayVar(&f.disclosures, "disclosures", nil, "disclosed values; repeatable (`FILE`)")
	flags.StringArrayVar(&f.proofs, "proof", nil, "tlog-proof of a receipt; repeatable (`FILE`)")
	f.timestampFlags.register(flags)
	flags.StringVar(&f.artifacts, "artifacts", "", "files to compare with stated digests (`DIR`)")
}

// Apply adds the evidence to the verifier.
func (f *EvidenceFlags) Apply(e *cli.Env, v *receipt.Verifier, file *KeyFile, options *stream.Options) (*receipt.Verifier, error) {
	var ev receipt.Evidence
	for _, path := range f.proofs {
		p, malformed, err := readProof(e, path)
		if err != nil {
			return nil, err
		}
		// Malformed evidence is reported as a finding, and does not end the run.
		if malformed != nil {
			f.Findings = append(f.Findings, *malformed)
			continue
		}
		ev.Proofs, f.readProofs = append(ev.Proofs, p), append(f.readProofs, path)
	}

	for _, path := range f.batches {
		m, malformed, err := readManifest(e, path)
		if err != nil {
			return nil, err
		}
		if malformed != nil {
			f.Findings = append(f.Findings, *malformed)
			continue
		}
		ev.Batches, f.readBatches = append(ev.Batches, m), append(f.readBatches, path)
	}

	timestamps, err := f.timestampFlags.apply(e, file, &f.Findings)
	if err != nil {
		return nil, err
	}
	ev.Timestamps = timestamps

	if f.artifacts != "" {
		files, err := indexArtifacts(f.artifacts)
		if err != nil {
			return nil, err
		}
		ev.Materials = files
	}

	for _, path := range f.disclosures {
		d, err := input.ReadDisclosures(e, path)
		// An integer that was rounded would also match the commitments to other values.
		if precision := (*redact.DisclosureError)(nil); errors.As(err, &precision) {
			f.Findings = append(f.Findings, stream.Finding{Code: receipt.Code(precision.Code), Source: cli.SourceName(path), Detail: fmt.Sprintf("the value disclosed for %+.200q: %s", precision.Field, precision.Detail),
				Hint: "ask for the value as a string"})
			continue
		}
		if err != nil {
			return nil, err
		}
		ev.Disclosures, f.readDisclosures = append(ev.Disclosures, d), append(f.readDisclosures, path)
	}

	if f.Checkpoint != "" {
		note, err := input.ReadBounded(e, f.Checkpoint, MaxNoteBytes+1)
		if err != nil {
			return nil, err
		}
		if err := notCheckpoint(f.Checkpoint, note); err != nil {
			return nil, err
		}
		options.Checkpoint = note
		f.opened = v.OpenCheckpoint(note)
	}

	options.Summing.Evidence = f.name
	if len(ev.Proofs) == 0 && len(ev.Batches) == 0 && len(ev.Timestamps) == 0 && len(ev.Disclosures) == 0 && ev.Materials == nil {
		return v, nil
	}

	with, err := v.With(ev)
	if err != nil {
		return nil, cli.Usage("", "%w", err)
	}

	return with, nil
}

// Opened returns the opened checkpoint, or nil if there is none.
func (f *EvidenceFlags) Opened() *receipt.Checkpoint { return f.opened }

// Signed describes the checkpoint and its log if a trusted key signed the checkpoint. Otherwise, it
// returns "".
func (f *EvidenceFlags) Signed() string {
	if f.opened == nil || !f.opened.Signed {
		return ""
	}

	claims := f.opened.Claims
	return fmt.Sprintf("%s, signed by %s over %s", cli.SourceName(f.Checkpoint), claims.Origin, LeavesText(claims.Size))
}

// notCheckpoint rejects a file of another kind before the run. A malformed or changed checkpoint is
// evidence that fails, and is reported as a finding.
func notCheckpoint(path string, note []byte) error {
	if wrong := input.WrongKind(path, note, "a checkpoint", kind.Checkpoint, kind.Text); wrong != nil {
		return wrong
	}
	if bytes.Contains(note, []byte("\n\n\u2014 ")) { // the signatures of a note begin in this way
		return nil
	}
	return cli.Usage("use a file from receipt batch checkpoint", "%q is not a checkpoint", cli.SourceName(path))
}

// name returns the file name of a piece of evidence.
func (f *EvidenceFlags) name(p receipt.Piece) string {
	switch p.Kind {
	case "proof":
		return fmt.Sprintf("proof %q", f.readProofs[p.Index])
	case "batch":
		return fmt.Sprintf("batch %q", f.readBatches[p.Index])
	case "timestamp":
		return fmt.Sprintf("timestamp %q", f.read[p.Index])
	case "disclosures":
		return fmt.Sprintf("disclosures %q", f.readDisclosures[p.Index])
	}
	return fmt.Sprintf("artifacts %q", f.artifacts)
}

// briefly shortens an error about a manifest with many problems.
func briefly(err error) error {
	var invalid *batch.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	const most = 2
	return &batch.InvalidError{Problems: invalid.Problems[:min(len(invalid.Problems), most)], Total: invalid.Total}
}

// readProof reads a proof. Like a malformed checkpoint, a malformed proof is evidence that fails,
// and is reported as a finding. A file of another kind is an error of the user.
func readProof(e *cli.Env, path string) (*tlog.Proof, *stream.Finding, error) {
	data, err := input.ReadBounded(e, path, MaxNoteBytes+1)
	if err != nil {
		return nil, nil, err
	}
	p, err := tlog.ParseProof(data)
	switch {
	case err == nil:
		return p, nil, nil
	case strings.HasPrefix(string(data), "c2sp.org/tlog-proof@v1"):
		return nil, &stream.Finding{Code: receipt.CodeProofInvalid, Source: cli.SourceName(path), Detail: PlainMerkle(err),
			Hint: "ask the log for an undamaged copy, or create one with receipt batch prove"}, nil
	}

	if wrong := input.WrongKind(path, data, "a proof", kind.Proof); wrong != nil {
		return nil, nil, wrong
	}
	return nil, nil, cli.Usage("use a file from receipt batch prove", "%q: %w", path, err)
}

// artifacts contains the files in a directory, indexed by the digest of their content and by the
// digest in their name.
type artifacts struct {
	content map[canon.Digest]bool
	named   map[canon.Digest]canon.Digest
}

// Lookup finds a file by digest.
func (a *artifacts) Lookup(d canon.Digest) (actual canon.Digest, found bool) {
	if a.content[d] {
		return d, true
	}
	actual, found = a.named[d]
	return actual, found
}

// indexArtifacts hashes every regular file in a directory and its subdirectories.
func indexArtifacts(dir string) (*artifacts, error) {
	a := &artifacts{map[canon.Digest]bool{}, map[canon.Digest]canon.Digest{}}
	err := filepath.WalkDir(input.WithSlash(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		sum, err := sumFile(path)
		if err != nil {
			return err
		}
		a.content[sum] = true
		if named, ok := nameDigest(d.Name()); ok {
			a.named[named] = sum
		}
		return nil
	})

	if err != nil {
		return nil, cli.Usage("", "--artifacts %q: %w", dir, cli.Reason(err))
	}
	if len(a.content) == 0 {
		return nil, cli.Usage("", "--artifacts %q: the directory contains no file", dir)
	}

	return a, nil
}

func sumFile(path string) (d canon.Digest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, err
	}

	// An error that occurs when the file is closed is also reported.
	h := sha256.New()
	_, err = io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return d, err
	}
	return canon.Digest(h.Sum(nil)), nil
}

// nameDigest parses a file name such as sha256:<hex>.bin, sha256-<hex>, or <hex>.
func nameDigest(name string) (d canon.Digest, ok bool) {
	name, _, _ = strings.Cut(name, ".")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "sha256:"), "sha256-")

	// The hexadecimal digits may be uppercase.
	b, err := hex.DecodeString(strings.ToLower(name))
	if err != nil || len(b) != len(d) {
		return d, false
	}
	return canon.Digest(b), true
}

// ReadManifest reads the manifest of a batch.
func ReadManifest(e *cli.Env, path string) (*batch.Manifest, error) {
	m, malformed, err := readManifest(e, path)
	if malformed != nil {
		err = cli.Usage(malformed.Hint, "%q: %s", path, malformed.Detail)
	}
	return m, err
}

// readManifest reads a manifest. If the root does not match the leaves, the manifest is evidence
// that fails, and is reported as a finding.
func readManifest(e *cli.Env, path string) (*batch.Manifest, *stream.Finding, error) {
	data, err := input.ReadBounded(e, path, batch.MaxBytes+1)
	if err != nil {
		return nil, nil, err
	}
	m, err := batch.ParseManifest(data)
	if err == nil {
		return m, nil, nil
	}

	if wrong := (*batch.RootError)(nil); errors.As(err, &wrong) {
		return nil, &stream.Finding{Code: receipt.CodeMerkleRootMismatch, Source: cli.SourceName(path), Detail: wrong.Detail,
			Hint: "ask the issuer for the batch with which the receipts were sealed"}, nil
	}
	if wrong := input.WrongKind(path, data, "a batch manifest", kind.Batch); wrong != nil {
		return nil, nil, wrong
	}
	return nil, nil, cli.Usage("use a file from receipt batch seal", "%q: %w", path, briefly(err))
}
