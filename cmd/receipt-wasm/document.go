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
	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/attest"
	"github.com/receiptkit/receiptkit/receipt/headline"
	"github.com/receiptkit/receiptkit/receipt/kind"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A document is one receipt with the bytes that its hash covers.
type document struct {
	Source    []byte // its JSON text as it was received; of CBOR, the JSON it stands for
	Canonical []byte // RFC 8785; nil when the source is not strict JSON
	Preimage  []byte // the hashed bytes; nil when the source is not a JSON object
	Hash      string // sha256: and 64 hexadecimal digits, of Preimage; "" without it
	Shell     string // a command that prints the digits of Hash
	Targets   []target
	Headline  *headline.Headline // nil when the source is not a JSON object
}

// open reads the document of a source that a report is about, by the report's
// index. Nothing is judged.
func open(ctx context.Context, s stream.Source, index int) (*document, error) {
	text, err := find(ctx, s, index)
	if err != nil {
		return nil, err
	}

	// What is not strict JSON (RFC 7493) is shown as it came.
	d := &document{Source: text}
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

	one := inMemory(s.Name, found)
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

// inMemory is a source that is held in memory.
func inMemory(name string, data []byte) stream.Source {
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

// A target is a place of a receipt where one byte can be changed so that a
// receipt of the same form remains, which says something else.
type target struct {
	Pointer string `json:"pointer"` // RFC 6901
	Label   string `json:"label"`   // for a person
	Before  string `json:"before"`  // the value as it is spelled
	After   string `json:"after"`
	Offset  int    `json:"offset"` // of the byte in the source, from 0
}

// places are what people would like to change, the most telling first.
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

// targets returns the places that doc has.
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

// changeable returns the place of the last byte of a value that can be another
// one: a digit, or a letter of a string without escapes; -1 for none.
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

// other returns another digit for a digit and another letter for a letter.
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

// tamper returns a copy of a receipt's text with one byte changed at one of its
// targets.
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
