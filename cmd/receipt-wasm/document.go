package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A document is one receipt and the bytes that its hash covers.
type document struct {
	Source    []byte // the JSON text as received; for CBOR, the equivalent JSON
	Canonical []byte // RFC 8785; nil if the source is not strict JSON
	Preimage  []byte // the hashed bytes; nil if the source is not a JSON object
	Hash      string // hash of Preimage, as "sha256:" and 64 hexadecimal digits; "" if there is no preimage
	Shell     string // a command that prints the digits of Hash
	Targets   []target
	Headline  *headline.Headline // nil if the source is not a JSON object
}

// open returns the document that the report with the given index describes. It reads the document
// from a source, and verifies nothing.
func open(ctx context.Context, s stream.Source, index int) (*document, error) {
	text, err := find(ctx, s, index)
	if err != nil {
		return nil, err
	}

	// A source that is not strict JSON (RFC 7493) is displayed as received.
	d := &document{Source: text}
	doc := new(canon.Document)
	if doc.Parse(text, canon.Limits{Bytes: receipt.MaxBytes}) != nil {
		return d, nil
	}

	if doc.Root().Kind() == canon.KindObject {
		d.Headline = headline.Read(doc.Root()).Headline()
	}

	// A document without a preimage has no hash.
	d.Canonical = doc.AppendCanonical(nil)
	if d.Preimage, err = chain.AppendPreimage(nil, doc); err != nil {
		d.Preimage = nil
		return d, nil
	}

	// The result also contains a command that computes the same hash with other tools, and the
	// places where a reader can change the receipt.
	d.Hash = canon.Sum(d.Preimage).String()
	d.Shell = shell(d.Preimage, s.Name, index)
	d.Targets = targets(doc)
	return d, nil
}

// find returns the text in a source that the report with the given index describes. If the text is
// an API envelope or an attestation, find returns the receipt inside.
func find(ctx context.Context, s stream.Source, index int) ([]byte, error) {
	found, err := s.Find(index, false)
	if other := (*stream.OtherKindError)(nil); errors.As(err, &other) && other.Found.Kind == kind.Attestation {
		return textOf(ctx, s, index, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", s.Name, err)
	}

	one := inMemory(s.Name, found)
	one.Kind = stream.JSON
	return textOf(ctx, one, 1, found)
}

// textOf runs a verifier on a source up to the given index. If there is no report for this index,
// textOf returns came.
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

// inMemory returns a source that reads from memory.
func inMemory(name string, data []byte) stream.Source {
	return stream.Source{Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// maxShell is the maximum size of a command that a user can paste. A shell accepts 128 KiB as one
// argument, but a terminal accepts much less in a single paste.
const maxShell = 16 << 10

// shell returns a command that prints the hash of the preimage. The command does not depend on this
// project: it contains the preimage, unless the preimage is too long or contains characters that a
// terminal does not accept.
func shell(preimage []byte, name string, index int) string {
	text := string(preimage)
	if len(text) <= maxShell && utf8.ValidString(text) && !strings.ContainsFunc(text, untrusted.Unsafe) {
		return "printf %s " + quote(text) + " | sha256sum"
	}
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	if index > 1 {
		name = fmt.Sprintf("%s:%d", name, index)
	}
	if strings.ContainsFunc(name, untrusted.Unsafe) || name == "" {
		name = "FILE"
	}
	return "receipt canon --preimage " + quote(name) + " | sha256sum"
}

// quote quotes s as one word for a POSIX shell (POSIX.1-2024, 2.2.2).
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// A target is a place in a receipt. Changing one byte there results in a receipt that has a valid
// form but a different meaning.
type target struct {
	Pointer string `json:"pointer"` // RFC 6901
	Label   string `json:"label"`   // description for the user
	Before  string `json:"before"`  // the value as written
	After   string `json:"after"`
	Offset  int    `json:"offset"` // offset of the byte in the source, from 0
}

// places returns the values that a reader would most likely want to change, starting with the most
// interesting.
func places() []target {
	return []target{
		{Pointer: "/cost/total", Label: "the cost"},
		{Pointer: "/approvals/0/actor", Label: "who approved"},
		{Pointer: "/side_effects/fs_writes/0/path", Label: "the file that was changed"},
		{Pointer: "/side_effects/network_egress/0/bytes_sent", Label: "how much was sent"},
		{Pointer: "/model_route/chosen_model/model", Label: "the model"},
		{Pointer: "/identifiers/task_id", Label: "the task"},
		{Pointer: "/issuer/id", Label: "the issuer"},
		{Pointer: "/receipt_id", Label: "the id of the receipt"},
	}
}

// targets returns the places that are present in doc.
func targets(doc *canon.Document) []target {
	list := []target{}
	for _, t := range places() {
		p, err := canon.ParsePointer(t.Pointer)
		if err != nil {
			continue
		}

		n, ok := doc.Find(p)
		if !ok {
			continue
		}

		raw := n.Raw()
		at := changeable(n)
		if at < 0 {
			continue
		}

		changed := bytes.Clone(raw)
		changed[at] = other(changed[at])
		t.Before, t.After, t.Offset = cut(raw), cut(changed), n.Offset()+at
		list = append(list, t)
	}

	return list
}

// changeable returns the index of the last byte that can be changed in a value. This byte is a
// digit, or a letter in a string without escapes. If the value has no such byte, changeable returns
// -1.
func changeable(n canon.Node) int {
	raw := n.Raw()
	switch n.Kind() {
	case canon.KindNumber:
		if len(raw) > 0 && isDigit(raw[len(raw)-1]) {
			return len(raw) - 1
		}
	case canon.KindString:
		if bytes.IndexByte(raw, '\\') >= 0 {
			return -1
		}
		return bytes.LastIndexFunc(raw, func(r rune) bool { return r < 0x80 && (isDigit(byte(r)) || isLetter(byte(r))) })
	}
	return -1
}

// other returns a different digit if c is a digit, and a different letter if c is a letter.
func other(c byte) byte {
	switch c {
	case '9', 'z', 'Z':
		return c - 1
	}
	return c + 1
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// cut shortens a value for display.
func cut(raw []byte) string {
	const most = 120
	if runes := []rune(string(raw)); len(runes) > most {
		return "…" + string(runes[len(runes)-most:])
	}
	return string(raw)
}

// tamper returns a copy of a receipt in which one byte at the target is changed.
func tamper(source []byte, pointer string) ([]byte, target, error) {
	doc := new(canon.Document)
	if err := doc.Parse(source, canon.Limits{Bytes: receipt.MaxBytes}); err != nil {
		return nil, target{}, err
	}
	for _, t := range targets(doc) {
		if t.Pointer == pointer {
			copied := bytes.Clone(source)
			copied[t.Offset] = other(copied[t.Offset])
			return copied, t, nil
		}
	}
	return nil, target{}, fmt.Errorf("nothing at %.80q can be changed by one byte", pointer)
}
