package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/attest"
	"github.com/receiptkit/receiptkit/receipt/headline"
	"github.com/receiptkit/receiptkit/receipt/kind"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A Document is one receipt with the bytes that its hash covers.
type Document struct {
	Source    []byte // its JSON text as it was received; of CBOR, the JSON it stands for
	Canonical []byte // RFC 8785; nil when the source is not strict JSON
	Preimage  []byte // the hashed bytes; nil when the source is not a JSON object
	Hash      string // sha256: and 64 hexadecimal digits, of Preimage; "" without it
	Shell     string // a command that prints the digits of Hash
	Targets   []Target
	Headline  *headline.Headline // nil when the source is not a JSON object
}

// Open reads the document of a source that a report is about, by the report's
// index. Nothing is judged.
func Open(ctx context.Context, s stream.Source, index int) (*Document, error) {
	text, err := find(ctx, s, index)
	if err != nil {
		return nil, err
	}

	// What is not strict JSON (RFC 7493) is shown as it came.
	d := &Document{Source: text}
	doc := new(canon.Document)
	if doc.Parse(text, canon.Limits{Bytes: receipt.MaxBytes}) != nil {
		return d, nil
	}

	if doc.Root().Kind() == canon.KindObject {
		d.Headline = headline.Read(doc.Root()).Headline()
	}

	// Not every document has a preimage, and without one there is no hash.
	d.Canonical = doc.AppendCanonical(nil)
	if d.Preimage, err = chain.AppendPreimage(nil, doc); err != nil {
		d.Preimage = nil
		return d, nil
	}

	// The same hash by other tools, and the places where a reader can change the receipt.
	d.Hash = canon.Sum(d.Preimage).String()
	d.Shell = shell(d.Preimage, s.Name, index)
	d.Targets = targets(doc)
	return d, nil
}

// find returns the text that the report of an index is about: of an API envelope, and of
// an attestation, the receipt in it.
func find(ctx context.Context, s stream.Source, index int) ([]byte, error) {
	found, err := s.Find(index, false)
	if other := (*stream.OtherKindError)(nil); errors.As(err, &other) && other.Found.Kind == kind.Attestation {
		return textOf(ctx, s, index, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", s.Name, err)
	}

	one := Bytes(s.Name, found)
	one.Kind = stream.JSON
	return textOf(ctx, one, 1, found)
}

// textOf runs a verifier over a source until it is at an index. What has no report is as
// it came.
func textOf(ctx context.Context, s stream.Source, index int, came []byte) ([]byte, error) {
	policy := receipt.Policy{IntegrityOnly: true}
	v, err := receipt.NewVerifier(nil, policy)
	if err != nil {
		return nil, err
	}

	run := stream.VerifyFiles(ctx, v, []stream.Source{s}, stream.Options{Unwrap: attest.NewOpener(nil, policy).Unwrap})
	for rep := range run.Reports() {
		if rep.Index == index {
			return bytes.Clone(run.Text()), nil
		}
	}
	_, err = run.Summary()
	return came, err
}

// Bytes is a source that is held in memory.
func Bytes(name string, data []byte) stream.Source {
	return stream.Source{Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// maxShell bounds what is pasted: a shell takes 128 KiB as one argument, a
// terminal far less at once.
const maxShell = 16 << 10

// shell returns a command that prints the hash of the preimage. It carries the
// preimage itself, so that nothing of ours is between the reader and the hash,
// unless that is too long or holds characters that a terminal would not take.
func shell(preimage []byte, name string, index int) string {
	text := string(preimage)
	if len(text) <= maxShell && utf8.ValidString(text) && !strings.ContainsFunc(text, foreign.Unsafe) {
		return "printf %s " + quote(text) + " | sha256sum"
	}
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	if index > 1 {
		name = fmt.Sprintf("%s:%d", name, index)
	}
	if strings.ContainsFunc(name, foreign.Unsafe) || name == "" {
		name = "FILE"
	}
	return "receipt canon --preimage " + quote(name) + " | sha256sum"
}

// quote makes one word of a POSIX shell (POSIX.1-2024, 2.2.2).
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
